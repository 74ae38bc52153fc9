package pivot

import (
	"slices"
	"strings"

	"crosstalk"
)

// rival is a figure in a cell, by row and column.
type rival struct {
	*crosstalk.Estimate
	place [2]int
}

// best are the cells, by row and column, whose figure is the best of those that compete with it: the cells of its
// column, if values in rows compete, else of its row. They differ from it only in the columns that compete. Equal
// ones, as printed, are all the best, unless no other competes. Figures over all values of such a column, undefined
// ones and those that have no better direction do not compete.
func (l *layout) best() map[[2]int]bool {
	columns := slices.Concat(l.Rows, l.Columns)
	competes := func(i int) bool { return slices.Contains(l.Compete, columns[i]) }
	from, to := 0, len(l.Rows)
	if !slices.ContainsFunc(l.Rows, func(column string) bool { return slices.Contains(l.Compete, column) }) {
		from, to = to, len(columns)
	}
	groups := map[string][]rival{} // by what does not compete
	for r, row := range l.rows {
		for c, column := range l.columns {
			e, _ := l.at(row, column)
			values, among, over := slices.Concat(row, column), false, false
			for i := from; i < to; i++ {
				if competes(i) {
					among, over = true, over || values[i] == crosstalk.All
					values[i] = ""
				}
			}
			if among && !over && e != nil && e.Value.Defined() && e.Better != "" {
				key := strings.Join(values, "\x00")
				groups[key] = append(groups[key], rival{e, [2]int{r, c}})
			}
		}
	}
	best := map[[2]int]bool{}
	for _, group := range groups {
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
