package results

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/gate"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/report"
	"crosstalk/report/plot"
)

// History is a history of runs, as tables and plots show it.
type History struct{ gate.History }

// DateColumn is the column with the date of a figure in a history.
const DateColumn = "date"

// day returns the date of a night, with the time if several nights share a date.
func (h History) day(at int) string {
	day := func(n gate.Night) string { return n.Date.Format(time.DateOnly) }
	for i, n := range h.Nights {
		if i != at && day(n) == day(h.Nights[at]) {
			return h.Nights[at].Date.Format("2006-01-02 15:04") + " " + h.Nights[at].Name
		}
	}
	return day(h.Nights[at])
}

// Title describes the runs.
func (h History) Title() string {
	return fmt.Sprintf("%s of %s, %d runs", h.Kind.Title, h.Suite, len(h.Nights))
}

// change describes since when the nights are worse than the first.
func (h History) change(s gate.Series) string {
	if s.Change == nil {
		return "Whether it became worse is not known: no two nights share their items"
	}
	margin := numbers.Points(float64(s.Change.Margin))
	if s.Since < 0 {
		return fmt.Sprintf("No night shows that it is worse than %s by more than %s", h.day(0), margin)
	}
	return fmt.Sprintf("Worse since %s, by more than %s: evidence %.3g, %.3g is enough", h.day(s.Since), margin,
		float64(s.Change.Evidence), float64(s.Change.Limit))
}

// Last describes what the last night found.
func (h History) Last() (lines []string) {
	for _, s := range h.Series {
		lines = append(lines, h.last(s)...)
	}
	return lines
}

func (h History) last(s gate.Series) []string {
	e := s.Figures[h.Kind.Faults.Measure]
	if e == nil || e[len(h.Nights)-1] == nil || report.Plain(*e[len(h.Nights)-1]) == "" {
		return nil
	}
	return []string{"Last: " + report.Plain(*e[len(h.Nights)-1])}
}

// Tables returns a table of each series, by date.
func (h History) Tables() (tables []report.Table) {
	for _, s := range h.Series {
		t := report.Table{Left: 1, Header: []string{"date", "any fault", "%", "95 % interval"},
			Heading: []string{h.Title()}}
		for _, column := range slices.Sorted(maps.Keys(s.By)) {
			if s.By[column] != crosstalk.All {
				t.Heading = append(t.Heading, crosstalk.Words(column)+" "+s.By[column])
			}
		}
		t.Heading = append(append(t.Heading, h.last(s)...), h.change(s))
		for _, m := range s.Measures {
			if !instrument.IsFault(m) {
				t.Header = append(t.Header, h.Kind.Measure(m).Label+" %")
			}
		}
		t.Header = append(t.Header, "")
		for at := range h.Nights {
			row := []string{h.day(at), "-", "-", "-"}
			for _, m := range s.Measures {
				e := s.Figures[m][at]
				switch {
				case !instrument.IsFault(m) && e == nil:
					row = append(row, "-")
				case !instrument.IsFault(m):
					row = append(row, numbers.Value(e.Value, e.Unit))
				case e != nil && report.Faulty(*e) >= 0:
					row[1], row[2] = fmt.Sprintf("%d of %d", report.Faulty(*e), e.Observations), numbers.Percent(e.Value)
					if e.Interval != nil {
						row[3] = numbers.Interval(e.Interval, e.Unit)
					}
				}
			}
			mark := ""
			if at == s.Since {
				mark = "worse since here"
			}
			t.Rows = append(t.Rows, append(row, mark))
		}
		if h.LeftOut > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%d unfinished runs are left out", h.LeftOut))
		}
		tables = append(tables, t)
	}
	return tables
}

// Write writes the history in one of report.Formats: tables for people, otherwise the figures with their dates.
func (h History) Write(w io.Writer, format string) error {
	tables := h.Tables()
	switch {
	case format == report.Formats[0]:
		for i, t := range tables {
			heading := strings.Repeat("\n", min(i, 1)) + strings.Join(t.Heading, "\n  ")
			if _, err := fmt.Fprintf(w, "%s\n\n", heading); err != nil {
				return err
			}
			t.Heading = nil
			if err := report.WriteTable(w, format, t); err != nil {
				return err
			}
		}
		return nil
	case report.ForPeople(format):
		return report.WriteTables(w, format, tables)
	}
	var all []crosstalk.Estimate
	for _, s := range h.Series {
		for at, night := range h.Nights {
			for _, m := range s.Measures {
				if e := s.Figures[m][at]; e != nil {
					of := *e
					of.By = maps.Clone(e.By)
					of.By[compare.RunColumn], of.By[DateColumn] = night.Name, night.Date.Format(time.RFC3339)
					all = append(all, of)
				}
			}
		}
	}
	return report.Write(w, format, all)
}

// Plots returns a line chart of each measure over the days since the first night, with a line for each series.
func (h History) Plots() []plot.Plot {
	var measures []string
	var columns []map[string]string
	for _, s := range h.Series {
		measures, columns = append(measures, s.Measures...), append(columns, s.By)
	}
	var plots []plot.Plot
	for _, m := range ordered.Distinct(measures, func(m string) string { return m }) {
		l := plot.Lines{Axis: "days since " + h.Nights[0].Date.Format(time.DateOnly)}
		for _, s := range h.Series {
			var dots []plot.Dot
			for at, night := range h.Nights {
				e := s.Figures[m][at]
				if e == nil || !e.Value.Defined() {
					continue
				}
				d := plot.Dot{X: night.Date.Sub(h.Nights[0].Date).Hours() / 24, Estimate: e}
				if at == s.Since {
					d.Label = "worse since " + h.day(at)
				}
				dots = append(dots, d)
			}
			l.Series = append(l.Series, cmp.Or(report.Apart(s.By, columns), h.Kind.Title))
			l.Dots = append(l.Dots, dots)
		}
		p := l.Draw()
		p.Name, p.Title = "history-"+strings.ReplaceAll(m, "_", "-"),
			fmt.Sprintf("%s of %s by date", h.Kind.Measure(m).Label, h.Suite)
		p.Note = "Thin lines are 95 % intervals."
		plots = append(plots, p)
	}
	return plot.Named(plots)
}
