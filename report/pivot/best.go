package pivot

import (
	"slices"

	"crosstalk"
)

// best are the cells, by row and column, whose figure is the best of those that compete with it: the cells of its
// column, if values in rows compete, else of its row. They differ from it only in the columns that compete. Equal
// ones, as printed, are all the best, unless no other competes.
func (l *layout) best() map[[2]int]bool {
	competes := func(columns []string) []bool {
		flags := make([]bool, len(columns))
		for i, column := range columns {
			flags[i] = slices.Contains(l.Compete, column)
		}
		return flags
	}
	rows, columns := competes(l.Rows), competes(l.Columns)
	if slices.Contains(rows, true) {
		columns = make([]bool, len(columns))
	}
	best := map[[2]int]bool{}
	for _, group := range l.rivals(rows, columns) {
		winner := group[0]
		for _, r := range group {
			if r.Better == crosstalk.Higher && r.Value > winner.Value || r.Better == crosstalk.Lower && r.Value < winner.Value {
				winner = r
			}
		}
		is := func(r rival) bool { return l.Text(*r.Estimate) == l.Text(*winner.Estimate) }
		for _, r := range group {
			if is(r) && slices.ContainsFunc(group, func(r rival) bool { return !is(r) }) {
				best[r.place] = true
			}
		}
	}
	return best
}

// rival is a figure in a cell, by row and column.
type rival struct {
	*crosstalk.Estimate
	place [2]int
}

// rivals are groups of cells that differ only in the competing columns. Figures over all values of such a column,
// undefined ones and those that have no better direction do not compete.
func (l *layout) rivals(rows, columns []bool) map[string][]rival {
	groups := map[string][]rival{}
	if !slices.Contains(rows, true) && !slices.Contains(columns, true) {
		return nil
	}
	for r, row := range l.rows {
		for c, column := range l.columns {
			e, _ := l.at(row, column)
			if e == nil || !e.Value.Defined() || e.Better == "" {
				continue
			}
			key, over := "", false
			for i, v := range slices.Concat(row, column) {
				if slices.Concat(rows, columns)[i] {
					over = over || v == crosstalk.All
					v = ""
				}
				key += v + "\x00"
			}
			if !over {
				groups[key] = append(groups[key], rival{e, [2]int{r, c}})
			}
		}
	}
	return groups
}
