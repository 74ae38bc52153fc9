package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/labels"
	"crosstalk/run"
)

// Card shows an item with its answers.
type Card struct {
	Name     string  // of the item
	Head     string  // its topic, if known
	Expected Setting // the expected property of an answer if it is a label: language ar
	Prompts  []Setting
	Entries  []Entry // one for each answer, or for answers side by side
	Fault    bool    // an answer has what the instrument looks for
	Unscored bool    // an answer has no value
	Noted    bool    // an answer has a note or a mark
	asked    []crosstalk.Key
	sides    []string // the names of the answers in asked
	longest  int      // most bytes of a text; 0: Longest
	group    *Group
	dropped  bool // not shown in its group for lack of space
}

// Entry shows an answer, or answers side by side, with the measurements.
type Entry struct {
	Sample  int
	Variant string // the way in which the item was asked, if there are several
	Sides   []Side
	Again   bool // its sides have the same names as the previous entry
	Facts   []Fact
	Notes   []labels.Note // of readers

	Thoughts []Setting // of the model before the answers, if known; shown folded

	texts []crosstalk.NamedText
	spans []crosstalk.Span
	sides []string        // names of the answers
	asked []crosstalk.Key // the answers of sides
}

// Side is a text.
type Side struct {
	Name   string
	Pieces []Piece
	Given  bool // part of the question
}

// Rows returns the texts that stand side by side: the given ones, and the answers.
func (e Entry) Rows() (rows [][]Side) {
	for i, s := range e.Sides {
		if i == 0 || !s.Given && e.Sides[i-1].Given {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
	}
	return rows
}

// Fact describes a measurement.
type Fact struct {
	Text  string
	Fault bool
}

// add adds an observation to the card, with any note on its answer.
func (c *Card) add(o crosstalk.Observation, note labels.Note) {
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Sample == o.Sample && e.Variant == o.Variant })
	if i < 0 {
		i = len(c.Entries)
		c.Entries = append(c.Entries, Entry{Sample: o.Sample, Variant: o.Variant})
	}
	e := &c.Entries[i]
	e.texts = ordered.Merge(e.texts, o.Texts, func(t crosstalk.NamedText) string { return t.Name })
	e.spans = append(append(e.spans, o.Spans...), o.Masked...)
	e.ask(o)
	c.ask(o)
	kind := instrument.Of(o.Measure)
	if v := o.Labels[kind.Target]; v != "" {
		c.Expected = Setting{"expected " + crosstalk.Words(kind.Target), brief(v)}
	}
	if fact := factOf(kind, o); fact.Text != "" && !slices.Contains(e.Facts, fact) {
		e.Facts = append(e.Facts, fact)
	}
	c.Fault = c.Fault || o.Finding != "" && kind.Finding(o.Finding).Fault
	c.Unscored = c.Unscored || o.NotScored != "" && !o.Implied
	if note.Empty() {
		return
	}
	c.Noted = true
	if !slices.ContainsFunc(e.Notes, func(n labels.Note) bool { return n.Key() == note.Key() }) {
		e.Notes = append(e.Notes, note)
	}
}

// ask records the keys of the entry's answers.
func (e *Entry) ask(o crosstalk.Observation) {
	n := 0
	for _, t := range o.Texts {
		if t.Role != crosstalk.Side || n == len(o.Answers) {
			continue
		}
		if !slices.Contains(e.sides, t.Name) {
			e.sides, e.asked = append(e.sides, t.Name), append(e.asked, o.Answers[n])
		}
		n++
	}
}

// thoughtRoom returns the approximate number of bytes of the thoughts on a page.
func (c *Card) thoughtRoom() (n int) {
	for _, e := range c.Entries {
		for _, thought := range e.Thoughts {
			n += 120 + len(thought.Name) + escaped(thought.Value)
		}
	}
	return n
}

// ask records the keys of the card's first answers.
func (c *Card) ask(o crosstalk.Observation) {
	if c.sides != nil {
		return
	}
	for _, t := range o.Texts {
		if t.Role == crosstalk.Side {
			c.sides = append(c.sides, t.Name)
		}
	}
	if c.sides != nil || c.asked == nil {
		c.asked = o.Answers
	}
}

// factOf describes an observation's finding; it is empty if not worth mentioning.
func factOf(kind crosstalk.Kind, o crosstalk.Observation) Fact {
	switch {
	case o.Implied:
		return Fact{}
	case o.NotScored != "":
		return Fact{Text: "not scored: " + brief(crosstalk.Words(o.NotScored))}
	case o.Finding == "":
		return Fact{}
	}
	found := kind.Finding(o.Finding)
	text := FindingName(found)
	if judge := o.Condition[kind.Judge]; judge != "" {
		text = judge + ": " + text
	}
	var numbers []string
	for _, name := range kind.Measure(o.Measure).Numbers {
		if x, ok := o.Numbers[name]; ok {
			numbers = append(numbers, crosstalk.Words(name)+" "+strconv.FormatFloat(x, 'f', 3, 64))
		}
	}
	if numbers != nil {
		text += " (" + strings.Join(numbers, ", ") + ")"
	}
	return Fact{Text: brief(text), Fault: found.Fault}
}

// FindingName returns the name of a finding in filters, with its meaning.
func FindingName(f crosstalk.Finding) string {
	if len(f.Titles) == 0 || strings.Contains(f.Says(), f.Titles[len(f.Titles)-1]) {
		return f.Says()
	}
	return f.Titles[len(f.Titles)-1] + ": " + f.Sentence
}

// finish turns the collected texts into sides.
func (c *Card) finish() {
	var given []crosstalk.NamedText // already shown
	for i := range c.Entries {
		e := &c.Entries[i]
		topic, last := "", ""
		for _, t := range e.texts {
			switch t.Role {
			case crosstalk.Topic:
				topic = t.Text
				c.Head = brief(topic)
			case crosstalk.Side:
				last = t.Name
			}
		}
		var facts []string
		for _, t := range e.texts {
			switch {
			case t.Role == crosstalk.Fact:
				facts = append(facts, crosstalk.Words(t.Name)+" "+brief(t.Text))
			case t.Role == crosstalk.Given && !slices.Contains(given, t):
				given = append(given, t)
				e.Sides = append(e.Sides, Side{crosstalk.Words(t.Name), marked(t.Text, nil, c.longest), true})
			case t.Role == crosstalk.Side:
				elsewhere := func(s crosstalk.Span) bool { return cmp.Or(s.Side, last) != t.Name }
				pieces := marked(t.Text, slices.DeleteFunc(slices.Clone(e.spans), elsewhere), c.longest)
				e.Sides = append(e.Sides, Side{crosstalk.Words(t.Name), echoesIn(pieces, topic), false})
			}
		}
		slices.SortStableFunc(e.Sides, func(a, b Side) int { return one(!a.Given) - one(!b.Given) })
		if i > 0 {
			e.Again = slices.EqualFunc(e.Sides, c.Entries[i-1].Sides, func(a, b Side) bool { return a.Name == b.Name })
		}
		if facts != nil {
			e.Facts = append(e.Facts, Fact{Text: strings.Join(facts, ", ")})
		}
		if e.Variant != "" {
			e.Facts = append([]Fact{{Text: brief(e.Variant)}}, e.Facts...)
		}
		e.texts, e.spans = nil, nil
	}
}

// size returns the approximate number of bytes of the card on a page.
func (c *Card) size() int {
	n := 50 + len(c.Name) + 150*min(len(c.asked), 2)
	for _, e := range c.Entries {
		texts := 0
		for _, t := range e.texts {
			if t.Role == crosstalk.Side || t.Role == crosstalk.Given {
				text := t.Text[:min(len(t.Text), Longest)]
				n += 20 + escaped(text)
				texts++
			}
		}
		if texts > 1 {
			n += 60 * texts
		}
		if len(e.Facts) > 0 {
			n += 25
		}
		for _, f := range e.Facts {
			n += 25 + len(f.Text)
		}
		for _, note := range e.Notes {
			n += 120 + escaped(note.Text)
		}
		n += 50 * len(e.spans)
	}
	return n
}

// escaped returns the approximate number of bytes of a text in HTML.
func escaped(text string) int {
	n := len(text)
	for _, special := range []string{"<", ">", "&", `"`, "'"} {
		n += 4 * strings.Count(text, special)
	}
	return n
}

// NewCard returns a card with the observations of one answer, or of answers side by side, and up to longest bytes of
// each text. asked is Answers.Asked.
func NewCard(observations []crosstalk.Observation, longest int,
	asked func(crosstalk.Key) (run.Record, bool)) *Card {
	c := &Card{longest: longest}
	for _, o := range observations {
		c.Name = brief(o.Item)
		c.add(o, labels.Note{})
	}
	(&Answers{Asked: asked}).ask(c)
	c.finish()
	return c
}
