package leakage

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// apart lists columns whose values never share a figure: a rate over two data sets or languages would measure neither.
var apart = []string{DatasetColumn, LanguageColumn}

type estimator struct {
	rules   Rules
	groups  estimate.Groups[*sum]
	counted *counted // nil: not requested
}

// Estimator returns an estimator of each measure for each condition, data set and language, and for each prefix of
// the columns in by (estimate.Rollup). The clusters of intervals and tests are the controls. Counts:
//
//	ties        scored pairs of equal similarity
//	identical   scored pairs whose two answers are the same text
//	repeats     pairs with an answer that only repeats its prompt; whether they are scored is a rule
//	empty, no_answer, refused, failed   pairs with such an answer
//	not_scored  pairs of text that the measure could not score
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	grouping := estimate.Grouping{By: by, Apart: apart}
	e := &estimator{rules: r, groups: estimate.Groups[*sum]{Grouping: grouping,
		New: func(map[string]string) *sum {
			return &sum{unscored: map[string]int{}, counts: countsOf(Ties, identical)}
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
		for _, measure := range []string{measureRepeated, measureSame} {
			for _, g := range e.counted.groups.Ordered() {
				estimates = append(estimates, g.Sum.estimate(measure, e.rules, g.Labels, suites))
			}
		}
	}
	return estimates
}

// sum contains the pairs of answers behind one figure.
type sum struct {
	values   stats.Clusters
	items    estimate.Items
	counts   map[string]int
	unscored map[string]int // counts of NotScored, by reason
	distance float64        // sum of similarity differences
}

// without lists the counts of pairs without a value.
var without = []string{NotScored, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed),
	crosstalk.Unanswering}

// countsOf starts the counts of without and others, but not of answers that give none: not all protocols look for them.
func countsOf(others ...string) map[string]int {
	counts := map[string]int{}
	for _, name := range append(others, without...) {
		counts[name] = 0
	}
	delete(counts, crosstalk.Unanswering)
	return counts
}

// reasonOf returns the count for an observation without a value.
func reasonOf(o crosstalk.Observation) string {
	if reason := strings.ReplaceAll(o.NotScored, " ", "_"); slices.Contains(without, reason) {
		return reason
	}
	return NotScored
}

func (s *sum) add(o crosstalk.Observation, cluster stats.Cluster) {
	if o.Text(Repeating) != "" {
		s.counts[repeats]++
	}
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
		s.counts[identical]++
	}
}

func (s *sum) estimate(measure string, r Rules, by map[string]string, suites crosstalk.SuiteIDs) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: measure, N: s.items.N(), Counts: s.counts, Better: Kind().Measure(measure).Better,
		By: by, Signature: r.signature(measure, by, suites)}
	bounds, null := stats.Proportion, 0.5
	if measure == MeasureCopying {
		bounds, null = stats.Difference, 0
	}
	mean := stats.Mean(&s.values, bounds, estimate.Level)
	e.Observations, e.Clusters = mean.N, mean.Clusters
	shares := measure == Faults || measure == MeasureCopied || measure == measureControlCopied
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
		delete(s.counts, identical)
		delete(s.counts, repeats)
	} else {
		e.Effect = &crosstalk.Effect{Name: "mean similarity difference", Value: crosstalk.Undefined}
		if mean.N > 0 {
			e.Effect.Value = crosstalk.Value(s.distance / float64(mean.N))
		}
	}
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	e.Warnings = append(e.Warnings, s.explain(mean.N)...)
	if n := s.counts[repeats]; !r.Own && float64(n) > manyUnscored*float64(mean.N) {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%d pairs have an answer that only repeats its prompt", n))
	}
	return e
}

// manyUnscored is the share of pairs without a value, or with an answer that only repeats its prompt, above which a
// warning says so: the figure may not measure what was intended.
const manyUnscored = 0.1

// explain states why many pairs with text have no value, the most frequent reason first.
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

// counted computes figures of the answers to test prompts alone (Smilga 2025, section 4): how often they repeat the
// concept, and how often different concepts get the same answer. Similarities do not matter here: of several, only the
// first one's observations are counted, since all cover the same answers.
type counted struct {
	groups       estimate.Groups[*tally]
	similarities map[string]string // the first similarity, by condition
}

// add counts an observation of the Leak-Rate.
func (c *counted) add(o crosstalk.Observation) {
	condition := maps.Clone(o.Condition)
	delete(condition, similarityColumn)
	name := string(crosstalk.Canonical(condition))
	first, known := c.similarities[name]
	if !known {
		first = o.Condition[similarityColumn]
		c.similarities[name] = first
	}
	if first != o.Condition[similarityColumn] {
		return
	}
	cluster := c.groups.Clusters.Number(o.Cluster)
	for _, g := range c.groups.Of(condition, o.Labels, measureRepeated, nil) {
		g.Sum.add(o, cluster)
	}
}

// tally contains the answers to test prompts behind the figures of a group. It keeps hashes, since another concept may
// turn out to have the same answer.
type tally struct {
	items    estimate.Items
	counts   map[string]int
	repeated stats.Clusters
	controls map[uint64]*control // by a hash
}

// control contains the answers to the tests with one control.
type control struct {
	cluster stats.Cluster
	answers []struct{ concept, text uint64 }
}

func (t *tally) add(o crosstalk.Observation, cluster stats.Cluster) {
	text := o.Text(Test)
	if text == "" || strings.Contains(o.Text(Abstaining), Test) {
		t.counts[reasonOf(o)]++
		return
	}
	t.items.Add(o.Sample)
	concept, spaced := o.Text(Concept), strings.Join(strings.Fields(text), " ")
	t.repeated.Add(cluster, float64(share(remove(text, []string{concept}) != spaced)))
	bare := strings.TrimFunc(strings.ToLower(spaced), func(r rune) bool { return !isWord(r) })
	key := maphash.String(seed, o.Cluster)
	if t.controls[key] == nil {
		t.controls[key] = &control{cluster: cluster}
	}
	of := t.controls[key]
	hashes := struct{ concept, text uint64 }{maphash.String(seed, concept), maphash.String(seed, bare)}
	of.answers = append(of.answers, hashes)
}

var seed = maphash.MakeSeed()

// same returns, for each answer to a test whose control has several concepts, whether another concept also got it.
func (t *tally) same() *stats.Clusters {
	var values stats.Clusters
	for _, of := range t.controls {
		first, shared := map[uint64]uint64{}, map[uint64]bool{} // the concept of an answer, and whether it has another one
		several := false
		for _, a := range of.answers {
			if _, again := first[a.text]; !again {
				first[a.text] = a.concept
			}
			shared[a.text] = shared[a.text] || first[a.text] != a.concept
			several = several || a.concept != of.answers[0].concept
		}
		for _, a := range of.answers {
			if several {
				values.Add(of.cluster, float64(share(shared[a.text])))
			}
		}
	}
	return &values
}

func (t *tally) estimate(measure string, r Rules, by map[string]string, suites crosstalk.SuiteIDs) crosstalk.Estimate {
	values := &t.repeated
	if measure == measureSame {
		values = t.same()
	}
	mean := stats.Mean(values, stats.Proportion, estimate.Level)
	e := crosstalk.Estimate{Measure: measure, N: min(t.items.N(), mean.N), Observations: mean.N,
		Clusters: mean.Clusters, Counts: t.counts, Better: Kind().Measure(measure).Better, By: by,
		Signature: estimate.Signature(by, measure, "suite:"+suites.Of(by), r.fields()[0])}
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	return e
}
