package recorded

import (
	"crosstalk/internal/table"
	"fmt"
	"iter"
)

// readRows yields what read makes of a file's rows, up to an error.
func readRows[T any](path string, read func(table.Row) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		empty := true
		for row, err := range table.Read(path) {
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
