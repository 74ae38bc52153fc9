package leakage

import (
	"crosstalk"
	"crosstalk/measure/estimate"
)

// apart are columns whose values never share a figure: a rate over two data sets
// or languages measures neither.
var apart = []string{DatasetColumn, LanguageColumn}

// estimator implements crosstalk.Estimator.
type estimator struct {
	rules  Rules
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator of the Leak-Rate for each condition, data set and
// language, and for each prefix of the columns in by (estimate.Rollup). The
// clusters of intervals and tests are the controls. Counts:
//
//	ties        scored pairs of equal similarity
//	identical   scored pairs whose two answers are the same text
//	empty, refused, failed   pairs with such an answer
//	not_scored  pairs of text that the measure could not score
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	return &estimator{r, estimate.Groups[*sum]{Grouping: estimate.Grouping{By: by, Apart: apart}, New: newSum}}
}

// Add implements crosstalk.Estimator.
func (e *estimator) Add(o crosstalk.Observation) {
	cluster := e.groups.Cluster(o.Cluster)
	for _, g := range e.groups.Of(o.Condition, o.Labels, Measure, nil) {
		g.Sum.add(o, cluster)
	}
}

// Estimates implements crosstalk.Estimator.
func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	for _, g := range e.groups.Ordered() {
		estimates = append(estimates, g.Sum.estimate(e.rules, g.Labels, suites))
	}
	return estimates
}
