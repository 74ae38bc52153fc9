package compare

import (
	"math"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
)

// parts are the values of one side by cell, in clusters with names that are
// common to both sides.
type parts []*stats.Clusters

// paired are the values of the pairs, everything the values of all items.
func (m *matched) paired(side int) parts     { return m.parts(side, m.pairs) }
func (m *matched) everything(side int) parts { return m.parts(side, m.items) }

func (m *matched) parts(side int, items []int32) (p parts) {
	for measure := range m.average.measures {
		v := m.values(side, measure)
		for _, i := range items {
			if !v.has(i) {
				continue
			}
			k := m.average.cell(m.table.labels[m.table.items[i].labels], measure) // also if there are no values
			for len(p) <= k {
				p = append(p, &stats.Clusters{})
			}
			if v.n(i) > 0 {
				p[k].Add(m.table.cluster(i), v.mean(i))
			}
		}
	}
	return p
}

// both builds the parts of the two sides and gives them the same cells.
func (m *matched) both(of func(side int) parts) (a, b parts) {
	a, b = of(0), of(1)
	for len(a) < len(m.average.cells) {
		a = append(a, &stats.Clusters{})
	}
	for len(b) < len(m.average.cells) {
		b = append(b, &stats.Clusters{})
	}
	return a, b
}

// complete removes items that a harmonic mean does not cover: those with values
// of its first column for which a measure has no observation.
func (m *matched) complete(items []int32) []int32 {
	if len(m.average.measures) == 1 || len(m.average.over) == 0 {
		return items
	}
	column := m.average.over[0]
	found := map[[2]int32]bool{} // measure and value
	for measure := range m.average.measures {
		for side := range m.sides {
			v := m.values(side, measure)
			for _, i := range items {
				if v.has(i) {
					found[[2]int32{int32(measure), m.table.labelOf(i, column)}] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(items), func(i int32) bool {
		for measure := range m.average.measures {
			if !found[[2]int32{int32(measure), m.table.labelOf(i, column)}] {
				return true
			}
		}
		return false
	})
}

// difference is the difference of figures that may be nonlinear in their cells
// and may have different items on the two sides. n is the smaller number of
// items.
func (m *matched) difference(level float64, n int, of func(side int) parts) (e stats.Estimate, x, y crosstalk.Value) {
	a, b := m.both(of)
	f := m.average.formula()
	x, y = crosstalk.Value(f(a.means())), crosstalk.Value(f(b.means()))
	if len(a) == 0 || !x.Defined() || !y.Defined() {
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
	all := slices.Repeat([]float64{math.NaN()}, 2*len(a))
	e = stats.Combine(defined, func(means []float64) float64 {
		for i, at := range places {
			all[at] = means[i]
		}
		return f(all[:len(a)]) - f(all[len(a):])
	}, m.bounds(a, b), level)
	if e.SE < rounding && math.Abs(e.Value) < rounding { // no item differs
		e.SE, e.Interval = 0, m.unchanged(level)
	}
	e.Warnings = slices.DeleteFunc(e.Warnings, func(w stats.Warning) bool { return w.Code == stats.FewItems }) // it counted both sides
	if n < stats.MinItems {
		e.Warnings = append(e.Warnings, stats.Warning{Code: stats.FewItems, Have: n, Want: stats.MinItems})
	}
	return e, x, y
}

// rounding is far below the smallest difference that a million items can have.
const rounding = 1e-12

// unchanged is the interval of a composite difference when no item differs: the
// widest of those of the measures that it combines, for which equal items say how
// large a share of others may differ.
func (m *matched) unchanged(level float64) (widest stats.Interval) {
	widest = stats.Interval{Low: math.NaN(), High: math.NaN(), Level: level}
	shared := m.shared()
	for measure := range m.average.measures {
		a, b := m.values(0, measure), m.values(1, measure)
		var differences stats.Clusters
		for _, i := range m.pairs {
			if a.n(i) > 0 && b.n(i) > 0 {
				m.addTo(&differences, shared, i, a.mean(i)-b.mean(i))
			}
		}
		if i := stats.Mean(&differences, stats.Difference, level).Interval; !(i.High-i.Low <= widest.High-widest.Low) {
			widest = i
		}
	}
	return widest
}

func (p parts) means() []float64 {
	means := make([]float64, len(p))
	for i, c := range p {
		means[i] = c.Mean()
	}
	return means
}

// bounds are 0 and 1 if all values are fractions.
func (m *matched) bounds(a, b parts) stats.Bounds {
	if m.fraction && !slices.ContainsFunc(slices.Concat(a, b), func(c *stats.Clusters) bool { return !c.Within(stats.Proportion) }) {
		return stats.Difference
	}
	return stats.Unbounded
}

// exchange tests the difference of composite figures on the pairs.
func (m *matched) exchange(o Options, family int) float64 {
	a, b := m.both(m.paired)
	f := m.average.formula()
	return staged(family, o.Seed, func(draws int, seed uint64) float64 { return stats.Swap(a, b, f, draws, seed) })
}

// observed is a figure recomputed from the observations.
func (t *table) observed(f figure) float64 {
	a := t.averageOf(f)
	var sums, counts []float64
	for measure, name := range a.measures {
		v := f.side.values[name]
		for _, i := range t.among(f) {
			if !v.has(i) {
				continue
			}
			k := a.cell(t.labels[t.items[i].labels], measure)
			for len(sums) <= k {
				sums, counts = append(sums, 0), append(counts, 0)
			}
			sums[k] += v.at(i).sum
			counts[k] += float64(v.n(i))
		}
	}
	for k := range sums {
		sums[k] /= counts[k]
	}
	if len(sums) == 0 {
		return math.NaN()
	}
	return a.formula()(sums)
}
