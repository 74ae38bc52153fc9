package export

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// first are the first columns, in this order; the others follow by name.
var first = []string{"measure", "item", "cluster", "key", "sample", "variant", "value", "not_scored", "implied",
	"finding", "signature", "run", "version",
	"provider", "endpoint", "model", "prompt", "status", "text", "reasoning", "reason"}

// columnsOf are the columns of all rows.
func columnsOf(rows iter.Seq2[row, error]) ([]string, error) {
	known := map[string]bool{}
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		for name := range r {
			known[name] = true
		}
	}
	place := func(name string) int { return slices.Index(append(slices.Clip(first), name), name) }
	return slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a, b))
	}), nil
}

// writeCSV reads the rows twice: their columns, then their values.
func writeCSV(w io.Writer, rows iter.Seq2[row, error]) error {
	columns, err := columnsOf(rows)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.Write(columns)
	record := make([]string, len(columns))
	for r, err := range rows {
		if err != nil {
			return err
		}
		for i, name := range columns {
			switch x := r[name].(type) {
			case nil:
				record[i] = ""
			case float64:
				record[i] = strconv.FormatFloat(x, 'g', -1, 64)
			default:
				record[i] = fmt.Sprint(x)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
