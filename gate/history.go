package gate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/measure/stats"
	"crosstalk/report"
	"crosstalk/report/plot"
	"crosstalk/run"
)

// History contains the figures of runs that differ only by their date, the oldest first.
type History struct {
	Nights  []Night
	Series  []Series
	LeftOut int // unfinished runs
	kind    crosstalk.Kind
	suite   string // the first night's; suites of recorded answers may be named differently in each file
	across  []string
}

// Night is a run of a history.
type Night struct {
	Path, Name string
	Date       time.Time // from the directory's name (2026-11-22), or else when the figures were written
	estimates  []crosstalk.Estimate
}

// Series has the figures of one condition: totals by night, by measure, with any fault first.
type Series struct {
	By       map[string]string
	Measures []string
	figures  map[string][]*crosstalk.Estimate // by measure; nil if a night has none
	Change   *Nightly                         // evidence that answers are worse than in the first night; nil: unknown
	since    int                              // the first night of the change, from 0; -1: none
}

// DateColumn is the column with the date of a figure in a history.
const DateColumn = "date"

var dated = regexp.MustCompile(`(?:^|\D)(\d{4})-?(\d\d)-?(\d\d)(?:\D|$)`)

func dateOf(path string) (time.Time, error) {
	for _, name := range []string{filepath.Base(path), filepath.Base(filepath.Dir(path))} {
		if m := dated.FindStringSubmatch(name); m != nil {
			if t, err := time.Parse("20060102", m[1]+m[2]+m[3]); err == nil {
				return t, nil
			}
		}
	}
	info, err := os.Stat(filepath.Join(path, "estimates.json"))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// ErrNoHistory reports that runs differ by more than their date.
type ErrNoHistory struct{ why string }

func (e *ErrNoHistory) Error() string {
	return e.why + ": runs of one suite, model and settings are a history; " +
		"to lay out others, use 'crosstalk table RUN... --rows run --columns measure'"
}

// Histories reads the figures of runs. An error is an *ErrNoHistory if they differ by more than their date.
func Histories(paths []string) (h History, err error) {
	names := run.Names(paths)
	for i, path := range paths {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return h, err
		}
		n := Night{Path: path, Name: names[i]}
		if n.estimates, err = run.ReadEstimates(path); errors.Is(err, run.ErrUnfinished) {
			h.LeftOut++
			continue
		} else if err != nil {
			return h, err
		}
		if n.Date, err = dateOf(path); err != nil {
			return h, err
		}
		kind := instrument.Named(manifest.Plan.Instrument)
		if len(h.Nights) > 0 && kind.Name != h.kind.Name {
			return h, &ErrNoHistory{fmt.Sprintf("%s and %s are of different instruments", h.Nights[0].Name, n.Name)}
		}
		h.kind, h.suite = kind, cmp.Or(h.suite, manifest.Plan.Suite)
		if Recorded(manifest) && h.suite != manifest.Plan.Suite {
			h.suite, h.across = "recorded answers", []string{"suite"}
		}
		h.Nights = append(h.Nights, n)
	}
	if len(h.Nights) < 2 {
		return h, fmt.Errorf("a history needs two finished runs, found %d", len(h.Nights))
	}
	slices.SortStableFunc(h.Nights, func(a, b Night) int {
		return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Name, b.Name))
	})
	return h, h.collect()
}

// collect makes the series from the totals of each condition.
func (h *History) collect() error {
	for at, night := range h.Nights {
		for _, e := range report.Totals(night.estimates) {
			m := h.kind.Measure(e.Measure)
			if !m.Headline && e.Measure != h.kind.Faults.Measure {
				continue
			}
			i := slices.IndexFunc(h.Series, func(s Series) bool { return maps.Equal(s.By, e.By) })
			switch {
			case i < 0 && at > 0:
				return h.differs(night, e)
			case i < 0:
				i = len(h.Series)
				h.Series = append(h.Series, Series{By: e.By, figures: map[string][]*crosstalk.Estimate{}, since: -1})
			}
			s := &h.Series[i]
			if s.figures[e.Measure] == nil {
				s.figures[e.Measure] = make([]*crosstalk.Estimate, len(h.Nights))
				s.Measures = append(s.Measures, e.Measure)
			}
			s.figures[e.Measure][at] = &e
			if first := s.figures[e.Measure][0]; first != nil && h.signature(*first) != h.signature(e) {
				return &ErrNoHistory{fmt.Sprintf("%s of %s and %s have different signatures, %s and %s", m.Label,
					h.Nights[0].Name, night.Name, first.Signature, e.Signature)}
			}
		}
	}
	for i, s := range h.Series {
		for at, e := range s.figures[s.Measures[0]] {
			if e == nil {
				return &ErrNoHistory{fmt.Sprintf("%s and %s have different figures", h.Nights[0].Name, h.Nights[at].Name)}
			}
		}
		faults := slices.DeleteFunc(slices.Clone(s.Measures), func(m string) bool { return !instrument.IsFault(m) })
		h.Series[i].Measures = slices.Concat(faults, slices.DeleteFunc(s.Measures, instrument.IsFault))
	}
	return nil
}

var suiteField = regexp.MustCompile(`\|suite:[^|]*`)

// signature returns a figure's signature, without the suite if that may differ.
func (h *History) signature(e crosstalk.Estimate) string {
	if h.across != nil {
		return suiteField.ReplaceAllString(e.Signature, "")
	}
	return e.Signature
}

// Recorded reports whether a run scored answers that were recorded elsewhere.
func Recorded(m run.Manifest) bool {
	return len(m.Plan.Conditions) > 0 && m.Plan.Conditions[0].Model.Provider == "recorded"
}

// differs returns an error that names a column of the figure whose value the first night lacks.
func (h *History) differs(night Night, e crosstalk.Estimate) error {
	for _, column := range slices.Sorted(maps.Keys(e.By)) {
		if first := h.Series[0].By[column]; first != e.By[column] {
			return &ErrNoHistory{fmt.Sprintf("%s and %s differ by %s, %q and %q", h.Nights[0].Name, night.Name, column, first,
				e.By[column])}
		}
	}
	return &ErrNoHistory{fmt.Sprintf("%s and %s have different figures", h.Nights[0].Name, night.Name)}
}

// historyMargin is the loss that the nightly rule tests: more than chance, less than anybody accepts.
const historyMargin = 0.01

// FindChange judges the nights after the first by the nightly rule, as Rules.Check does with Night and a margin of one
// point: the probability of finding a change that is not there is at most 2.5 %, however many nights there are.
func (h *History) FindChange() error {
	paths := make([]string, len(h.Nights))
	for i, n := range h.Nights {
		paths[i] = n.Path
	}
	runs, err := compare.Open(paths, nil)
	if err != nil {
		return err
	}
	result, err := compare.Runs(runs, compare.Options{Measures: []string{h.kind.Faults.Measure}, Unpaired: true,
		Across: h.across})
	if err != nil && len(result.Refused) == 0 {
		return err
	}
	for i := range h.Series {
		s := &h.Series[i]
		for _, c := range result.Comparisons {
			differs := false
			for column, value := range s.By {
				differs = differs || cmp.Or(c.By[column], c.Condition[column], value) != value
			}
			if !differs && c.Measure == h.kind.Faults.Measure && c.Condition[compare.RunColumn] == runs[len(runs)-1].Name {
				s.Change = nightly(c, result.Comparisons, historyMargin)
			}
		}
		if s.Change != nil {
			s.Change.Limit = crosstalk.Value(40 * len(h.Series))
			s.since = s.Change.begins()
		}
	}
	return nil
}

// begins returns the night, from 1, since which answers are worse: up to the first night whose evidence reaches the
// limit, it is the night since which the evidence is largest. It is -1 if no evidence reaches the limit.
func (n Nightly) begins() int {
	if n.Evidence < n.Limit {
		return -1
	}
	evidence := func(nights []stats.Night) float64 {
		e, _ := stats.NightlyEvidence(nights, float64(n.Margin), n.faults)
		return e
	}
	found := 1
	for evidence(n.nights[:found]) < float64(n.Limit) {
		found++
	}
	first, most := 0, 0.0
	for at := range found {
		if e := evidence(n.nights[at:]); e > most {
			first, most = at, e
		}
	}
	return first + 1
}

// day returns the date of a night, with the time if several nights share a date.
func (h History) day(at int) string {
	day := func(n Night) string { return n.Date.Format(time.DateOnly) }
	for i, n := range h.Nights {
		if i != at && day(n) == day(h.Nights[at]) {
			return h.Nights[at].Date.Format("2006-01-02 15:04") + " " + h.Nights[at].Name
		}
	}
	return day(h.Nights[at])
}

// Title describes the runs.
func (h History) Title() string {
	return fmt.Sprintf("%s of %s, %d runs", h.kind.Title, h.suite, len(h.Nights))
}

// change describes since when the nights are worse than the first.
func (h History) change(s Series) string {
	if s.Change == nil {
		return "Whether it became worse is not known: no two nights share their items"
	}
	margin := points(100 * float64(s.Change.Margin))
	if s.since < 0 {
		return fmt.Sprintf("No night shows that it is worse than %s by more than %s", h.day(0), margin)
	}
	return fmt.Sprintf("Worse since %s, by more than %s: evidence %.3g, %.3g is enough", h.day(s.since), margin,
		float64(s.Change.Evidence), float64(s.Change.Limit))
}

// Last describes what the last night found.
func (h History) Last() (lines []string) {
	for _, s := range h.Series {
		lines = append(lines, h.last(s)...)
	}
	return lines
}

func (h History) last(s Series) []string {
	e := s.figures[h.kind.Faults.Measure]
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
				t.Header = append(t.Header, h.kind.Measure(m).Label+" %")
			}
		}
		t.Header = append(t.Header, "")
		for at := range h.Nights {
			row := []string{h.day(at), "-", "-", "-"}
			for _, m := range s.Measures {
				e := s.figures[m][at]
				switch {
				case !instrument.IsFault(m) && e == nil:
					row = append(row, "-")
				case !instrument.IsFault(m):
					row = append(row, report.Value(e.Value, e.Unit))
				case e != nil && report.Faulty(*e) >= 0:
					row[1], row[2] = fmt.Sprintf("%d of %d", report.Faulty(*e), e.Observations), report.Percent(e.Value)
					if e.Interval != nil {
						row[3] = report.Interval(e.Interval, e.Unit)
					}
				}
			}
			mark := ""
			if at == s.since {
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
				if e := s.figures[m][at]; e != nil {
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
				e := s.figures[m][at]
				if e == nil || !e.Value.Defined() {
					continue
				}
				d := plot.Dot{X: night.Date.Sub(h.Nights[0].Date).Hours() / 24, Estimate: e}
				if at == s.since {
					d.Label = "worse since " + h.day(at)
				}
				dots = append(dots, d)
			}
			l.Series = append(l.Series, cmp.Or(report.Apart(s.By, columns), h.kind.Title))
			l.Dots = append(l.Dots, dots)
		}
		p := l.Draw()
		p.Name, p.Title = "history-"+strings.ReplaceAll(m, "_", "-"),
			fmt.Sprintf("%s of %s by date", h.kind.Measure(m).Label, h.suite)
		p.Note = "Thin lines are 95 % intervals."
		plots = append(plots, p)
	}
	return plot.Named(plots)
}
