package compare

import "io"

// The writers of package report/results, which imports this one: package compare_test sets them.
var (
	Write      func(w io.Writer, format string, r Result) error
	WritePower func(w io.Writer, format string, p Power) error
)
