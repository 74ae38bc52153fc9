package compare_test

import (
	"io"

	"crosstalk/compare"
	"crosstalk/report/results"
)

func init() {
	compare.Write = func(w io.Writer, format string, r compare.Result) error {
		return results.Comparison{Result: r}.Write(w, format)
	}
	compare.WritePower = results.WritePower
}
