package report

import "crosstalk"

// Tables lays estimates out, a table for each run of estimates that share
// their condition.
func Tables(estimates []crosstalk.Estimate) []Table {
	var tables []Table
	for _, g := range grids(estimates) {
		tables = append(tables, Table{Heading: g.heading, Header: g.header, Left: g.left, Rows: g.rows, Notes: g.notes})
	}
	return tables
}
