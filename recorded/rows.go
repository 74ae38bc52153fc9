package recorded

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/table"
)

// thoughtColumns are what a model thought, in files that keep it apart from the
// answer as servers do. They are neither scored nor labels.
var thoughtColumns = []string{"reasoning_content", "reasoning_details"}

// rowsOf yields what read makes of a file's rows, up to an error.
func rowsOf[T any](rows iter.Seq2[table.Row, error], path string, read func(table.Row) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		empty := true
		for row, err := range rows {
			if err == nil && row.Blank() {
				continue
			}
			var v T
			if err == nil {
				v, err = read(row)
			}
			if !yield(v, err) || err != nil {
				return
			}
			empty = false
		}
		if empty {
			var none T
			yield(none, fmt.Errorf("%s: has no rows", path))
		}
	}
}

// where is a row's file and line.
func where(row table.Row) string { return fmt.Sprintf("%s:%d", row.File, row.Line) }

// labelsOf are the columns that are neither thoughts nor contents.
func labelsOf(values map[string]string, contents []string) map[string]string {
	labels := make(map[string]string, len(values)+1)
	for column, value := range values {
		if value != "" && column != "" && !slices.Contains(contents, column) && !slices.Contains(thoughtColumns, column) {
			labels[column] = value
		}
	}
	return labels
}

// refuseLists refuses a list instead of text in one of the columns. It would be read as
// empty.
func refuseLists(row table.Row, columns []string) error {
	for _, column := range columns {
		if _, list := row.Lists[column]; list {
			return row.Errorf("%s is a list; expected text", column)
		}
	}
	return nil
}

// numberIn reads a column's whole number, which may be missing.
func numberIn(row table.Row, column string, least int) (n int, stated bool, err error) {
	s := strings.TrimSpace(row.Values[column])
	if s == "" {
		return 0, false, nil
	}
	n, ok := wholeNumber(s)
	if !ok || n < least {
		return 0, false, row.Errorf("%s is %q; expected a whole number from %d", column, s, least)
	}
	return n, true, nil
}

// wholeNumber reads a number from 0; a workbook or a data frame may say 12.0.
func wholeNumber(s string) (int, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > 1<<30 {
		return 0, false
	}
	return int(f), true
}
