package plot

import (
	"crosstalk"
)

// groups are plots for each column by which estimates are grouped: heat maps by
// model for columns with many values, dot plots for the others.
func (c *Collector) groups(chart crosstalk.Chart) (plots []Plot) {
	const few = 5
	for _, measure := range chart.Measures {
		for _, column := range c.groupColumns(measure) {
			for _, p := range c.panelsOf([]string{measure}, crosstalk.ModelColumn, column) {
				rows, models := p.rows(crosstalk.ModelColumn, column)
				if len(rows) < 2 {
					continue
				}
				title := labelOf(measure) + " by " + words(column)
				if len(models) > 1 && (len(rows) > few || len(models) > 3) {
					heat := Heat{Columns: models, Rows: rows}
					plots = append(plots, titled(heat.Draw(), title+" and model", p, "The tables have the intervals."))
					continue
				}
				plots = append(plots, titled(newDotPlot(measure, rows, models).Draw(), title, p, intervals))
			}
		}
	}
	return plots
}

// groupColumns are the columns for which a measure has totals and groups.
func (c *Collector) groupColumns(measure string) (columns []string) {
	all, one := map[string]bool{}, map[string]bool{}
	for _, e := range c.estimates {
		if e.Measure == measure {
			for column, v := range e.By {
				all[column], one[column] = all[column] || v == crosstalk.All, one[column] || v != crosstalk.All
			}
		}
	}
	for _, column := range sortedKeys(all) {
		if all[column] && one[column] {
			columns = append(columns, column)
		}
	}
	return columns
}
