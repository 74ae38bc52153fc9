package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/parquet"
)

// flat writes rows as CSV or Parquet.
func flat(w io.Writer, format string, rows iter.Seq2[row, error]) error {
	columns, err := columnsOf(rows)
	if err != nil {
		return err
	}
	switch format {
	case CSV:
		return writeCSV(w, columns, rows)
	case Parquet:
		return writeParquet(w, columns, rows)
	}
	return CheckFormat(format)
}

// column is a column with an example of its values.
type column struct {
	name  string
	value any
}

// first are the first columns, in this order; the others follow by name.
var first = []string{"measure", "item", "cluster", "key", "sample", "variant", "value", "not_scored", "implied", "finding",
	"provider", "endpoint", "model", "prompt", "status", "text", "reasoning", "reason"}

func columnsOf(rows iter.Seq2[row, error]) (columns []column, err error) {
	known := map[string]bool{}
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		for _, c := range r {
			if !known[c.name] {
				known[c.name] = true
				columns = append(columns, column(c))
			}
		}
	}
	place := func(c column) int {
		if i := slices.Index(first, c.name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(columns, func(a, b column) int {
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	return columns, nil
}

// places are the indexes of the columns.
func places(columns []column) map[string]int {
	at := map[string]int{}
	for i, c := range columns {
		at[c.name] = i
	}
	return at
}

func writeCSV(w io.Writer, columns []column, rows iter.Seq2[row, error]) error {
	out, at := csv.NewWriter(w), places(columns)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	out.Write(record)
	for r, err := range rows {
		if err != nil {
			return err
		}
		clear(record)
		for _, c := range r {
			if x, ok := c.value.(float64); ok {
				record[at[c.name]] = strconv.FormatFloat(x, 'g', -1, 64)
			} else {
				record[at[c.name]] = fmt.Sprint(c.value)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeParquet(w io.Writer, columns []column, rows iter.Seq2[row, error]) error {
	kinds := make([]parquet.Column, len(columns))
	for i, c := range columns {
		kinds[i] = parquet.Column{Name: c.name, Kind: parquet.Text}
		switch c.value.(type) {
		case float64:
			kinds[i].Kind = parquet.Double
		case int64:
			kinds[i].Kind = parquet.Int
		}
	}
	out, at := parquet.NewWriter(w, kinds), places(columns)
	values := make([]any, len(columns))
	for r, err := range rows {
		if err != nil {
			return err
		}
		clear(values)
		for _, c := range r {
			values[at[c.name]] = c.value
		}
		if err := out.Write(values); err != nil {
			return err
		}
	}
	return out.Close()
}
