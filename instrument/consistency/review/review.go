// Package review reads and writes the files that people edit between two steps
// of a consistency measurement: rewritten instructions before they are used,
// answers with an uncertain reading, and inconsistent pairs of answers to code.
package review

import (
	"encoding/csv"
	"io"
	"os"
)

// replace writes a temporary file and renames it when it is complete.
func replace(path string, write func(io.Writer) error) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return os.Rename(f.Name(), path)
}

// writeCSV writes a table.
func writeCSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	c.Write(header)
	c.WriteAll(rows)
	return c.Error()
}
