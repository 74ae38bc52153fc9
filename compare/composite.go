package compare

import (
	"math"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
)

// parts are the values of one side by cell, in clusters that the other side
// names alike.
type parts []*stats.Clusters

// paired are the values of the pairs, everything those of all items.
func (m *matched) paired(side int) parts     { return m.parts(side, m.pairs) }
func (m *matched) everything(side int) parts { return m.parts(side, m.items) }

func (m *matched) parts(side int, items []int32) (p parts) {
	for measure := range m.average.measures {
		v := m.values(side, measure)
		for _, i := range items {
			if v.n(i) == 0 {
				continue
			}
			k := m.average.cell(m.table.items[i], measure)
			for len(p) <= k {
				p = append(p, &stats.Clusters{})
			}
			p[k].Add(m.table.cluster(i), v.mean(i))
		}
	}
	return p
}

// both makes the parts of the two sides and gives them the same cells.
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

// difference is the difference of figures that need not be linear in their
// cells, nor have the same items on both sides.
func (m *matched) difference(level float64, of func(side int) parts) (e stats.Estimate, x, y crosstalk.Figure) {
	a, b := m.both(of)
	f := m.average.formula()
	x, y = crosstalk.Figure(f(a.means())), crosstalk.Figure(f(b.means()))
	if len(a) == 0 || !x.Defined() || !y.Defined() {
		return stats.Mean(&stats.Clusters{}, stats.Difference, level), x, y
	}
	// Parts without a mean stay without one.
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
	return e, x, y
}

func (p parts) means() []float64 {
	means := make([]float64, len(p))
	for i, c := range p {
		means[i] = c.Mean()
	}
	return means
}

// bounds are those of fractions, where all values are.
func (m *matched) bounds(a, b parts) stats.Bounds {
	for _, c := range slices.Concat(a, b) {
		if c.N() > 0 && !c.Within(stats.Proportion) {
			return stats.Unbounded
		}
	}
	return stats.Difference
}

// exchange tests the difference of composite figures on the pairs.
func (m *matched) exchange(o Options, family int) float64 {
	a, b := m.both(m.paired)
	f := m.average.formula()
	return twice(family, func(draws int, again uint64) float64 {
		return stats.Swap(a, b, f, draws, o.Seed+again)
	})
}

// observed is a figure made again of the observations.
func (t *table) observed(f figure) float64 {
	a := t.averageOf(f)
	var sums, counts []float64
	for measure, name := range a.measures {
		v := f.side.values[name]
		for i := range t.among(f) {
			if v.n(i) == 0 {
				continue
			}
			k := a.cell(t.items[i], measure)
			for len(sums) <= k {
				sums, counts = append(sums, 0), append(counts, 0)
			}
			sums[k] += v.sum[i]
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
