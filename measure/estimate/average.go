package estimate

import (
	"math"
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
)

// Cell is the observations of one measure that share the columns averaged
// over. Cells are compared by number, so that callers may index what they like.
type Cell struct {
	Measure int   // index into Average.HarmonicOf; 0 for a figure of its own measure
	Values  []int // of the columns of Average.Over
}

// Formula computes a figure from the means of its cells, in their order. A mean is NaN where the cell has nothing
// to measure, and so is the figure where it is undefined.
type Formula func(means []float64) float64

// FormulaOf returns the formula of an average over these cells: the plain mean over the values of the first column
// of the plain mean over those of the second, and so on, in the order in which cells have them; the harmonic mean
// is taken within each value of the first column that every measure has a cell of (crosstalk.Average).
func FormulaOf(a crosstalk.Average, cells []Cell) Formula {
	if len(cells) == 0 {
		return plain(nil)
	}
	f := former{cells: cells, depth: len(a.Over), measures: max(1, len(a.HarmonicOf)), emptyIsOne: a.EmptyIsOne}
	all := make([]int, len(cells))
	for i := range all {
		all[i] = i
	}
	switch {
	case f.measures == 1:
		return f.mean(all, 0)
	case f.depth == 0:
		if h := f.harmonic(all, 0); h != nil {
			return h
		}
		return plain(nil)
	}
	return plain(f.split(all, 0, func(part []int) Formula { return f.harmonic(part, 1) }))
}

type former struct {
	cells      []Cell
	depth      int // how many columns are averaged over
	measures   int
	emptyIsOne bool
}

// mean is the mean over the values of the column at depth of the mean over the next, and of cells in the end.
func (f former) mean(cells []int, depth int) Formula {
	if depth == f.depth {
		i := cells[0]
		return func(means []float64) float64 {
			if f.emptyIsOne && math.IsNaN(means[i]) {
				return 1
			}
			return means[i]
		}
	}
	return plain(f.split(cells, depth, func(part []int) Formula { return f.mean(part, depth+1) }))
}

// split makes a formula for each value of a column. Nil ones are left out.
func (f former) split(cells []int, depth int, formula func(part []int) Formula) (formulas []Formula) {
	for _, part := range ordered.Groups(cells, func(i int) int { return f.cells[i].Values[depth] }) {
		if one := formula(part); one != nil {
			formulas = append(formulas, one)
		}
	}
	return formulas
}

// plain is the mean of those that are defined.
func plain(of []Formula) Formula {
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

// harmonic is the harmonic mean of the two measures' figures, nil where one has no cell. Where the first is 0 it is
// 0: it left nothing to the second, which is undefined then and counts as 1.
func (f former) harmonic(cells []int, depth int) Formula {
	var rates [2]Formula
	for m := range rates {
		of := slices.DeleteFunc(slices.Clone(cells), func(i int) bool { return f.cells[i].Measure != m })
		if len(of) == 0 {
			return nil
		}
		rates[m] = f.mean(of, depth)
	}
	return func(means []float64) float64 {
		a, b := rates[0](means), rates[1](means)
		switch {
		case a == 0:
			return 0
		case math.IsNaN(b):
			b = 1
		}
		return 2 * a * b / (a + b)
	}
}
