package consistency

import (
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
	"crosstalk/measure/translation"
)

// group is one figure in the making. It keeps sums per cluster, and of a
// correlation the pairs of values.
type group struct {
	figure string
	labels map[string]string
	places []int // where it stands among the figures
	counts map[string]int
	items  items

	values        stats.Clusters
	better, worse int                              // of changes
	x, y          []float64                        // of correlations
	bleu          map[string]translation.BLEUStats // by cluster
}

func newGroup(figure string, labels map[string]string, places []int) *group {
	return &group{figure: figure, labels: labels, places: places, bleu: map[string]translation.BLEUStats{},
		counts: map[string]int{Invalid: 0, "not_scored": 0, "empty": 0, "refused": 0, "failed": 0}}
}

func (g *group) add(o crosstalk.Observation, s share, cluster string) {
	g.items.add(o.Sample)
	g.count(o, s)
	if s.reason != "" {
		return
	}
	g.values.Add(cluster, s.value)
	switch g.figure {
	case ConsistencyChange, AccuracyChange:
		g.better += int(max(s.value, 0))
		g.worse += int(max(-s.value, 0))
	case BLEUConsistency, BLEUAccuracy:
		g.x, g.y = append(g.x, s.with), append(g.y, s.value)
	case BLEU:
		sum := g.bleu[cluster]
		sum.Add(bleuStats(o.Numbers))
		g.bleu[cluster] = sum
	}
}

// count counts what is behind the figure and what is not.
func (g *group) count(o crosstalk.Observation, s share) {
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

func (g *group) estimate() crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: g.figure, Unit: units[g.figure], Better: better[g.figure], N: g.items.n, Observations: g.values.N(), Clusters: g.values.Len(), Counts: g.counts, By: g.labels}
	switch g.figure {
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

// units are those of figures that are no fractions.
var units = map[string]string{BLEUConsistency: "r", BLEUAccuracy: "r", Quality: "points"}

var better = map[string]crosstalk.Direction{
	Consistency: crosstalk.Higher, ConsistencyCorrect: crosstalk.Higher, ConsistencyBLEU50: crosstalk.Higher, ConsistencyChange: crosstalk.Higher,
	Accuracy: crosstalk.Higher, AccuracyChange: crosstalk.Higher, InvalidShare: crosstalk.Lower,
	Rewriting: crosstalk.Higher, BLEU: crosstalk.Higher, ItemBLEU: crosstalk.Higher, ROUGE1: crosstalk.Higher, ROUGE2: crosstalk.Higher, ROUGEL: crosstalk.Higher, Quality: crosstalk.Higher,
}

func (g *group) mean(e *crosstalk.Estimate, bounds stats.Bounds) {
	mean := stats.Mean(&g.values, bounds, Level)
	e.Value, e.Interval, e.Warnings = crosstalk.Value(mean.Value), interval(mean.Interval), warnings(mean.Warnings)
}

// draws is how often observations are resampled. The seed is fixed: the same
// observations have the same figures.
const (
	draws = 2000
	seed  = 1
)

// test tests a change against none: by McNemar's exact test where each cluster
// has one observation, else by flipping the signs of clusters.
func (g *group) test(e *crosstalk.Estimate) {
	e.Test = &crosstalk.Test{Method: "mcnemar", Statistic: crosstalk.Undefined, DF: crosstalk.Undefined}
	if g.values.N() == g.values.Len() {
		e.Test.P = crosstalk.Value(stats.McNemar(g.better, g.worse))
		return
	}
	e.Test.Method, e.Test.P = "sign-flip", crosstalk.Value(stats.SignFlip(&g.values, draws, seed).P)
}

func (g *group) correlate(e *crosstalk.Estimate) {
	c := stats.Pearson(g.x, g.y, Level)
	e.Value, e.Interval = crosstalk.Value(c.Value), interval(c.Interval)
	e.Test = &crosstalk.Test{Method: "t", Statistic: crosstalk.Undefined, DF: crosstalk.Value(len(g.x) - 2), P: crosstalk.Value(c.P)}
	if e.Clusters < e.Observations {
		e.Warnings = append(e.Warnings, "interval and p take all pairs of values as independent")
	}
}

// corpus is the BLEU of all texts together, with an interval from resampling
// clusters.
func (g *group) corpus(e *crosstalk.Estimate) {
	var parts []translation.BLEUStats
	for _, name := range slices.Sorted(maps.Keys(g.bleu)) {
		parts = append(parts, g.bleu[name])
	}
	corpus := func(units []int) float64 {
		sum := translation.BLEUStats{}
		for _, i := range units {
			sum.Add(parts[i])
		}
		score, _ := translation.BLEU{}.Score(sum) // tokens are counted already
		return score.Score / 100
	}
	b := stats.UnitBootstrap(len(parts), corpus, stats.BootstrapOptions{Draws: draws, Level: Level, Seed: seed, Bounds: stats.Proportion})
	e.Value, e.Interval, e.Warnings = crosstalk.Value(b.Value), interval(b.Interval), warnings(b.Warnings)
}

func interval(i stats.Interval) *crosstalk.Interval {
	if !i.Defined() {
		return nil
	}
	return &crosstalk.Interval{Low: i.Low, High: i.High, Level: i.Level, Method: i.Method}
}

func warnings(of []stats.Warning) (texts []string) {
	for _, w := range of {
		texts = append(texts, w.String())
	}
	return texts
}

// items counts items by their first sample, so that it needs no list of them.
type items struct{ first, n int }

func (i *items) add(sample int) {
	switch {
	case i.n == 0 || sample < i.first:
		i.first, i.n = sample, 1
	case sample == i.first:
		i.n++
	}
}
