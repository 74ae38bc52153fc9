package consistency

import (
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
	"crosstalk/measure/translation"
)

// sum is the observations behind one figure. It keeps sums per cluster, and of a correlation the pairs of values.
type sum struct {
	counts map[string]int
	items  estimate.Items

	values        stats.Clusters
	better, worse int       // of changes
	x, y          []float64 // of correlations
	bleu          map[stats.Cluster]translation.BLEUStats
	clusters      *stats.ClusterNames
}

func newSum(clusters *stats.ClusterNames) *sum {
	return &sum{bleu: map[stats.Cluster]translation.BLEUStats{}, clusters: clusters,
		counts: map[string]int{Invalid: 0, "not_scored": 0, "empty": 0, "refused": 0, "failed": 0}}
}

func (g *sum) add(o crosstalk.Observation, s share, cluster stats.Cluster) {
	g.count(o, s)
	if s.reason != "" {
		return
	}
	g.items.Add(o.Sample)
	g.values.Add(cluster, s.value)
	switch s.measure {
	case ConsistencyChange, AccuracyChange:
		g.better += int(max(s.value, 0))
		g.worse += int(max(-s.value, 0))
	case BLEUConsistency, BLEUAccuracy:
		g.x, g.y = append(g.x, s.with), append(g.y, s.value)
	case BLEU:
		total := g.bleu[cluster]
		total.Add(bleuStats(o.Numbers))
		g.bleu[cluster] = total
	}
}

// count counts observations with and without a value.
func (g *sum) count(o crosstalk.Observation, s share) {
	if o.Text(FlagsText) != "" {
		g.counts["flagged"]++
	}
	switch s.reason {
	case "":
		if o.Finding == Invalid || o.Measure == Consistency && (o.Text(ClassText) == "" || o.Text(SourceClass) == "") {
			g.counts[Invalid]++
		}
	case Invalid, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed):
		g.counts[s.reason]++
	default:
		g.counts["not_scored"]++
	}
}

func (g *sum) estimate(measure string) crosstalk.Estimate {
	of := Kind().Measure(measure)
	e := crosstalk.Estimate{Measure: measure, Unit: of.Unit, Better: of.Better,
		N: g.items.N(), Observations: g.values.N(), Clusters: g.values.Len(), Counts: g.counts}
	switch measure {
	case BLEUConsistency, BLEUAccuracy:
		g.correlate(&e)
	case BLEU:
		g.corpus(&e)
	case ConsistencyChange, AccuracyChange:
		g.mean(&e, stats.Difference)
		g.test(&e)
	case Quality:
		g.mean(&e, stats.Unbounded)
	default:
		g.mean(&e, stats.Proportion)
	}
	return e
}

func (g *sum) mean(e *crosstalk.Estimate, bounds stats.Bounds) {
	mean := stats.Mean(&g.values, bounds, estimate.Level)
	estimate.Set(e, mean.Value, mean.Interval, mean.Warnings)
}

// draws is how often observations are resampled. The seed is fixed: the same observations have the same figures.
const (
	draws = 2000
	seed  = 1
)

// test tests a change against none: by McNemar's exact test where each cluster
// has one observation, else by flipping the signs of clusters.
func (g *sum) test(e *crosstalk.Estimate) {
	e.Test = &crosstalk.Test{Method: "mcnemar", Statistic: crosstalk.Undefined, DF: crosstalk.Undefined}
	if g.values.N() == g.values.Len() {
		e.Test.P = crosstalk.Value(stats.McNemar(g.better, g.worse))
		return
	}
	e.Test.Method, e.Test.P = "sign-flip", crosstalk.Value(stats.SignFlip(&g.values, draws, seed))
}

func (g *sum) correlate(e *crosstalk.Estimate) {
	c := stats.Pearson(g.x, g.y, estimate.Level)
	estimate.Set(e, c.Value, c.Interval, nil)
	e.Test = &crosstalk.Test{Method: "t", Statistic: crosstalk.Undefined,
		DF: crosstalk.Value(len(g.x) - 2), P: crosstalk.Value(c.P)}
	if e.Clusters < e.Observations {
		e.Warnings = append(e.Warnings, "interval and p treat all pairs of values as independent")
	}
}

// corpus is the BLEU of all texts together, with an interval from resampling clusters.
func (g *sum) corpus(e *crosstalk.Estimate) {
	clusters := slices.SortedFunc(maps.Keys(g.bleu), g.clusters.Compare)
	corpus := func(units []int) float64 {
		total := translation.BLEUStats{}
		for _, i := range units {
			total.Add(g.bleu[clusters[i]])
		}
		return total.Score() / 100
	}
	b := stats.UnitBootstrap(len(clusters), corpus, draws, estimate.Level, seed)
	b.Interval.Range = [2]float64{0, 1}
	estimate.Set(e, b.Value, b.Interval, b.Warnings)
}
