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

var first = []string{"measure", "item", "cluster", "key", "sample", "variant", "value", "not_scored", "implied",
	"finding", "signature", "run", "version",
	"provider", "endpoint", "model", "prompt", "status", "text", "reasoning", "reason"}

// inOrder puts the names of columns in order: the first ones, others by name, the last ones.
func inOrder(names iter.Seq[string], first, last []string) []string {
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i - len(first)
		}
		return slices.Index(last, name) + 1
	}
	return slices.SortedFunc(names, func(a, b string) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a, b))
	})
}

// WriteCSV writes a column for each name that occurs in any row, some of them first or last; others are sorted.
// It reads the rows twice.
func WriteCSV(w io.Writer, rows iter.Seq2[Row, error], first, last []string) error {
	names := Row{}
	for r, err := range rows {
		if err != nil {
			return err
		}
		maps.Copy(names, r)
	}
	columns := inOrder(maps.Keys(names), first, last)
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
