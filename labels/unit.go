package labels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/run"
)

// Unit is one thing that people judge, with what the instrument says of it.
type Unit struct {
	Item      string
	Sample    int
	Variant   string
	Line      int               // of the answer, from 1; 0: all of it
	Condition map[string]string // without the judge's column
	Cluster   string
	Columns   map[string]string // the item's labels
	Topic     string
	Given     [2]string // what the texts answer, if people should see it
	Texts     [2]string // in the order of the question's sides
	Choices   []string  // the labels to choose from; nil: those of the question
	Judged    []Judged  // by each similarity; one where the instrument has no judges
	Doubt     float64   // how far the instrument is from finding something else; NaN: not known

	key      string
	near     float64              // of the question
	answered consistency.Answered // where Question is Reading
}

// Judged is what an instrument says of a unit.
type Judged struct {
	Judge      string // the similarity; empty: the instrument itself
	Value      float64
	Difference float64 // of the two sides, NaN where there is none
	Finding    string
}

// Key identifies the unit in its run, as Label.Key does.
func (u Unit) Key() string { return u.key }

// The columns that units have besides those of their items and conditions.
const (
	FindingColumn  = "finding"  // what the instrument found
	DisputedColumn = "disputed" // yes: similarities find different things
	DoubtfulColumn = "doubtful" // yes: the instrument nearly found something else
)

// Column returns a unit's column: finding (that of its first judge), disputed,
// doubtful, a label or a part of its condition.
func (u Unit) Column(name string) string {
	switch name {
	case FindingColumn:
		return cmp.Or(u.Judged[0].Finding, "none")
	case DisputedColumn:
		return yesNo(slices.ContainsFunc(u.Judged, func(j Judged) bool { return j.Finding != u.Judged[0].Finding }))
	case DoubtfulColumn:
		return yesNo(u.Doubt <= u.near)
	case LengthColumn:
		if u.Line > 0 {
			return length(u.Texts[0])
		}
	}
	if value, known := u.Columns[name]; known {
		return value
	}
	return u.Condition[name]
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// Sheet is the questions of one kind about a run.
type Sheet struct {
	Question Question
	Units    []Unit
	At       map[string]int // by key
	words    map[int]float64
}

// Open reads what the question of this name asks about a finished run, in the
// order of its observations; without a name, the first of its instrument's
// questions. What the instrument could not score is left out.
func Open(path, name string) (*Sheet, error) {
	if _, err := run.ReadEstimates(path); err != nil { // it is finished
		return nil, err
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	possible := QuestionsOf(manifest.Plan.Instrument)
	if len(possible) == 0 {
		return nil, fmt.Errorf("%s: there are no questions about a run of %s", path, manifest.Plan.Instrument)
	}
	i := slices.IndexFunc(possible, func(q Question) bool { return q.Name == cmp.Or(name, possible[0].Name) })
	if i < 0 {
		return nil, fmt.Errorf("unknown question %q for a run of %s; choose one of: %s", name, manifest.Plan.Instrument,
			strings.Join(names(possible), ", "))
	}
	s := &Sheet{Question: possible[i], At: map[string]int{}}
	read, done, err := s.reader(path, manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer done()
	inputs := map[string]string{} // the first given text of each item
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return nil, err
		}
		if o.Measure != s.Question.Measure {
			continue
		}
		if text := o.Text(cmp.Or(s.Question.Given[0], s.Question.Topic)); text != "" {
			inputs[o.Item] = text
		}
		for _, u := range read(o) {
			if err := s.add(u); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	s.fill(inputs)
	s.fillChoices()
	return s, nil
}

// add adds a unit with one judgement, or the judgement to the unit that is there.
func (s *Sheet) add(u Unit) error {
	u.near = s.Question.Near
	u.key = key(s.Question.Name, u.Item, u.Sample, u.Variant, u.Condition, u.Line)
	i, known := s.At[u.key]
	if !known {
		s.At[u.key] = len(s.Units)
		s.Units = append(s.Units, u)
		return nil
	}
	old := &s.Units[i]
	if slices.ContainsFunc(old.Judged, func(j Judged) bool { return j.Judge == u.Judged[0].Judge }) {
		return fmt.Errorf("item %s has two answers with sample %d; labels cannot tell them apart", u.Item, u.Sample)
	}
	old.Judged = append(old.Judged, u.Judged...)
	old.Doubt = min(old.Doubt, u.Doubt)
	return nil
}

// fill gives units what another observation of their item says: that of an
// input that was not rewritten does not repeat it.
func (s *Sheet) fill(inputs map[string]string) {
	for i := range s.Units {
		u := &s.Units[i]
		switch {
		case s.Question.Given[0] != "":
			u.Given[0] = cmp.Or(u.Given[0], inputs[u.Item])
			u.Given[1] = cmp.Or(u.Given[1], u.Given[0])
		case u.Topic == "":
			u.Topic = inputs[u.Item]
		}
	}
}

// fillChoices gives the units of a task the classes of that task, as far as
// answers have them.
func (s *Sheet) fillChoices() {
	if s.Question.Name != Reading {
		return
	}
	classes := map[string]map[string]bool{}
	for _, u := range s.Units {
		for _, c := range u.Choices {
			if classes[u.Topic] == nil {
				classes[u.Topic] = map[string]bool{}
			}
			classes[u.Topic][c] = true
		}
	}
	all := map[string]bool{}
	for i := range s.Units {
		u := &s.Units[i]
		u.Choices = append(slices.Sorted(maps.Keys(classes[u.Topic])), NoClass, CannotTell)
		maps.Copy(all, classes[u.Topic])
	}
	for _, label := range append(slices.Sorted(maps.Keys(all)), NoClass, CannotTell) {
		s.Question.Choices = append(s.Question.Choices, Choice{Label: label, Value: math.NaN()})
	}
}

// own are the labels that answer the sheet's question.
func (s *Sheet) own(labels []Label) (list []Label) {
	for _, l := range labels {
		if l.Question == s.Question.Name {
			list = append(list, l)
		}
	}
	return list
}

// CheckBy returns an error if no unit has one of these columns.
func (s *Sheet) CheckBy(by []string) error { return s.check("by", by) }

func (s *Sheet) check(option string, columns []string) error {
	known := map[string]bool{FindingColumn: true}
	for _, u := range s.Units {
		for c := range u.Columns {
			known[c] = true
		}
		for c := range u.Condition {
			known[c] = true
		}
		if u.Line > 0 {
			known[LengthColumn] = true
		}
		if len(u.Judged) > 1 {
			known[DisputedColumn] = true
		}
		if !math.IsNaN(u.Doubt) {
			known[DoubtfulColumn] = true
		}
	}
	for _, c := range columns {
		switch {
		case known[c]:
		case c == DisputedColumn:
			return crosstalk.BadOption(option, " %s: needs a run with several similarities", c)
		case c == DoubtfulColumn && s.Question.Near > 0:
			return crosstalk.BadOption(option, " %s: this run does not say how sure the instrument was; score it again", c)
		default:
			return crosstalk.BadOption(option, ": unknown column %s; choose one of: %s", c, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// stratum names the stratum of a unit: its condition, and these columns.
func (u Unit) stratum(by []string) string {
	values := []any{u.Condition}
	for _, c := range by {
		values = append(values, u.Column(c))
	}
	return string(crosstalk.Canonical(values))
}
