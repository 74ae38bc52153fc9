package leakage

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Level is the level of all intervals.
const Level = 0.95

// set columns never share a figure, whatever figures are grouped by: a rate
// over two data sets or languages measures neither.
var set = []string{"dataset", "language"}

// Estimate returns the Leak-Rate over all observations of each condition and
// for each prefix of the columns in by (crosstalk.Rollup). Conditions, data
// sets and languages are apart whether by names them or not. Intervals and
// tests take the controls as clusters. Counts:
//
//	ties        scored pairs of equal similarity
//	identical   scored pairs whose two answers are the same text
//	empty, refused, failed   pairs with such an answer
//	not_scored  pairs of text that the measure could not score
func (in *Instrument) Estimate(observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	groups, seen := map[string]*group{}, crosstalk.Ranks{}
	for o := range observations {
		condition := map[string]string{}
		maps.Copy(condition, o.Condition)
		for _, column := range set {
			if value := o.Labels[column]; value != "" {
				condition[column] = value
			}
		}
		var within []string // the columns that part a condition's figures
		for _, column := range by {
			if _, constant := condition[column]; !constant && !slices.Contains(set, column) && !slices.Contains(within, column) {
				within = append(within, column)
			}
		}
		place := seen.Rank(string(crosstalk.Canonical(condition)))
		for _, labels := range crosstalk.Rollup(o.Labels, within) {
			places := []int{place}
			for _, column := range within {
				places = append(places, seen.Rank(column, labels[column]))
			}
			maps.Copy(labels, condition)
			key := string(crosstalk.Canonical(labels))
			if groups[key] == nil {
				groups[key] = newGroup(labels, places)
			}
			groups[key].add(o)
		}
	}
	ordered := slices.SortedFunc(maps.Values(groups), func(a, b *group) int { return slices.Compare(a.places, b.places) })
	estimates := make([]crosstalk.Estimate, len(ordered))
	for i, g := range ordered {
		estimates[i] = g.estimate(in)
	}
	return estimates
}

// group is one figure in the making. It keeps sums per cluster and the names
// of the items, never the observations.
type group struct {
	labels   map[string]string
	places   []int // where it stands among the figures
	values   stats.Clusters
	items    map[string]struct{}
	counts   map[string]int
	distance float64 // sum of similarity differences
}

func newGroup(labels map[string]string, places []int) *group {
	return &group{labels: labels, places: places, items: map[string]struct{}{},
		counts: map[string]int{"ties": 0, "identical": 0, "not_scored": 0, "empty": 0, "refused": 0, "failed": 0}}
}

func (g *group) add(o crosstalk.Observation) {
	g.items[o.Item] = struct{}{}
	if o.NotScored != "" || !o.Value.Defined() {
		switch reason := crosstalk.Status(o.NotScored); reason {
		case crosstalk.Empty, crosstalk.Refused, crosstalk.Failed:
			g.counts[string(reason)]++
		default:
			g.counts["not_scored"]++
		}
		return
	}
	g.values.Add(o.Cluster, float64(o.Value))
	g.distance += o.Numbers[Test] - o.Numbers[Control]
	if o.Value == 0.5 {
		g.counts["ties"]++
	}
	if o.Text(Test) == o.Text(Control) {
		g.counts["identical"]++
	}
}

func (g *group) estimate(in *Instrument) crosstalk.Estimate {
	mean := stats.Mean(&g.values, stats.Proportion, Level)
	test, method := stats.TTest(&g.values, 0.5), "t"
	if in.Protocol.ClusterTest {
		test, method = stats.ClusterTTest(&g.values, 0.5), "cluster-t"
	}
	e := crosstalk.Estimate{
		Measure: Measure, Value: crosstalk.Value(mean.Value),
		N: len(g.items), Observations: mean.N, Clusters: mean.Clusters, Counts: g.counts,
		Test: &crosstalk.Test{Method: method, Null: 0.5, Statistic: crosstalk.Value(test.Statistic),
			DF: crosstalk.Value(test.DF), P: crosstalk.Value(test.P)},
		Effect: &crosstalk.Effect{Name: "mean similarity difference", Value: crosstalk.Undefined},
		Better: crosstalk.Lower, By: g.labels, Signature: in.signature(g.labels),
	}
	if mean.N > 0 {
		e.Effect.Value = crosstalk.Value(g.distance / float64(mean.N))
	}
	if i := mean.Interval; i.Defined() {
		e.Interval = &crosstalk.Interval{Low: i.Low, High: i.High, Level: i.Level, Method: i.Method}
	}
	for _, w := range mean.Warnings {
		e.Warnings = append(e.Warnings, w.String())
	}
	return e
}

func (in *Instrument) signature(labels map[string]string) string {
	suite := "-"
	if in.SuiteOf != nil {
		suite = in.SuiteOf(labels)
	}
	suite = strings.NewReplacer("|", "_", "\n", "_", "\r", "_").Replace(suite) // it may be a file's name
	return Measure + "|suite:" + suite + "|sim:" + labels["similarity"] + "|" + in.Protocol.rules() + "|v" + crosstalk.Version
}
