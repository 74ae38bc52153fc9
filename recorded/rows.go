package recorded

import (
	"crosstalk/internal/table"
	"fmt"
	"iter"
)

// thoughtColumns are what a model thought, in files that keep it apart from the
// answer as servers do. They are neither scored nor labels.
var thoughtColumns = []string{"reasoning_content", "reasoning_details"}

// readRows yields what read makes of a file's rows, up to an error.
func readRows[T any](path string, read func(table.Row) (T, error)) iter.Seq2[T, error] {
	return rowsOf(table.Read(path), path, read)
}

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
