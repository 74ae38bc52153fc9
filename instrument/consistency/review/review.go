// Package review holds the files that people edit between two steps of a
// consistency measurement: what the model made of instructions, before they are
// used; answers whose reading is doubtful; and inconsistent pairs of answers,
// for coding.
package review

import (
	"encoding/csv"
	"io"
	"os"
)

// replace writes a file aside and renames it when it is whole.
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
