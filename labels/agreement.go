package labels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/run"
)

// Kappa, alpha and tau-b are at most 1, and 0 for agreement as if by chance. The others are shares.
const (
	Rate         = "rate"           // mean value of the labels: for leakage the human Leak-Rate
	Share        = "share"          // share of a label, or of a code
	TauB         = "tau-b"          // Kendall's
	CohensKappa  = "kappa"          // Cohen's, of two annotators, or of the instrument and the majority
	Alpha        = "alpha"          // Krippendorff's, nominal, of all annotators
	Sensitivity  = "sensitivity"    // share found of what the majority of people finds
	Specificity  = "specificity"    // share not found of what the majority of people does not find
	SameFindings = "same judgement" // share where the majority agrees: found by both or by neither; or the same class
)

// Agreement compares people's labels of a run with each other and with the instrument.
type Agreement struct {
	Question      string         `json:"question"`
	Labels        int            `json:"labels"`
	Questions     int            `json:"questions"` // questions with a label
	Units         int            `json:"units"`     // units that people could be asked about
	Annotators    []string       `json:"annotators"`
	Weighted      []string       `json:"weighted_by,omitempty"` // columns of the sample's strata
	Slack         float64        `json:"slack"`
	Figures       []Figure       `json:"figures"`
	Curves        []Curve        `json:"curves"`
	Cells         []Cell         `json:"cells"`
	Disagreements []Disagreement `json:"disagreements"`
	Unmatched     int            `json:"unmatched,omitempty"`   // labels of answers that the run lacks
	Adjudicated   int            `json:"adjudicated,omitempty"` // questions that a third person decided

	ByDefault []string `json:"-"` // the columns of groups if chosen by default, else nil
}

// Figure is a figure of an agreement.
type Figure struct {
	Measure  string              `json:"measure"`
	Of       string              `json:"of"` // a label, an annotator, two of them, a similarity, or "people"
	By       map[string]string   `json:"by"` // the condition, or a column; empty: everything
	Value    crosstalk.Value     `json:"value"`
	Interval *crosstalk.Interval `json:"interval"`
	N        int                 `json:"n"` // questions
}

// Cell counts questions by the majority of people and by the instrument's finding.
type Cell struct {
	Judge  string            `json:"judge,omitempty"`
	By     map[string]string `json:"by"`
	People string            `json:"people"`
	Found  string            `json:"found"`
	N      int               `json:"n"`
}

// Curve is tau-b of a judge and people at several slacks.
type Curve struct {
	Judge  string            `json:"judge"`
	By     map[string]string `json:"by"`
	N      int               `json:"n"` // questions
	Points []Point           `json:"points"`
}

// Point is a point of a Curve.
type Point struct {
	Slack float64         `json:"slack"`
	Tau   crosstalk.Value `json:"tau_b"`
}

// Disagreement is a question on which people and an instrument disagree.
type Disagreement struct {
	Judge string `json:"judge,omitempty"`
	Place
	Link       string          `json:"link,omitempty"` // to the item's answers, relative to a server's address
	People     []string        `json:"people"`         // labels, by annotator
	Found      string          `json:"found"`
	Difference crosstalk.Value `json:"difference"` // between the two similarities
	Topic      string          `json:"topic"`
	Texts      []string        `json:"texts"`
	Gap        float64         `json:"gap"` // between the values from people and from the instrument
}

// Options are the settings of AgreementOf.
type Options struct {
	By    []string                 // columns; all figures are also computed for each of their values
	Worst int                      // number of disagreements to list for each judge
	Link  func(item string) string // returns a link to an item's answers; nil: none
	Draws int                      // bootstrap draws; 0: 2,000
	Seed  uint64
}

// AgreementOf compares the labels of a finished run that answer a question, by default the first of its instrument,
// with each other and with the instrument. If By is nil, figures are grouped by the columns of the last scoring and the
// length of lines, if the questions have them.
//
// If the sample was stratified, shares, rates, sensitivity and specificity are weighted to describe the whole run.
// Intervals have a level of 95 %: stats.Mean for means, a percentile bootstrap over clusters for the rest.
func AgreementOf(path, question string, o Options) (Agreement, error) {
	sheet, err := Open(path, question)
	if err != nil {
		return Agreement{}, err
	}
	labels, design, err := given(path)
	if err != nil {
		return Agreement{}, err
	}
	var byDefault []string
	if o.By == nil {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return Agreement{}, err
		}
		byDefault = []string{}
		if len(manifest.Scoring) > 0 {
			byDefault = slices.DeleteFunc(append(slices.Clone(manifest.Scoring[0].By), lengthColumn),
				func(column string) bool { return sheet.check("by", []string{column}) != nil })
		}
		o.By = byDefault
	}
	a, err := sheet.compare(design, labels, o)
	if err != nil {
		return a, err
	}
	a.ByDefault = byDefault
	if a.Questions == 0 {
		return a, fmt.Errorf("%s: none of its %d labels answers the question %s about an answer that was scored",
			path, len(labels), a.Question)
	}
	return a, nil
}

func (s *Sheet) compare(d Design, labels []Label, o Options) (Agreement, error) {
	if err := s.check("by", o.By); err != nil {
		return Agreement{}, err
	}
	labels = s.own(labels)
	units, unmatched := s.labelled(d.strata(), labels)
	c := comparison{q: s.Question, o: o, units: units, names: labelNames(s.Question, units)}
	c.result = Agreement{Question: s.Question.Name, Labels: len(labels) - unmatched, Questions: len(units),
		Units: len(s.Units), Annotators: annotators(units), Weighted: d.strata(), Slack: slack, Curves: []Curve{},
		Cells: []Cell{}, Disagreements: []Disagreement{}, Unmatched: unmatched}
	for _, u := range units {
		if u.decided {
			c.result.Adjudicated++
		}
	}
	if len(units) > 0 {
		c.people()
		c.annotators()
		c.judges()
	}
	return c.result, nil
}

func annotators(units []labelledUnit) []string {
	labels := map[string]string{}
	for _, u := range units {
		maps.Copy(labels, u.labels)
	}
	return slices.Sorted(maps.Keys(labels))
}

// labelNames returns the labels that have figures: the question's or, if any words are a label, each label given.
func labelNames(q Question, units []labelledUnit) []string {
	if !q.Several {
		return q.labels()
	}
	given := map[string]bool{}
	for _, u := range units {
		for _, l := range u.labels {
			for _, code := range codes(l) {
				given[code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(given))
}

// The columns of Opinion.Shares.
const (
	JudgeColumn = "judge" // People, a similarity, or the instrument
	LabelColumn = "label"
)

// Judges other than similarities.
const (
	People   = "people"
	ownJudge = "instrument"
)

// Opinion contains people's labels for one question, as plots draw them.
type Opinion struct {
	Question crosstalk.Question
	Said     []Said
	// Shares are the shares of each label in each setting (a condition, with the columns that never share a figure): from
	// people, weighted as in AgreementOf, and from the instrument over all answers, in the same terms.
	Shares []crosstalk.Estimate
}

// Said is a person's label as an observation of the question's measure, for plots beside similarities.
type Said struct {
	crosstalk.Observation
	Weight float64 // all weights add up to the number of labels
}

// Opinions returns people's labels of a run by question, none if it has no labels.
func Opinions(path string) (list []Opinion, err error) {
	given, err := Read(path)
	if err != nil || len(given) == 0 {
		return nil, err
	}
	design, err := ReadDesign(path)
	if err != nil {
		return nil, err
	}
	sheets, err := answered(path, given, func(q Question) bool { return !q.Several })
	for _, s := range sheets {
		if s != nil {
			list = append(list, Opinion{s.Question.Question, s.said(design, given), s.shares(design, given)})
		}
	}
	return list, err
}

func (s *Sheet) shares(d Design, given []Label) (shares []crosstalk.Estimate) {
	people, _ := s.labelled(d.strata(), s.own(given))
	if len(people) == 0 {
		return nil
	}
	names := labelNames(s.Question, people)
	add := func(judge string, units []labelledUnit) {
		c := comparison{q: s.Question, units: units, names: names}
		c.people()
		for _, f := range c.result.Figures {
			if f.Measure != Share {
				continue
			}
			by := maps.Clone(f.By)
			by[JudgeColumn], by[LabelColumn] = judge, f.Of
			shares = append(shares, crosstalk.Estimate{Measure: Share, By: by, N: f.N, Value: f.Value, Interval: f.Interval})
		}
	}
	add(People, people)
	judgements := slices.Collect(s.judgements())
	for _, of := range ordered.Groups(judgements, func(j judgement) string { return j.by.Judge }) {
		var units []labelledUnit
		for _, j := range of {
			label := map[string]string{"": s.Question.labelOf(j.by)}
			units = append(units, labelledUnit{Unit: j.Unit, labels: label, value: math.NaN(), weight: 1})
		}
		add(cmp.Or(of[0].by.Judge, ownJudge), units)
	}
	return shares
}

func (s *Sheet) said(d Design, given []Label) (list []Said) {
	units, _ := s.labelled(d.strata(), s.own(given))
	sum := 0.0
	for _, u := range units {
		for _, a := range slices.Sorted(maps.Keys(u.labels)) {
			weight := u.weight / float64(len(u.labels))
			sum += weight
			list = append(list, Said{crosstalk.Observation{Measure: s.Question.Measure, Item: u.Item, Sample: u.Sample,
				Condition: u.Condition, Labels: u.Columns, Value: crosstalk.Value(s.Question.value(u.labels[a]))}, weight})
		}
	}
	for i := range list {
		list[i].Weight *= float64(len(list)) / sum
	}
	return list
}
