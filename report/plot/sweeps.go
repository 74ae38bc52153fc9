package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// swept are the measures that are drawn over what a sweep varies.
var swept = []string{"leak_rate", "lpr", "wpr", "lcpr", "consistency", "accuracy"}

// sweeps are lines over the columns of conditions that are numbers.
func (b *Book) sweeps() (figures []Figure) {
	for _, measure := range swept {
		for _, column := range b.numeric(measure) {
			for _, p := range b.parts([]string{measure}, "model", column) {
				l := Lines{Axis: column}
				l.Reference, l.Meaning = baseline(measure)
				for _, model := range p.values("model") {
					var dots []Dot
					for _, e := range p.estimates {
						if x, err := strconv.ParseFloat(e.By[column], 64); err == nil && e.By["model"] == model {
							dots = append(dots, Dot{X: x, Estimate: e})
						}
					}
					slices.SortFunc(dots, func(a, b Dot) int { return cmp.Compare(a.X, b.X) })
					l.Series, l.Dots = append(l.Series, model), append(l.Dots, dots)
				}
				figures = append(figures, titled(l.Draw(), words(measure)+" over "+words(column), p, intervals))
			}
		}
	}
	return figures
}

// numeric are the condition columns of a measure with several numbers.
func (b *Book) numeric(measure string) (columns []string) {
	values := map[string][]string{}
	for _, e := range b.estimates {
		if e.Measure == measure {
			for c, v := range e.By {
				if !slices.Contains(values[c], v) {
					values[c] = append(values[c], v)
				}
			}
		}
	}
	for _, c := range sortedKeys(values) {
		numbers := !slices.ContainsFunc(values[c], func(v string) bool {
			x, err := strconv.ParseFloat(v, 64)
			return err != nil || math.IsNaN(x) || math.IsInf(x, 0)
		})
		if numbers && len(values[c]) > 1 {
			columns = append(columns, c)
		}
	}
	return columns
}

// apart are the condition columns whose values are no settings of a model to be
// compared.
var apart = []string{"model", "similarity", "protocol", "dataset", "language", "task", "pair", "part", "at", "distribution", "reading", "class", "from", "to"}

// settings are bars over the columns of conditions that are words: where an
// instruction stands, how a prompt is put.
func (b *Book) settings() (figures []Figure) {
	for _, measure := range swept {
		for _, column := range b.varied(measure) {
			for _, p := range b.parts([]string{measure}, "model", column) {
				rows, models := p.rows("model", column)
				bars := Bars{Series: models, Rows: rows}
				bars.Reference, bars.Meaning = baseline(measure)
				figures = append(figures, titled(bars.Draw(), words(measure)+" by "+words(column), p, intervals))
			}
		}
	}
	return figures
}

// varied are the condition columns of a measure with several values that are
// not all numbers.
func (b *Book) varied(measure string) (columns []string) {
	grouped, numeric := b.groupColumns(measure), b.numeric(measure)
	values := map[string]map[string]bool{}
	for _, e := range b.estimates {
		if e.Measure == measure {
			for c, v := range e.By {
				if values[c] == nil {
					values[c] = map[string]bool{}
				}
				values[c][v] = true
			}
		}
	}
	for _, c := range sortedKeys(values) {
		if len(values[c]) > 1 && !slices.Contains(apart, c) && !slices.Contains(grouped, c) && !slices.Contains(numeric, c) {
			columns = append(columns, c)
		}
	}
	return columns
}
