package accept

import "io"

// The writer of package report/results, which imports this one: package accept_test sets it.
var Write func(w io.Writer, format string, of Result) error
