package labels

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"crosstalk/instrument/confusion"
)

// Blind is a sheet whose questions are known by the ids that annotators see.
type Blind struct {
	*Sheet
	ids map[string]side
}

// side is a unit, and whether its sides were exchanged.
type side struct {
	unit    int
	swapped bool
}

// Blind returns the sheet with its ids.
func (s *Sheet) Blind(d Design) Blind {
	b := Blind{s, make(map[string]side, 2*len(s.Units))}
	for i, u := range s.Units {
		b.ids[d.id(u.key, false)] = side{i, false}
		if s.Question.paired() {
			b.ids[d.id(u.key, true)] = side{i, true}
		}
	}
	return b
}

// side returns the unit and the sides of an id. On sheets of an earlier version the letter
// is missing, and leading zeros too if a spreadsheet took the id for a number.
func (b Blind) side(id string) (at side, known bool) {
	if at, known = b.ids[id]; !known && len(id) <= idDigits {
		at, known = b.ids[idLetter+strings.Repeat("0", idDigits-len(id))+id]
	}
	return at, known
}

// Unit returns the unit of an id.
func (b Blind) Unit(id string) (*Unit, bool) {
	at, known := b.side(id)
	if !known {
		return nil, false
	}
	return &b.Units[at.unit], true
}

// Answer is an annotator's answer to a question as it was shown.
type Answer struct {
	ID        string
	Shown     string // the choice as shown: "A"; case does not matter
	Annotator string
	When      time.Time
	Seconds   float64 // that it took; 0: not known
	Comment   string
	Words     [][2]int // marked in the text: bytes, [start, end) each, in any order
}

// Label un-blinds an answer. Unknown ids and choices, and marked words that the text
// does not have, are errors.
func (b Blind) Label(a Answer) (Label, error) {
	at, known := b.side(a.ID)
	if !known {
		return Label{}, fmt.Errorf("unknown id %s", a.ID)
	}
	u := &b.Units[at.unit]
	label, err := b.unblind(u, a.Shown, at.swapped)
	if err != nil {
		return Label{}, err
	}
	words, err := b.marked(u, a.Words)
	return Label{Question: b.Question.Name, Item: u.Item, Sample: u.Sample, Variant: u.Variant, Line: u.Line,
		Condition: u.Condition, Annotator: a.Annotator, Label: label, Words: words, When: a.When.UTC(),
		Seconds: a.Seconds, Comment: a.Comment}, err
}

// unblind returns the label of a choice.
func (b Blind) unblind(u *Unit, shown string, swapped bool) (string, error) {
	q := b.Question
	if q.Several {
		return listed(shown)
	}
	choices := u.Choices
	if choices == nil {
		choices = q.shown()
	}
	i := slices.IndexFunc(choices, func(choice string) bool { return strings.EqualFold(choice, shown) })
	switch {
	case i < 0:
		return "", unknownLabel(shown, choices)
	case u.Choices != nil:
		return u.Choices[i], nil
	case swapped && q.Choices[i].Shown != "":
		i = 1 - i // A and B come first
	}
	return q.Choices[i].Label, nil
}

// listed is a list of labels in its usual form: "a; b", in alphabetical order,
// each once.
func listed(text string) (string, error) {
	var list []string
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			list = append(list, part)
		}
	}
	if len(list) == 0 {
		return "", errors.New("no label; expected words, several separated by semicolons")
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "; "), nil
}

// Words are the words of a unit that people can mark, by their places in its
// first text.
func (b Blind) Words(u *Unit) (words []Word) {
	if !b.Question.Words {
		return nil
	}
	for _, w := range confusion.Words(u.Topic, u.Texts[0]) {
		words = append(words, Word{w.Start, w.End, u.Texts[0][w.Start:w.End]})
	}
	return words
}

// marked returns the words at these places, in the order of the text.
func (b Blind) marked(u *Unit, places [][2]int) (marked []Word, err error) {
	if len(places) == 0 {
		return nil, nil
	}
	for _, w := range b.Words(u) {
		if slices.Contains(places, [2]int{w.Start, w.End}) {
			marked = append(marked, w)
		}
	}
	if len(marked) != len(places) {
		return nil, errors.New("marked words are not words of the text")
	}
	return marked, nil
}
