package leakage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// sum is the pairs of answers behind one figure.
type sum struct {
	values   stats.Clusters
	items    estimate.Items
	counts   map[string]int
	unscored map[string]int // NotScored of counts, by reason
	distance float64        // sum of similarity differences
}

func newSum(map[string]string) *sum {
	return &sum{unscored: map[string]int{}, counts: map[string]int{Ties: 0, Identical: 0, NotScored: 0,
		string(crosstalk.Empty): 0, string(crosstalk.Refused): 0, string(crosstalk.Failed): 0}}
}

func (s *sum) add(o crosstalk.Observation, cluster stats.Cluster) {
	if o.NotScored != "" || !o.Value.Defined() {
		switch reason := crosstalk.Status(o.NotScored); reason {
		case crosstalk.Empty, crosstalk.Refused, crosstalk.Failed:
			s.counts[string(reason)]++
		default:
			s.counts[NotScored]++
			s.unscored[o.NotScored]++
		}
		return
	}
	s.items.Add(o.Sample)
	s.values.Add(cluster, float64(o.Value))
	s.distance += o.Numbers[Test] - o.Numbers[Control]
	if o.Value == 0.5 {
		s.counts[Ties]++
	}
	if o.Text(Test) == o.Text(Control) {
		s.counts[Identical]++
	}
}

func (s *sum) estimate(measure string, r Rules, by map[string]string, suites crosstalk.SuiteIDs) crosstalk.Estimate {
	if slices.Contains(copies, measure) {
		return s.copying(measure, r, by, suites)
	}
	mean := stats.Mean(&s.values, stats.Proportion, estimate.Level)
	test, method := stats.TTest(&s.values, 0.5), "t"
	if r.ClusterTest {
		test, method = stats.ClusterTTest(&s.values, 0.5), "cluster-t"
	}
	e := crosstalk.Estimate{
		Measure: measure, N: s.items.N(), Observations: mean.N, Clusters: mean.Clusters, Counts: s.counts,
		Test: &crosstalk.Test{Method: method, Null: 0.5, Statistic: crosstalk.Value(test.Statistic),
			DF: crosstalk.Value(test.DF), P: crosstalk.Value(test.P)},
		Effect: &crosstalk.Effect{Name: "mean similarity difference", Value: crosstalk.Undefined},
		Better: crosstalk.Lower, By: by, Signature: r.signature(measure, by, suites),
	}
	if mean.N > 0 {
		e.Effect.Value = crosstalk.Value(s.distance / float64(mean.N))
	}
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	e.Warnings = append(e.Warnings, s.explain(mean.N)...)
	return e
}

// copies are the measures of what answers copy.
var copies = []string{MeasureCopied, MeasureControlCopied, MeasureCopying}

// copying is the estimate of one of copies: of shares, or of their difference,
// which is tested against none.
func (s *sum) copying(measure string, r Rules, by map[string]string, suites crosstalk.SuiteIDs) crosstalk.Estimate {
	delete(s.counts, Ties)
	delete(s.counts, Identical)
	e := crosstalk.Estimate{Measure: measure, N: s.items.N(), Counts: s.counts, By: by, Better: crosstalk.Lower, Signature: r.signature(measure, by, suites)}
	bounds := stats.Proportion
	if measure == MeasureCopying {
		bounds = stats.Difference
		test, method := stats.TTest(&s.values, 0), "t"
		if r.ClusterTest {
			test, method = stats.ClusterTTest(&s.values, 0), "cluster-t"
		}
		e.Test = &crosstalk.Test{Method: method, Statistic: crosstalk.Value(test.Statistic), DF: crosstalk.Value(test.DF), P: crosstalk.Value(test.P)}
	}
	mean := stats.Mean(&s.values, bounds, estimate.Level)
	e.Observations, e.Clusters = mean.N, mean.Clusters
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	e.Warnings = append(e.Warnings, s.explain(mean.N)...)
	return e
}

// manyUnscored is the share of pairs without a value above which a warning says
// why: a figure over what is left may not be what was meant to be measured.
const manyUnscored = 0.1

// explain says why many pairs of text have no value, the most frequent reason
// first.
func (s *sum) explain(scored int) []string {
	n, all := s.counts[NotScored], scored
	for _, key := range []string{NotScored, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed)} {
		all += s.counts[key]
	}
	if float64(n) <= manyUnscored*float64(all) {
		return nil
	}
	reasons := slices.Sorted(maps.Keys(s.unscored))
	slices.SortStableFunc(reasons, func(a, b string) int { return s.unscored[b] - s.unscored[a] })
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", s.unscored[reason], cmp.Or(reason, "unknown"))
	}
	return []string{fmt.Sprintf("%d of %d not scored (%s)", n, all, strings.Join(reasons, ", "))}
}
