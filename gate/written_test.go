package gate

import (
	"io"

	"crosstalk/report"
	"crosstalk/report/plot"
)

// The writers of package report/results, which imports this one: package gate_test sets them.
var (
	Write                                      func(w io.Writer, format string, v Verdict) error
	WriteJUnit, WriteAnnotations, WriteSummary func(w io.Writer, v Verdict) error
	WriteReports                               func(w io.Writer, to Reports, v Verdict) error
	Shown                                      func(h History) ShownHistory
)

// Reports are results.Reports.
type Reports struct {
	Annotations    bool
	JUnit, Summary string
}

// ShownHistory is a results.History.
type ShownHistory interface {
	Title() string
	Last() []string
	Tables() []report.Table
	Plots() []plot.Plot
	Write(w io.Writer, format string) error
}
