// Package review holds the files that people edit between two steps of a
// consistency measurement: what the model made of instructions, before they are
// used; answers whose reading is doubtful; and inconsistent pairs of answers,
// for coding.
package review

import (
	"encoding/csv"
	"io"
)

// writeCSV writes a table.
func writeCSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	c.Write(header)
	c.WriteAll(rows)
	return c.Error()
}
