package leakage

import (
	"crosstalk"
	"crosstalk/measure/estimate"
)

// apart are columns whose values never share a figure: a rate over two data sets or languages measures neither.
var apart = []string{DatasetColumn, LanguageColumn}

type estimator struct {
	rules   Rules
	groups  estimate.Groups[*sum]
	counted *counted // nil: not wanted
}

// Estimator returns an estimator of each measure for each condition, data set and language, and for each prefix of
// the columns in by (estimate.Rollup). The clusters of intervals and tests are the controls. Counts:
//
//	ties        scored pairs of equal similarity
//	identical   scored pairs whose two answers are the same text
//	empty, refused, failed   pairs with such an answer
//	not_scored  pairs of text that the measure could not score
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	grouping := estimate.Grouping{By: by, Apart: apart}
	e := &estimator{rules: r, groups: estimate.Groups[*sum]{Grouping: grouping,
		New: func(map[string]string) *sum {
			return &sum{unscored: map[string]int{}, counts: countsOf(Ties, Identical)}
		},
		Describe: func(measure string, _, _, _ map[string]string) estimate.Figure {
			return estimate.Figure{By: by, Before: []int{Kind().Place(measure)}}
		}}}
	if r.Counts {
		e.counted = &counted{similarities: map[string]string{}, groups: estimate.Groups[*tally]{Grouping: grouping,
			New: func(map[string]string) *tally {
				return &tally{controls: map[uint64]*control{}, counts: countsOf()}
			}}}
	}
	return e
}

func (e *estimator) Add(o crosstalk.Observation) {
	cluster := e.groups.Clusters.Number(o.Cluster)
	for o := range Kind().WithFault(o) {
		for _, g := range e.groups.Of(o.Condition, o.Labels, o.Measure, nil) {
			g.Sum.add(o, cluster)
		}
	}
	if e.counted != nil && o.Measure == Measure {
		e.counted.add(o)
	}
}

func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	for _, g := range e.groups.Ordered() {
		estimates = append(estimates, g.Sum.estimate(g.Name, e.rules, g.Labels, suites))
	}
	if e.counted != nil {
		estimates = append(estimates, e.counted.estimates(e.rules, suites)...)
	}
	return estimates
}
