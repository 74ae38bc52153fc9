package compare

import (
	"math"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
)

// sums are the values of the two sides by cell, in clusters with names that are
// common to both.
type sums struct {
	*average
	of, against []*stats.Clusters
}

// add adds these items of the part.
func (s *sums) add(m *matched, items []int32) {
	for side, into := range [2]*[]*stats.Clusters{&s.of, &s.against} {
		for measure := range m.measures {
			v := m.values(side, measure)
			for _, i := range items {
				if !v.has(i) {
					continue
				}
				k := s.cell(m.table.labels[m.part.items[i].labels], measure) // also if there are no values
				for len(*into) <= k {
					*into = append(*into, &stats.Clusters{})
				}
				if v.n(i) > 0 {
					(*into)[k].Add(m.table.cluster(m.part, i), v.mean(i))
				}
			}
		}
	}
}

// both are the cells of the two sides, the same ones.
func (s *sums) both() (of, against []*stats.Clusters) {
	for _, cells := range []*[]*stats.Clusters{&s.of, &s.against} {
		for len(*cells) < len(s.cells) {
			*cells = append(*cells, &stats.Clusters{})
		}
	}
	return s.of, s.against
}

// complete leaves out labels that a harmonic mean does not cover: those whose first
// column has a value for which a measure has no observation.
func (m *matched) complete(group []bool) []bool {
	if len(m.average.measures) == 1 || len(m.average.over) == 0 {
		return group
	}
	column := m.average.over[0]
	found := map[[2]int32]bool{} // measure and value
	for measure, name := range m.average.measures {
		for _, side := range []*side{m.pair.of.side, m.pair.against.side} {
			for labels := range side.measured[name] {
				if group[labels] {
					found[[2]int32{int32(measure), m.table.labels[labels][column]}] = true
				}
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

// difference is the difference of figures that may be nonlinear in their cells
// and may have different items on the two sides. n is the smaller number of
// items.
func (m *matched) difference(level float64, n int, of *sums) (e stats.Estimate, x, y crosstalk.Value) {
	a, b := of.both()
	f := of.formula()
	x, y = crosstalk.Value(f(means(a))), crosstalk.Value(f(means(b)))
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
	for k := range m.equal {
		if i := stats.Mean(&m.equal[k], stats.Difference, level).Interval; !(i.High-i.Low <= widest.High-widest.Low) {
			widest = i
		}
	}
	return widest
}

func means(cells []*stats.Clusters) []float64 {
	means := make([]float64, len(cells))
	for i, c := range cells {
		means[i] = c.Mean()
	}
	return means
}

// bounds are 0 and 1 if all values are fractions.
func (m *matched) bounds(a, b []*stats.Clusters) stats.Bounds {
	if m.fraction && !slices.ContainsFunc(slices.Concat(a, b), func(c *stats.Clusters) bool { return !c.Within(stats.Proportion) }) {
		return stats.Difference
	}
	return stats.Unbounded
}

// exchange tests the difference of composite figures on the pairs.
func (s *sums) exchange(o Options, family int) float64 {
	a, b := s.both()
	f := s.formula()
	return staged(family, o.Seed, func(draws int, seed uint64) float64 { return stats.Swap(a, b, f, draws, seed) })
}

// observed is a figure computed again from its observations.
type observed struct {
	*average
	group        []bool
	sums, counts []float64 // by cell
}

// add adds a part, for one side.
func (o *observed) add(m *matched, side int32) {
	for measure, name := range o.measures {
		v := m.part.values[place{side, m.table.word(name)}]
		for i, it := range m.part.items {
			if !o.group[it.labels] || !v.has(int32(i)) {
				continue
			}
			k := o.cell(m.table.labels[it.labels], measure)
			for len(o.sums) <= k {
				o.sums, o.counts = append(o.sums, 0), append(o.counts, 0)
			}
			o.sums[k] += v.at(int32(i)).sum
			o.counts[k] += float64(v.n(int32(i)))
		}
	}
}

// figure is NaN without observations.
func (o *observed) figure() float64 {
	if len(o.sums) == 0 {
		return math.NaN()
	}
	means := slices.Clone(o.sums)
	for k := range means {
		means[k] /= o.counts[k]
	}
	return o.formula()(means)
}
