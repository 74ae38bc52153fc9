package instrument

import (
	"cmp"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
)

// Columns lists all columns of rows, conditions first, then the others by name.
func Columns(rows []map[string]string) (columns []string) {
	others := map[string]string{}
	for _, row := range rows {
		maps.Copy(others, row)
	}
	for _, c := range Apart() {
		if _, has := others[c]; has {
			columns = append(columns, c)
			delete(others, c)
		}
	}
	return append(columns, slices.Sorted(maps.Keys(others))...)
}

// ByColumns lists the columns of figures, in the order of Columns.
func ByColumns(estimates []crosstalk.Estimate) []string {
	return Columns(ordered.Map(estimates, func(e crosstalk.Estimate) map[string]string { return e.By }))
}

// GroupColumns returns the columns by which figures are grouped: those with the value "all" somewhere.
func GroupColumns(estimates []crosstalk.Estimate) []string {
	return slices.DeleteFunc(ByColumns(estimates), func(c string) bool {
		return !slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.By[c] == crosstalk.All })
	})
}

// IsTotal reports whether a figure is over all values of these columns.
func IsTotal(e crosstalk.Estimate, columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return cmp.Or(e.By[c], crosstalk.All) != crosstalk.All })
}

// Totals returns the figures over all groups.
func Totals(estimates []crosstalk.Estimate) []crosstalk.Estimate {
	columns := GroupColumns(estimates)
	return slices.DeleteFunc(slices.Clone(estimates), func(e crosstalk.Estimate) bool { return !IsTotal(e, columns) })
}
