package report

import "crosstalk"

// Table is some estimates as rows and columns of text, as people read them.
type Table struct {
	Heading []string // what all rows share
	Header  []string
	Left    int // how many columns from the left hold words
	Rows    [][]string
	Notes   []string // signatures and warnings
}

// Tables lays estimates out, a table for each run of estimates that share
// their condition.
func Tables(estimates []crosstalk.Estimate) []Table {
	var tables []Table
	for _, g := range grids(estimates) {
		tables = append(tables, Table{g.heading, g.header, g.left, g.rows, g.notes})
	}
	return tables
}
