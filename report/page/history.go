package page

import (
	"io"

	"crosstalk/report"
	"crosstalk/report/plot"
)

// WriteHistory writes a page of runs by date: what the headings of the tables say, the plots, and the tables.
func WriteHistory(w io.Writer, title string, tables []report.Table, plots []plot.Plot) error {
	return templates().ExecuteTemplate(w, "history.html", struct {
		Title  string
		Tables []report.Table
		Plots  []plot.Plot
	}{title, tables, plots})
}
