package compare

import (
	"math"
	"slices"
	"strconv"
)

// average defines how a figure is computed from cells. A cell contains the
// observations of one measure with the same values in the columns averaged
// over.
type average struct {
	measures []string // one, or those of a harmonic mean
	over     []int    // columns of the table
	cells    []cell
	index    map[string]int
	key      []byte
}

type cell struct {
	measure int     // of measures
	place   []int32 // values of the columns
}

func (t *table) averageOf(f figure) *average {
	a := &average{measures: []string{f.Measure}, index: map[string]int{}}
	if f.Average == nil {
		return a
	}
	if len(f.Average.HarmonicOf) > 0 {
		a.measures = f.Average.HarmonicOf
	}
	for _, column := range f.Average.Over {
		a.over = append(a.over, slices.Index(t.columns, column))
	}
	return a
}

// cell returns the number of an item's cell.
func (a *average) cell(it item, measure int) int {
	a.key = strconv.AppendInt(a.key[:0], int64(measure), 10)
	for _, column := range a.over {
		a.key = strconv.AppendInt(append(a.key, ' '), int64(it.labels[column]), 10)
	}
	if i, ok := a.index[string(a.key)]; ok {
		return i
	}
	i := len(a.cells)
	a.index[string(a.key)] = i
	c := cell{measure: measure}
	for _, column := range a.over {
		c.place = append(c.place, it.labels[column])
	}
	a.cells = append(a.cells, c)
	return i
}

// formula computes a figure from the means of cells; NaN if a cell has none.
type formula func(means []float64) float64

// formula is the figure over the cells so far.
func (a *average) formula() formula {
	all := make([]int, len(a.cells))
	for i := range all {
		all[i] = i
	}
	if len(a.measures) == 1 {
		return a.mean(all, 0)
	}
	if len(a.over) == 0 {
		return a.harmonic(all, 0)
	}
	return plain(a.split(all, 0, func(part []int) formula { return a.harmonic(part, 1) }))
}

// mean is the mean over the values of the column at depth of the mean over the
// next column, and finally of cells.
func (a *average) mean(cells []int, depth int) formula {
	if depth == len(a.over) {
		i := cells[0]
		return func(means []float64) float64 { return means[i] }
	}
	return plain(a.split(cells, depth, func(part []int) formula { return a.mean(part, depth+1) }))
}

// split builds a formula for each value of a column. Nil ones are skipped.
func (a *average) split(cells []int, depth int, make func(part []int) formula) (formulas []formula) {
	parts := map[int32][]int{}
	var order []int32
	for _, i := range cells {
		value := a.cells[i].place[depth]
		if parts[value] == nil {
			order = append(order, value)
		}
		parts[value] = append(parts[value], i)
	}
	for _, value := range order {
		if f := make(parts[value]); f != nil {
			formulas = append(formulas, f)
		}
	}
	return formulas
}

// plain is the mean of the defined values.
func plain(of []formula) formula {
	return func(means []float64) float64 {
		var sum, n float64
		for _, f := range of {
			if x := f(means); !math.IsNaN(x) {
				sum += x
				n++
			}
		}
		return sum / n
	}
}

// harmonic is the harmonic mean of the measures' figures, nil if one has no
// cell. If the first is 0, the result is 0: the others then have no
// observations, are undefined and count as 1.
func (a *average) harmonic(cells []int, depth int) formula {
	var rates []formula
	for m := range a.measures {
		of := slices.DeleteFunc(slices.Clone(cells), func(i int) bool { return a.cells[i].measure != m })
		if len(of) == 0 {
			return nil
		}
		rates = append(rates, a.mean(of, depth))
	}
	return func(means []float64) float64 {
		var inverse float64
		for i, f := range rates {
			rate := f(means)
			if i > 0 && math.IsNaN(rate) {
				rate = 1
			}
			inverse += 1 / rate
		}
		return float64(len(rates)) / inverse
	}
}

// weights are the cells' weights in a figure that is linear in them.
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
