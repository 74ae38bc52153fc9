package leakage

import (
	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

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
