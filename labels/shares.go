package labels

import (
	"cmp"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// The columns of Opinion.Shares.
const (
	JudgeColumn = "judge" // People, a similarity, or the instrument
	LabelColumn = "label"
)

// Judges that are no similarity.
const (
	People   = "people"
	ownJudge = "instrument"
)

// Opinion is people's labels for one question, as plots draw them.
type Opinion struct {
	Question Question
	Said     []Said
	// Shares are the shares of each label in each setting (a condition, with the
	// columns that never share a figure): of people, weighted as in AgreementOf, and
	// of the instrument in all answers, in the same terms.
	Shares []crosstalk.Estimate
}

// Said is one person's label as an observation of the question's measure: what plots
// draw beside the values of similarities.
type Said struct {
	crosstalk.Observation
	Weight float64 // the weights of all add up to the number of labels
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
			list = append(list, Opinion{s.Question, s.said(design, given), s.shares(design, given)})
		}
	}
	return list, err
}

func (s *Sheet) shares(d Design, given []Label) (shares []crosstalk.Estimate) {
	c := comparison{q: s.Question}
	c.units, _ = s.labelled(d.strata(), s.own(given))
	if len(c.units) == 0 {
		return nil
	}
	c.names = labelNames(s.Question, c.units)
	add := func(setting map[string]string, judge, label string, n int, value crosstalk.Value, i *crosstalk.Interval) {
		by := maps.Clone(setting)
		by[JudgeColumn], by[LabelColumn] = judge, label
		shares = append(shares, crosstalk.Estimate{Measure: Share, By: by, N: n, Value: value, Interval: i})
	}
	c.people()
	for _, f := range c.result.Figures {
		if f.Measure == Share {
			add(f.By, People, f.Of, f.N, f.Value, f.Interval)
		}
	}
	var names stats.ClusterNames
	type found struct { // by a judge in a setting
		judgement
		labels []stats.Clusters // in the order of c.names
	}
	var all []*found
	at := map[string]*found{}
	for j := range s.judgements() {
		id := string(crosstalk.Canonical([]any{j.apart, j.by.Judge}))
		f := at[id]
		if f == nil {
			f = &found{j, make([]stats.Clusters, len(c.names))}
			at[id] = f
			all = append(all, f)
		}
		label := s.Question.labelOf(j.by)
		for i, name := range c.names {
			value := 0.0
			if name == label {
				value = 1
			}
			f.labels[i].Add(names.Number(j.Cluster), value)
		}
	}
	for _, f := range all {
		for i, name := range c.names {
			e := stats.Mean(&f.labels[i], stats.Proportion, estimate.Level)
			add(f.apart, cmp.Or(f.by.Judge, ownJudge), name, e.N, crosstalk.Value(e.Value), e.Interval.Known())
		}
	}
	return shares
}

// said returns the labels of a run as observations.
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
