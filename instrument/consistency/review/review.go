// Package review reads and writes the files that people edit between two steps
// of a consistency measurement: rewritten instructions before they are used,
// answers with an uncertain reading, and inconsistent pairs of answers to code.
package review

import (
	"encoding/csv"
	"io"
)

// writeCSV writes a table.
func writeCSV(w io.Writer, header []string, rows [][]string) error {
	return csv.NewWriter(w).WriteAll(append([][]string{header}, rows...))
}
