package compare

import (
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// average defines how a figure is computed from cells. A cell contains the observations of one measure with the
// same values in the columns averaged over.
type average struct {
	crosstalk.Average
	measures []string // one, or those whose harmonic mean it is
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

// averageOf is the average that a figure is, of these measures.
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
