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

// without are the counts of what has no value.
var without = []string{NotScored, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed)}

// countsOf starts the counts without and others.
func countsOf(others ...string) map[string]int {
	counts := map[string]int{}
	for _, name := range append(others, without...) {
		counts[name] = 0
	}
	return counts
}

// reasonOf is the count of an observation for which it has no value.
func reasonOf(o crosstalk.Observation) string {
	if slices.Contains(without, o.NotScored) {
		return o.NotScored
	}
	return NotScored
}

func (s *sum) add(o crosstalk.Observation, cluster stats.Cluster) {
	if o.NotScored != "" || !o.Value.Defined() {
		reason := reasonOf(o)
		s.counts[reason]++
		if reason == NotScored {
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
	e := crosstalk.Estimate{Measure: measure, N: s.items.N(), Counts: s.counts, Better: crosstalk.Lower,
		By: by, Signature: r.signature(measure, by, suites)}
	bounds, null := stats.Proportion, 0.5
	if measure == MeasureCopying {
		bounds, null = stats.Difference, 0
	}
	mean := stats.Mean(&s.values, bounds, estimate.Level)
	e.Observations, e.Clusters = mean.N, mean.Clusters
	shares := measure == Faults || measure == MeasureCopied || measure == MeasureControlCopied
	if !shares {
		test, method := stats.TTest(&s.values, null), "t"
		if r.ClusterTest {
			test, method = stats.ClusterTTest(&s.values, null), "cluster-t"
		}
		e.Test = &crosstalk.Test{Method: method, Null: null, Statistic: crosstalk.Value(test.Statistic),
			DF: crosstalk.Value(test.DF), P: crosstalk.Value(test.P)}
	}
	if shares || measure == MeasureCopying {
		delete(s.counts, Ties)
		delete(s.counts, Identical)
	} else {
		e.Effect = &crosstalk.Effect{Name: "mean similarity difference", Value: crosstalk.Undefined}
		if mean.N > 0 {
			e.Effect.Value = crosstalk.Value(s.distance / float64(mean.N))
		}
	}
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	e.Warnings = append(e.Warnings, s.explain(mean.N)...)
	return e
}

// manyUnscored is the share of pairs without a value above which a warning
// gives the reasons: a figure over the rest may not measure what was meant.
const manyUnscored = 0.1

// explain tells why many pairs of text have no value, the most frequent reason first.
func (s *sum) explain(scored int) []string {
	n, all := s.counts[NotScored], scored
	for _, key := range without {
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
