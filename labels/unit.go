package labels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
)

// Unit is one thing that people judge, with what the instrument says of it.
type Unit struct {
	Item      string
	Sample    int
	Variant   string
	Condition map[string]string // without the judge's column
	Cluster   string
	Columns   map[string]string // the item's labels
	Topic     string
	Texts     [2]string // in the order of the question's sides
	Judged    []Judged  // by each similarity; one where the instrument has no judges

	key string
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

// Column returns a unit's column: finding (that of its first judge), a label or
// a part of its condition.
func (u Unit) Column(name string) string {
	if name == FindingColumn {
		return cmp.Or(u.Judged[0].Finding, "none")
	}
	if value, known := u.Columns[name]; known {
		return value
	}
	return u.Condition[name]
}

// FindingColumn is the column of what an instrument found.
const FindingColumn = "finding"

// Sheet is the questions of a run.
type Sheet struct {
	Question Question
	Units    []Unit
	At       map[string]int // by key
}

// Open reads the questions of a finished run, in the order of its observations.
// What the instrument could not score is left out.
func Open(path string) (*Sheet, error) {
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	q, err := QuestionFor(manifest.Plan.Instrument)
	if err != nil {
		return nil, err
	}
	judge := instrument.Named(q.Instrument).Judge
	s := &Sheet{Question: q, At: map[string]int{}}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return nil, err
		}
		if o.Measure != q.Measure || o.NotScored != "" || !o.Value.Defined() {
			continue
		}
		condition := maps.Clone(o.Condition)
		delete(condition, judge)
		k := key(q.Instrument, o.Item, o.Sample, o.Variant, condition)
		i, known := s.At[k]
		if !known {
			i = len(s.Units)
			s.At[k] = i
			u := Unit{Item: o.Item, Sample: o.Sample, Variant: o.Variant, Condition: condition, Cluster: cmp.Or(o.Cluster, o.Item),
				Columns: o.Labels, Topic: cmp.Or(o.Text(q.Topic), o.Labels[q.Topic]), key: k}
			for side, name := range q.Sides {
				if name != "" {
					u.Texts[side] = o.Text(name)
				}
			}
			s.Units = append(s.Units, u)
		}
		j := Judged{Judge: o.Condition[judge], Value: float64(o.Value), Finding: o.Finding, Difference: math.NaN()}
		if a, known := o.Numbers[q.Sides[0]]; known {
			if b, known := o.Numbers[q.Sides[1]]; known {
				j.Difference = a - b
			}
		}
		if slices.ContainsFunc(s.Units[i].Judged, func(old Judged) bool { return old.Judge == j.Judge }) {
			return nil, fmt.Errorf("%s: item %s has two answers with sample %d; labels cannot tell them apart", path, o.Item, o.Sample)
		}
		s.Units[i].Judged = append(s.Units[i].Judged, j)
	}
	s.fillTopics()
	return s, nil
}

// fillTopics gives units without a topic that of another one of their item: an
// observation of an input that was not rewritten does not repeat it.
func (s *Sheet) fillTopics() {
	topics := map[string]string{}
	for _, u := range s.Units {
		if u.Topic != "" {
			topics[u.Item] = u.Topic
		}
	}
	for i := range s.Units {
		if u := &s.Units[i]; u.Topic == "" {
			u.Topic = topics[u.Item]
		}
	}
}

// CheckBy returns an error if no unit has one of these columns.
func (s *Sheet) CheckBy(by []string) error {
	known := map[string]bool{FindingColumn: true}
	for _, u := range s.Units {
		for c := range u.Columns {
			known[c] = true
		}
		for c := range u.Condition {
			known[c] = true
		}
	}
	for _, c := range by {
		if !known[c] {
			return fmt.Errorf("--by: unknown column %s; choose one of: %s", c, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
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
