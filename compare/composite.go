package compare

import (
	"math"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// average defines how a figure is computed from cells. A cell contains the observations of one measure with the
// same values in the columns averaged over.
type average struct {
	crosstalk.Average
	measures []string // one, or several whose harmonic mean is the figure
	over     []int    // columns of the table
	cells    []estimate.Cell
	index    map[string]int
	key      []byte
}

func (t *table) averageOf(f figure) *average {
	a := &average{index: map[string]int{}}
	a.Average, a.measures = averageOf(f.Estimate)
	for _, column := range a.Over {
		a.over = append(a.over, slices.Index(t.columns, column))
	}
	return a
}

// averageOf returns how a figure is averaged, and from which measures.
func averageOf(e *crosstalk.Estimate) (a crosstalk.Average, measures []string) {
	if e.Average != nil {
		a = *e.Average
	}
	if len(a.HarmonicOf) > 0 {
		return a, a.HarmonicOf
	}
	return a, []string{e.Measure}
}

// cell returns the number of the cell of items with these labels.
func (a *average) cell(labels []int32, measure int) int {
	a.key = strconv.AppendInt(a.key[:0], int64(measure), 10)
	for _, column := range a.over {
		a.key = strconv.AppendInt(append(a.key, ' '), int64(labels[column]), 10)
	}
	if i, ok := a.index[string(a.key)]; ok {
		return i
	}
	i := len(a.cells)
	a.index[string(a.key)] = i
	c := estimate.Cell{Measure: measure}
	for _, column := range a.over {
		c.Values = append(c.Values, int(labels[column]))
	}
	a.cells = append(a.cells, c)
	return i
}

func (a *average) formula() estimate.Formula { return estimate.FormulaOf(a.Average, a.cells) }

// weights returns the cells' weights in a figure that is linear in them.
func (a *average) weights() []float64 {
	f, unit := a.formula(), make([]float64, len(a.cells))
	w := make([]float64, len(a.cells))
	for i := range w {
		unit[i] = 1
		w[i] = f(unit)
		unit[i] = 0
	}
	return w
}

// sums are the values of the two sides by cell, in clusters that both sides share by name.
type sums struct {
	*average
	of, against []*stats.Clusters
	graded      bool // some values are neither 0 nor 1
}

func (m *matched) sums(items []int32) *sums {
	s := &sums{average: m.table.averageOf(m.pair.of)}
	for side := range m.sides {
		for measure := range s.measures {
			v := m.values(side, measure)
			for _, i := range items {
				if v.state(i) == 0 {
					continue
				}
				k := m.table.cell(s.average, i, measure) // even without values
				if k == len(s.of) {
					s.of, s.against = append(s.of, &stats.Clusters{}), append(s.against, &stats.Clusters{})
				}
				if v.state(i) > 0 {
					x := v.mean(i)
					s.graded = s.graded || x != 0 && x != 1
					[2][]*stats.Clusters{s.of, s.against}[side][k].Add(m.table.cluster(i), x)
				}
			}
		}
	}
	return s
}

// complete leaves out labels that a harmonic mean does not cover: labels with a value of the first column for which a
// measure has no observation.
func (m *matched) complete(group []bool) []bool {
	if len(m.average.measures) == 1 || len(m.average.over) == 0 {
		return group
	}
	column := m.average.over[0]
	found := map[[2]int32]bool{} // keys: measure and value
	for i, it := range m.table.items {
		for measure := range m.average.measures {
			if group[it.labels] && (m.values(0, measure).state(int32(i)) != 0 || m.values(1, measure).state(int32(i)) != 0) {
				found[[2]int32{int32(measure), m.table.labels[it.labels][column]}] = true
			}
		}
	}
	for k, labels := range m.table.labels {
		for measure := range m.average.measures {
			group[k] = group[k] && found[[2]int32{int32(measure), labels[column]}]
		}
	}
	return group
}

// difference returns the difference of figures that may be nonlinear in their cells and may have different items on the
// two sides. n is the smaller number of items.
func (m *matched) difference(level float64, n int, of *sums) (e stats.Estimate, x, y crosstalk.Value) {
	a, b := of.of, of.against
	f := of.formula()
	x, y = crosstalk.Value(f(means(a))), crosstalk.Value(f(means(b)))
	if !x.Defined() || !y.Defined() {
		return stats.Mean(&stats.Clusters{}, stats.Difference, level), x, y
	}
	// Parts without a mean stay undefined.
	var defined []*stats.Clusters
	var places []int
	for i, c := range slices.Concat(a, b) {
		if c.N() > 0 {
			defined = append(defined, c)
			places = append(places, i)
		}
	}
	bounds := m.bounds(a, b)
	all := slices.Repeat([]float64{math.NaN()}, 2*len(a))
	e = stats.Combine(defined, func(means []float64) float64 {
		for i, at := range places {
			all[at] = means[i]
		}
		return f(all[:len(a)]) - f(all[len(a):])
	}, bounds, level)
	var least stats.Interval // if no item differs, the widest interval of the combined measures
	var counts stats.Counts
	for k := range m.equal {
		if m.equal[k].N() > 0 {
			if i, of := unchanged([]*stats.Clusters{&m.equal[k]}, []float64{1}, level); i.High > least.High {
				least, counts = i, of
			}
		}
	}
	if e.SE < rounding && math.Abs(e.Value) < rounding { // no item differs
		e.SE, e.Interval.Low, e.Interval.High, m.counts = 0, math.NaN(), math.NaN(), counts
	}
	switch {
	case bounds != stats.Difference:
	case of == m.everything:
		first, second, binary := m.rates()
		if binary {
			e.Interval = first.Minus(second, level)
			break
		}
		first.Value, second.Value = 1, 1
		e.Interval = asWideAs(first.Minus(second, level), e)
	default:
		e.Interval = asWideAs(least, e)
	}
	// Replace the warning: it counts the items of both sides.
	e.Warnings = slices.DeleteFunc(e.Warnings, func(w stats.Warning) bool { return w.Code == stats.FewItems })
	if n < stats.MinItems {
		e.Warnings = append(e.Warnings, stats.Warning{Code: stats.FewItems, Have: n, Want: stats.MinItems})
	}
	return e, x, y
}

// rounding is far below the smallest difference that a million items can have.
const rounding = 1e-12

// rates returns the figures of all items of each side, and whether they are rates: means of values that are 0 or 1.
func (m *matched) rates() (of, against stats.Rate, binary bool) {
	s := m.everything
	return s.rate(s.of), s.rate(s.against), m.fraction && !s.graded && len(s.measures) == 1
}

// rate returns the figure of a side, and the items of the first measure as its count.
func (s *sums) rate(cells []*stats.Clusters) stats.Rate {
	first := average{Average: crosstalk.Average{Over: s.Average.Over}}
	var parts []*stats.Clusters
	for i, c := range cells {
		if s.cells[i].Measure == 0 && c.N() > 0 {
			first.cells, parts = append(first.cells, s.cells[i]), append(parts, c)
		}
	}
	weights := first.weights()
	e := stats.Combine(parts, func(means []float64) float64 { return dot(weights, means) }, stats.Proportion,
		estimate.Level)
	return stats.Rate{Counts: stats.EffectiveCounts(parts, weights, e.SE), Value: s.formula()(means(cells))}
}

func means(cells []*stats.Clusters) []float64 {
	means := make([]float64, len(cells))
	for i, c := range cells {
		means[i] = c.Mean()
	}
	return means
}

// bounds returns 0 and 1 if all values are fractions.
func (m *matched) bounds(a, b []*stats.Clusters) stats.Bounds {
	if m.fraction && !slices.ContainsFunc(slices.Concat(a, b),
		func(c *stats.Clusters) bool { return !c.Within(stats.Proportion) }) {
		return stats.Difference
	}
	return stats.Unbounded
}

// observed recomputes a figure from its observations; NaN if there are none.
func (t *table) observed(f figure) float64 {
	a, group := t.averageOf(f), t.among(f)
	var means, counts []float64
	for measure, name := range a.measures {
		v := f.side.values[name]
		for i, it := range t.items {
			n := v.state(int32(i))
			if n == 0 || !group[it.labels] {
				continue
			}
			k := t.cell(a, int32(i), measure)
			for len(means) <= k {
				means, counts = append(means, 0), append(counts, 0)
			}
			means[k] += v.sum(int32(i))
			counts[k] += float64(max(n, 0))
		}
	}
	if means == nil {
		return math.NaN() // formulas need means
	}
	for k := range means {
		means[k] /= counts[k]
	}
	return a.formula()(means)
}
