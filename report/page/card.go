package page

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
)

// Card is an item with its answers.
type Card struct {
	Name     string // the item's
	Head     string // what it is about, if that is said
	Prompts  []Setting
	Entries  []Entry // a sample each
	Fault    bool    // something was found in an answer
	Unscored bool    // an answer has no value
	asked    []crosstalk.Key
	longest  int // bytes of a text that are shown; 0: Longest
}

// Entry is an answer, or answers side by side, and what was measured.
type Entry struct {
	Sample int
	Place  string // the pair and part of the senses
	Sides  []Side
	Again  bool // its sides have the names of the entry before
	Facts  []Fact
	texts  map[string]string
	spans  []crosstalk.Span
}

// Side is a text.
type Side struct {
	Name   string
	Pieces []Piece
}

// Fact is something measured, in words.
type Fact struct {
	Text  string
	Fault bool
}

// add takes an observation into the card.
func (c *Card) add(o crosstalk.Observation) {
	place := strings.TrimSpace(o.Labels["pair"] + " " + o.Labels["part"])
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Sample == o.Sample && e.Place == place })
	if i < 0 {
		i = len(c.Entries)
		c.Entries = append(c.Entries, Entry{Sample: o.Sample, Place: place})
	}
	e := &c.Entries[i]
	e.texts = joined(e.texts, o.Texts)
	e.spans = append(e.spans, o.Spans...)
	if fact := factOf(o); fact.Text != "" && !slices.Contains(e.Facts, fact) {
		e.Facts = append(e.Facts, fact)
	}
	c.Fault = c.Fault || isFault(o)
	c.Unscored = c.Unscored || o.NotScored != "" && o.NotScored != notLooked
}

// joined are the texts of both; it changes neither.
func joined(a, b map[string]string) map[string]string {
	if len(a) == 0 || len(b) == 0 {
		if len(a) == 0 {
			return b
		}
		return a
	}
	both := maps.Clone(b)
	maps.Copy(both, a)
	return both
}

// notLooked is why an observation has no value when another of the same answer
// says all: it is no gap.
const notLooked = "line error"

// isFault reports whether an observation is one of what the run is looking for:
// something found, or a test answer nearer to its concept.
func isFault(o crosstalk.Observation) bool {
	_, compared := o.Numbers["control"]
	return o.Finding != "" || compared && o.Value == 1
}

// factOf says in words what an observation found; nothing if that is not worth
// a word.
func factOf(o crosstalk.Observation) Fact {
	test, compared := o.Numbers["test"]
	switch {
	case o.NotScored == notLooked:
		return Fact{}
	case o.NotScored != "":
		return Fact{Text: "not scored: " + brief(strings.ReplaceAll(o.NotScored, "_", " "))}
	case o.Finding != "":
		return Fact{Text: brief(o.Finding), Fault: true}
	case compared:
		nearer := map[float64]string{1: "the test answer is nearer", 0.5: "a tie", 0: "the control answer is nearer"}[float64(o.Value)]
		return Fact{Text: fmt.Sprintf("%s: %s, %s to %s", o.Condition["similarity"], nearer, similarity(test), similarity(o.Numbers["control"])), Fault: o.Value == 1}
	}
	return Fact{}
}

func similarity(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// sides are the texts that are set side by side, in this order; the others are
// facts.
var sides = []string{"test", "control", "source_input", "input", "source", "answer"}

// finish makes the sides of what was gathered.
func (c *Card) finish() {
	shown := map[string]bool{} // inputs are shown once
	for i := range c.Entries {
		e := &c.Entries[i]
		for _, name := range sides {
			text, ok := e.texts[name]
			if !ok || strings.HasSuffix(name, "input") && shown[text] {
				continue
			}
			shown[text] = true
			side := Side{Name: strings.ReplaceAll(name, "_", " ")}
			switch concept := e.texts["concept"]; {
			case concept != "":
				c.Head, side.Pieces = brief(concept), echoesIn(text, concept, c.longest)
			case name == "answer":
				side.Pieces = marked(text, e.spans, c.longest)
			default:
				side.Pieces = marked(text, nil, c.longest)
			}
			e.Sides = append(e.Sides, side)
		}
		if i > 0 {
			e.Again = slices.EqualFunc(e.Sides, c.Entries[i-1].Sides, func(a, b Side) bool { return a.Name == b.Name })
		}
		var rest []string
		for _, name := range []string{"source_class", "class", "gold", "rule", "flags"} {
			if v := e.texts[name]; v != "" {
				rest = append(rest, strings.ReplaceAll(name, "_", " ")+" "+brief(v))
			}
		}
		if rest != nil {
			e.Facts = append(e.Facts, Fact{Text: strings.Join(rest, ", ")})
		}
		if e.Place != "" {
			e.Facts = append([]Fact{{Text: e.Place}}, e.Facts...)
		}
		e.texts, e.spans = nil, nil
	}
}

// size is about how many bytes the card takes in a page.
func (c *Card) size() int {
	n := 50 + len(c.Name) + 150*min(len(c.asked), 2)
	for _, e := range c.Entries {
		texts := 0
		for _, name := range sides {
			if text, ok := e.texts[name]; ok {
				text = text[:min(len(text), Longest)]
				n += 20 + len(text) + 4*strings.Count(text, "<") + 4*strings.Count(text, ">") + 4*strings.Count(text, "&") + 4*strings.Count(text, `"`) + 4*strings.Count(text, "'")
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
		n += 50 * len(e.spans)
	}
	return n
}
