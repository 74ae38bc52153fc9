package leakage

import (
	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// By are the columns that figures are grouped by unless the user says
// otherwise.
var By = []string{"category"}

// apart are columns that never share a figure: a rate over two data sets or
// languages measures neither.
var apart = []string{DatasetColumn, LanguageColumn}

// Rules are all that figures over the same answers depend on.
type Rules struct{ Protocol }

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules { return Rules{in.Protocol} }

// estimator implements crosstalk.Estimator.
type estimator struct {
	rules  Rules
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator of the Leak-Rate of each condition, data set
// and language, and for each prefix of the columns in by (estimate.Rollup).
// Intervals and tests take the controls as clusters. Counts:
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

// sum is the pairs of answers behind one figure.
type sum struct {
	values   stats.Clusters
	items    estimate.Items
	counts   map[string]int
	distance float64 // sum of similarity differences
}

func newSum(map[string]string) *sum {
	return &sum{counts: map[string]int{Ties: 0, Identical: 0, NotScored: 0,
		string(crosstalk.Empty): 0, string(crosstalk.Refused): 0, string(crosstalk.Failed): 0}}
}

func (s *sum) add(o crosstalk.Observation, cluster string) {
	s.items.Add(o.Sample)
	if o.NotScored != "" || !o.Value.Defined() {
		switch reason := crosstalk.Status(o.NotScored); reason {
		case crosstalk.Empty, crosstalk.Refused, crosstalk.Failed:
			s.counts[string(reason)]++
		default:
			s.counts[NotScored]++
		}
		return
	}
	s.values.Add(cluster, float64(o.Value))
	s.distance += o.Numbers[Test] - o.Numbers[Control]
	if o.Value == 0.5 {
		s.counts[Ties]++
	}
	if o.Text(Test) == o.Text(Control) {
		s.counts[Identical]++
	}
}

func (s *sum) estimate(r Rules, by map[string]string, suites crosstalk.SuiteIDs) crosstalk.Estimate {
	mean := stats.Mean(&s.values, stats.Proportion, estimate.Level)
	test, method := stats.TTest(&s.values, 0.5), "t"
	if r.ClusterTest {
		test, method = stats.ClusterTTest(&s.values, 0.5), "cluster-t"
	}
	e := crosstalk.Estimate{
		Measure: Measure, N: s.items.N(), Observations: mean.N, Clusters: mean.Clusters, Counts: s.counts,
		Test: &crosstalk.Test{Method: method, Null: 0.5, Statistic: crosstalk.Value(test.Statistic),
			DF: crosstalk.Value(test.DF), P: crosstalk.Value(test.P)},
		Effect: &crosstalk.Effect{Name: "mean similarity difference", Value: crosstalk.Undefined},
		Better: crosstalk.Lower, By: by, Signature: r.signature(by, suites),
	}
	if mean.N > 0 {
		e.Effect.Value = crosstalk.Value(s.distance / float64(mean.N))
	}
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	return e
}

func (r Rules) signature(by map[string]string, suites crosstalk.SuiteIDs) string {
	fields := append([]string{Measure, "suite:" + suites.Of(by), "sim:" + by[SimilarityColumn]}, r.fields()...)
	return estimate.Signature(fields...)
}
