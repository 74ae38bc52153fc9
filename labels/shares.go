package labels

import (
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// The columns of Shares.
const (
	JudgeColumn = "judge" // People, a similarity, or Instrument
	LabelColumn = "label"
)

// Judges that are no similarity.
const (
	People     = "people"
	Instrument = "instrument"
)

// Shares are the shares of each label in each setting (a condition, with the
// columns that never share a figure): as people say, weighted as in Compare, and
// as the instrument finds in all answers, in the same terms.
func (s *Sheet) Shares(d Design, given []Label) (shares []crosstalk.Estimate) {
	c := comparison{q: s.Question}
	c.units, _ = s.judged(d.By(), s.own(given))
	if len(c.units) == 0 {
		return nil
	}
	c.names = labelNames(s.Question, c.units)
	c.people()
	for _, f := range c.result.Figures {
		if f.Measure == Share {
			shares = append(shares, share(f.By, People, f.Of, f.N, float64(f.Value), f.Interval))
		}
	}
	type judged struct {
		by     map[string]string
		judge  string
		labels map[string]*stats.Clusters
	}
	var all []judged
	var clusters stats.ClusterNames
	at := map[string]int{}
	for i := range s.Units {
		u := &s.Units[i]
		by := s.Question.apart(u)
		for _, j := range u.Judged {
			name := j.Judge
			if name == "" {
				name = Instrument
			}
			id := string(crosstalk.Canonical([]any{by, name}))
			k, known := at[id]
			if !known {
				k = len(all)
				at[id] = k
				all = append(all, judged{by, name, map[string]*stats.Clusters{}})
				for _, l := range c.names {
					all[k].labels[l] = &stats.Clusters{}
				}
			}
			says := s.Question.says(j)
			for l, values := range all[k].labels {
				if l == says {
					values.Add(clusters.Number(u.Cluster), 1)
				} else {
					values.Add(clusters.Number(u.Cluster), 0)
				}
			}
		}
	}
	for _, j := range all {
		for _, l := range c.names {
			e := stats.Mean(j.labels[l], stats.Proportion, estimate.Level)
			shares = append(shares, share(j.by, j.judge, l, e.N, e.Value, e.Interval.Known()))
		}
	}
	return shares
}

// share is the estimate of a label's share.
func share(setting map[string]string, judge, label string, n int, value float64, interval *crosstalk.Interval) crosstalk.Estimate {
	by := maps.Clone(setting)
	by[JudgeColumn], by[LabelColumn] = judge, label
	return crosstalk.Estimate{Measure: Share, By: by, N: n, Value: crosstalk.Value(value), Interval: interval}
}

// Said is what one person says of a pair of answers, as a value of the measure:
// what plots draw beside the values of similarities.
type Said struct {
	crosstalk.Observation
	Weight float64 // the weights of all are as many as labels
}

// Said returns the labels of a run as observations.
func (s *Sheet) Said(d Design, given []Label) (list []Said) {
	units, _ := s.judged(d.By(), s.own(given))
	sum := 0.0
	for _, u := range units {
		for _, a := range slices.Sorted(maps.Keys(u.labels)) {
			weight := u.weight / float64(len(u.labels))
			sum += weight
			list = append(list, Said{crosstalk.Observation{Measure: s.Question.Measure, Item: u.Item, Sample: u.Sample, Condition: u.Condition,
				Labels: u.Columns, Value: crosstalk.Value(s.Question.value(u.labels[a]))}, weight})
		}
	}
	for i := range list {
		list[i].Weight *= float64(len(list)) / sum
	}
	return list
}
