package plot

import (
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/labels"
)

// sideRow is a bar of the observations of a measure that compares two answers: which
// is closer to something, the first part of a chart (0), the last (1), or neither (0.5).
type sideRow struct {
	sideKey
	counts [3]float64 // of the values 0, 0.5 and 1
}

type sideKey struct{ set, judge, model string }

// addSides adds an observation if its measure has a SideChart.
func (c *Collector) addSides(kind crosstalk.Kind, o crosstalk.Observation, judge string, weight float64) {
	if !slices.ContainsFunc(kind.Charts, func(chart crosstalk.Chart) bool {
		return chart.Form == crosstalk.SideChart && slices.Contains(chart.Measures, o.Measure)
	}) {
		return
	}
	side := slices.Index([]float64{0, 0.5, 1}, float64(o.Value))
	_, scored := o.Numbers[kind.Measure(o.Measure).Numbers[0]]
	if side < 0 || o.NotScored != "" || !scored && judge != labels.People {
		return
	}
	var set []string
	for _, column := range slices.Sorted(maps.Keys(o.Condition)) {
		if column != crosstalk.ModelColumn && column != kind.Judge {
			set = append(set, words(column)+" "+o.Condition[column])
		}
	}
	for _, column := range kind.Columns {
		if v := o.Labels[column.Key]; v != "" && column.Apart {
			set = append(set, words(column.Key)+" "+v)
		}
	}
	key := sideKey{strings.Join(set, " · "), judge, o.Condition[crosstalk.ModelColumn]}
	rows := c.sides[o.Measure]
	i := slices.IndexFunc(rows, func(r *sideRow) bool { return r.sideKey == key })
	if i < 0 {
		i, rows = len(rows), append(rows, &sideRow{sideKey: key})
		c.sides[o.Measure] = rows
	}
	rows[i].counts[side] += weight
}

// sideCharts are bars of the shares, one plot for each set of conditions.
func (c *Collector) sideCharts(chart crosstalk.Chart) (plots []Plot) {
	all := c.sides[chart.Measures[0]]
	judges := ordered.Distinct(all, func(r *sideRow) string { return r.judge })
	sets := ordered.Groups(all, func(r *sideRow) string { return r.set })
	for _, rows := range sets[:min(len(sets), mostPanels)] {
		shares := Shares{Parts: chart.Parts, Middle: 1}
		slices.SortStableFunc(rows, func(a, b *sideRow) int { return strings.Compare(a.model, b.model) })
		for _, r := range rows {
			row := ShareRow{Row: Row{Label: r.model}, Counts: r.counts[:]}
			switch {
			case len(judges) > 1 && rows[0].model == rows[len(rows)-1].model:
				row.Label = r.judge
			case len(judges) > 1:
				row.Below = r.judge
			}
			shares.Rows = append(shares.Rows, row)
		}
		plots = append(plots, panel{of: rows[0].set}.titled(shares.Draw().about(chart.Title, chart.Note)))
	}
	return plots
}
