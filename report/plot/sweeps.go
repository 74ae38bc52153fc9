package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"crosstalk"
)

// sweeps are line charts over the numeric columns of conditions.
func (c *Collector) sweeps(chart crosstalk.Chart) (plots []Plot) {
	for _, measure := range chart.Measures {
		for _, column := range c.numeric(measure) {
			for _, p := range c.panelsOf([]string{measure}, crosstalk.ModelColumn, column) {
				l := Lines{Axis: column}
				l.Reference, l.Meaning = baseline(measure)
				for _, model := range p.values(crosstalk.ModelColumn) {
					var dots []Dot
					for _, e := range p.estimates {
						if x, err := strconv.ParseFloat(e.By[column], 64); err == nil && e.By[crosstalk.ModelColumn] == model {
							dots = append(dots, Dot{X: x, Estimate: e})
						}
					}
					slices.SortFunc(dots, func(a, b Dot) int { return cmp.Compare(a.X, b.X) })
					l.Series, l.Dots = append(l.Series, model), append(l.Dots, dots)
				}
				plots = append(plots, titled(l.Draw(), labelOf(measure)+" over "+words(column), p, intervals))
			}
		}
	}
	return plots
}

// valuesOf are the values of each column of a measure's figures.
func (c *Collector) valuesOf(measure string) map[string][]string {
	values := map[string][]string{}
	for _, e := range c.estimates {
		if e.Measure == measure {
			for column, v := range e.By {
				if !slices.Contains(values[column], v) {
					values[column] = append(values[column], v)
				}
			}
		}
	}
	return values
}

// numeric are the condition columns of a measure with several numbers.
func (c *Collector) numeric(measure string) (columns []string) {
	values := c.valuesOf(measure)
	for _, column := range sortedKeys(values) {
		numbers := !slices.ContainsFunc(values[column], func(v string) bool {
			x, err := strconv.ParseFloat(v, 64)
			return err != nil || math.IsNaN(x) || math.IsInf(x, 0)
		})
		if numbers && len(values[column]) > 1 {
			columns = append(columns, column)
		}
	}
	return columns
}

// settings are dot plots over the other columns of conditions, such as the
// position of an instruction or the template of a prompt.
func (c *Collector) settings(kind crosstalk.Kind, chart crosstalk.Chart) (plots []Plot) {
	for _, measure := range chart.Measures {
		for _, column := range c.varied(kind, measure) {
			for _, p := range c.panelsOf([]string{measure}, crosstalk.ModelColumn, column) {
				rows, models := p.rows(crosstalk.ModelColumn, column)
				plots = append(plots, titled(newDotPlot(measure, rows, models).Draw(), labelOf(measure)+" by "+words(column), p, intervals))
			}
		}
	}
	return plots
}

// varied are the condition columns of a measure with several values that are not
// all numbers and that are settings of a model, without the model itself and the
// columns that the instrument adds.
func (c *Collector) varied(kind crosstalk.Kind, measure string) (columns []string) {
	apart := []string{crosstalk.ModelColumn, crosstalk.ProtocolColumn}
	for _, column := range kind.Columns {
		apart = append(apart, column.Key)
	}
	apart = slices.Concat(apart, c.groupColumns(measure), c.numeric(measure))
	values := c.valuesOf(measure)
	for _, column := range sortedKeys(values) {
		if len(values[column]) > 1 && !slices.Contains(apart, column) {
			columns = append(columns, column)
		}
	}
	return columns
}
