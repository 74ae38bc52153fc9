package gate_test

import (
	"io"

	"crosstalk/gate"
	"crosstalk/report/results"
)

func init() {
	gate.Write, gate.WriteJUnit = results.WriteVerdict, results.WriteJUnit
	gate.WriteAnnotations, gate.WriteSummary = results.WriteAnnotations, results.WriteSummary
	gate.WriteReports = func(w io.Writer, to gate.Reports, v gate.Verdict) error { return results.Reports(to).Write(w, v) }
	gate.Shown = func(h gate.History) gate.ShownHistory { return results.History{History: h} }
}
