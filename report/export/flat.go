package export

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// first are the first columns, in this order; the others follow by name.
var first = []string{"measure", "item", "cluster", "key", "sample", "variant", "value", "not_scored", "implied", "finding",
	"provider", "endpoint", "model", "prompt", "status", "text", "reasoning", "reason"}

func columnsOf(rows iter.Seq2[row, error]) (columns []string, err error) {
	known := map[string]bool{}
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		for _, c := range r {
			if !known[c.name] {
				known[c.name] = true
				columns = append(columns, c.name)
			}
		}
	}
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(columns, func(a, b string) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a, b))
	})
	return columns, nil
}

// writeCSV reads the rows twice: their columns, then their values.
func writeCSV(w io.Writer, rows iter.Seq2[row, error]) error {
	columns, err := columnsOf(rows)
	if err != nil {
		return err
	}
	out, at := csv.NewWriter(w), map[string]int{}
	for i, name := range columns {
		at[name] = i
	}
	out.Write(columns)
	record := make([]string, len(columns))
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
