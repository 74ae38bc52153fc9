package labels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Question is a question of an instrument's kind.
type Question struct {
	crosstalk.Question
	kind crosstalk.Kind
}

// Names of questions that code reads labels of.
const (
	Reading = "reading" // the class that an answer chooses
	Codes   = "codes"   // why a pair of answers differs
)

// Labels of several questions.
const (
	cannotTell = "cannot tell"
	noClass    = "none" // the answer chooses none of the classes
)

// questions returns the questions of all instruments.
func questions() (list []Question) {
	for _, k := range instrument.Kinds() {
		list = append(list, questionsOf(k)...)
	}
	return list
}

func questionsOf(k crosstalk.Kind) []Question {
	return ordered.Map(k.Questions, func(q crosstalk.Question) Question { return Question{q, k} })
}

func questionFor(name string) (Question, error) {
	i := slices.IndexFunc(questions(), func(q Question) bool { return q.Name == name })
	if i < 0 {
		return Question{}, fmt.Errorf("unknown question %q; choose one of: %s", name, strings.Join(names(questions()), ", "))
	}
	return questions()[i], nil
}

func names(questions []Question) []string {
	return ordered.Map(questions, func(q Question) string { return q.Name })
}

func (q Question) labels() []string {
	return ordered.Map(q.Choices, func(c crosstalk.Choice) string { return c.Label })
}

func (q Question) shown() []string {
	return ordered.Map(q.Choices, func(c crosstalk.Choice) string { return cmp.Or(c.Shown, c.Label) })
}

func (q Question) value(label string) float64 {
	for _, c := range q.Choices {
		if c.Label == label {
			return float64(c.Value)
		}
	}
	return math.NaN()
}

func (q Question) paired() bool { return q.Sides[1] != "" }

// Asks returns the text of the question about a topic, with the name of a language but without the choices.
func (q Question) Asks(topic string) string {
	if !q.Words {
		return q.Text
	}
	if tag, err := language.Parse(topic); err == nil {
		topic = cmp.Or(display.English.Tags().Name(tag), topic)
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(q.Text, "the language X", topic), ": ")
	return text + "."
}

// Unit is one thing that people judge, with the instrument's findings.
type Unit struct {
	Place
	Cluster string
	Columns map[string]string // the item's labels
	Topic   string
	Given   [2]string // what the texts answer, if people should see that
	Texts   [2]string // in the order of the question's sides
	Choices []string  // the labels to choose from; nil: the question's
	Judged  []Judged  // by each similarity; only one if the instrument has no judges
	Doubt   float64   // how far the instrument is from another finding; NaN: unknown

	key   string
	near  float64  // the question's limit of Doubt
	alike []string // values of the keys of Unit.Alike
}

// Judged is an instrument's judgement of a unit.
type Judged struct {
	Judge      string // the similarity; empty: the instrument itself
	Value      float64
	Difference float64 // between the two sides, or NaN
	Finding    string
}

// Key identifies the unit in its run, as Label.Key does.
func (u Unit) Key() string { return u.key }

// Columns that units have besides those of their items and conditions.
const (
	findingColumn  = "finding"  // the instrument's finding
	disputedColumn = "disputed" // yes: similarities disagree
	doubtfulColumn = "doubtful" // yes: the instrument almost found something else
	lengthColumn   = "length"   // a line's length in characters
	itemColumn     = "item"
	sampleColumn   = "sample" // from 1
)

// column returns the value of a unit's column: one of those above, a label or a part of its condition. The finding is
// from its first judge.
func (u *Unit) column(name string) string {
	yes := func(is bool) string {
		if is {
			return "yes"
		}
		return "no"
	}
	switch {
	case name == findingColumn:
		return cmp.Or(u.Judged[0].Finding, "none")
	case name == disputedColumn:
		return yes(slices.ContainsFunc(u.Judged, func(j Judged) bool { return j.Finding != u.Judged[0].Finding }))
	case name == doubtfulColumn:
		return yes(u.Doubt <= u.near)
	case name == lengthColumn && u.Line > 0:
		return length(u.Texts[0])
	}
	if value, known := u.Columns[name]; known {
		return value
	}
	if value, known := u.Condition[name]; known {
		return value
	}
	return map[string]string{itemColumn: u.Item, sampleColumn: strconv.Itoa(u.Sample + 1)}[name]
}

// stratum returns the name of a unit's stratum: its condition, and these columns.
func (u *Unit) stratum(by []string) string {
	values := []any{u.Condition}
	for _, c := range by {
		values = append(values, u.column(c))
	}
	return string(crosstalk.Canonical(values))
}

func length(text string) string {
	n, from := utf8.RuneCountInString(text), 1
	for _, to := range []int{20, 50, 100, 200} {
		if n <= to {
			return fmt.Sprintf("%d to %d", from, to)
		}
		from = to + 1
	}
	return fmt.Sprintf("%d or more", from)
}

// compareNumbered compares texts by their leading numbers, then as texts.
func compareNumbered(a, b string) int {
	number := func(s string) int {
		n, _ := strconv.Atoi(s[:len(s)-len(strings.TrimLeft(s, "0123456789"))])
		return n
	}
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}

// labelledUnit is a unit with its labels. In all figures, people's opinion of it is the label of an adjudicator or else
// the one that most of them gave. A tie has the mean value of its labels, and no majority.
type labelledUnit struct {
	*Unit
	labels   map[string]string // by annotator
	all      []Label           // by annotator's name
	deciding []Label           // an adjudicator's, or those with the most votes
	decided  bool              // by an adjudicator
	majority string
	value    float64 // mean of the deciding labels' values; NaN if there are none
	stratum  string  // in a stratified sample
	weight   float64 // units of its stratum per labelled one
}

// labelled returns the units that have labels, in the sheet's order, and the number of labels that belong to none. by
// lists the columns of the strata.
func (s *Sheet) labelled(by []string, labels []Label) (units []labelledUnit, unmatched int) {
	given := map[int][]Label{}
	for _, l := range labels {
		if i, known := s.at[l.Key()]; known {
			given[i] = append(given[i], l)
		} else {
			unmatched++
		}
	}
	all, labelled := map[string]float64{}, map[string]float64{}
	for i := 0; i < len(s.Units) && len(by) > 0; i++ {
		name := s.Units[i].stratum(by)
		all[name]++
		if given[i] != nil {
			labelled[name]++
		}
	}
	for _, i := range slices.Sorted(maps.Keys(given)) {
		u := s.Question.said(given[i])
		u.Unit, u.weight = &s.Units[i], 1
		if len(by) > 0 {
			u.stratum = u.Unit.stratum(by)
			u.weight = all[u.stratum] / labelled[u.stratum]
		}
		units = append(units, u)
	}
	return units, unmatched
}

func (q Question) said(labels []Label) (u labelledUnit) {
	slices.SortStableFunc(labels, func(a, b Label) int { return cmp.Compare(a.Annotator, b.Annotator) })
	u.deciding = slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return !l.Decides })
	u.all, u.decided, u.labels = labels, len(u.deciding) > 0, map[string]string{}
	votes, most := map[string]int{}, 0
	for _, l := range labels {
		if !l.Decides || len(u.deciding) == len(labels) { // an adjudicator is not an annotator among others
			u.labels[l.Annotator] = l.Label
		}
		if l.Decides == u.decided && (q.Several || slices.Contains(q.labels(), l.Label)) {
			votes[l.Label]++
			most = max(most, votes[l.Label])
		}
	}
	u.deciding = slices.DeleteFunc(slices.Clone(labels), func(l Label) bool {
		return l.Decides != u.decided || votes[l.Label] < most
	})
	maps.DeleteFunc(votes, func(_ string, n int) bool { return n < most })
	u.majority = q.Undecided
	if len(votes) == 1 {
		u.majority = u.deciding[0].Label
	}
	sum, n := 0.0, 0.0
	for _, l := range u.deciding {
		if v := q.value(l.Label); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	u.value = sum / n
	return u
}

// codes splits a label, if the question allows several.
func codes(label string) []string { return strings.Split(label, "; ") }

type group struct {
	by    map[string]string
	units []labelledUnit
}

// groups groups the units by these columns, in order of first use.
func groups(units []labelledUnit, by func(labelledUnit) map[string]string) (list []group) {
	for _, g := range ordered.Groups(units, func(u labelledUnit) string { return string(crosstalk.Canonical(by(u))) }) {
		list = append(list, group{by(g[0]), g})
	}
	return list
}

func everything(labelledUnit) map[string]string { return map[string]string{} }

// apart returns the columns of a unit that no figure mixes.
func (q Question) apart(u *Unit) map[string]string {
	columns := map[string]string{}
	maps.Copy(columns, u.Condition)
	for _, c := range q.Apart {
		if value, known := u.Columns[c]; known {
			columns[c] = value
		}
	}
	return columns
}

func filter(units []labelledUnit, keep func(labelledUnit) bool) []labelledUnit {
	return slices.DeleteFunc(slices.Clone(units), func(u labelledUnit) bool { return !keep(u) })
}

func pick[T any](list []T, at []int) []T { return ordered.Map(at, func(i int) T { return list[i] }) }

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
