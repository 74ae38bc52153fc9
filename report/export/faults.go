package export

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/run/view"
)

var faultFormats = []string{"table", "csv", "markdown", "latex"}

type faulty struct {
	id, expected, found string
	sides               []side
	parts               []string // faulty parts of the answer
}

// side is an answer to a question. Of several sides, the last one has the fault (for leakage, the first); the other
// is what it is compared with.
type side struct{ name, question, answer string }

// WriteFaults lists a run's answers that have a fault (crosstalk.Kind.Fault), one per sample, in the order of the
// run: all, or those in a view.
func WriteFaults(w io.Writer, format, path string, only view.View) error {
	if !slices.Contains(faultFormats, format) {
		return crosstalk.UnknownName("format", format, faultFormats)
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	f := &faultLister{kind: instrument.Named(manifest.Plan.Instrument)}
	var sides []string // of any answer; not every answer has all
	if format != "table" {
		f.write = func(a faulty) error {
			sides = ordered.Merge(sides, a.names(), func(name string) string { return name })
			return nil
		}
		if err := f.list(path, only); err != nil {
			return err
		}
	}
	if sides == nil {
		sides = []string{""}
	}
	switch j, err := run.OpenAnswers(path); {
	case err == nil:
		defer j.Close()
		f.asked = j
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	header, _ := faulty{}.row(sides)
	list := report.Table{Header: header, Caption: "Answers with a fault", Label: "tab:answers"}
	rows := csv.NewWriter(w)
	if format == "csv" {
		rows.Write(header)
	}
	f.write = func(a faulty) error {
		if format == "table" {
			return a.print(w)
		}
		_, row := a.row(sides)
		if format == "csv" {
			return rows.Write(row)
		}
		list.Rows = append(list.Rows, ordered.Map(row, oneLine))
		return nil
	}
	if err := f.list(path, only); err != nil {
		return err
	}
	if list.Rows != nil {
		return report.WriteTables(w, format, []report.Table{filled(list)})
	}
	rows.Flush()
	return rows.Error()
}

func oneLine(text string) string { return visible.Line(strings.Join(strings.Fields(text), " ")) }

// filled returns a table of words without its empty columns.
func filled(t report.Table) report.Table {
	for i := len(t.Header) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			t.Header = slices.Delete(t.Header, i, i+1)
			for r := range t.Rows {
				t.Rows[r] = slices.Delete(t.Rows[r], i, i+1)
			}
		}
	}
	t.Left = len(t.Header)
	return t
}

type faultLister struct {
	kind  crosstalk.Kind
	asked *run.Answers
	write func(faulty) error
}

func (f *faultLister) list(path string, only view.View) error {
	var last *faulty // the faulty parts come in the observations that follow
	flush := func() error {
		if last == nil {
			return nil
		}
		done := *last
		last = nil
		return f.write(done)
	}
	reader, columns := only.Reader(), map[string]string{view.ItemColumn: "", view.SampleColumn: ""}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		maps.Copy(columns, o.Condition)
		maps.Copy(columns, o.Labels)
		if _, in := reader.Read(o); !in {
			continue
		}
		fault, decides := f.kind.Fault(o)
		if !decides {
			if last != nil && f.kind.Finding(o.Finding).Fault && o.Finding != "" {
				last.add(o)
			}
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if fault.Value == 1 {
			last = f.faulty(o, fault)
		}
	}
	if err := reader.Check(slices.Sorted(maps.Keys(columns))); err != nil {
		return crosstalk.BadOption("only", ": %w", err)
	}
	return flush()
}

func (f *faultLister) faulty(o, fault crosstalk.Observation) *faulty {
	titles := f.kind.Finding(fault.Finding).Titles // the last one is the most specific
	a := &faulty{id: o.Item, expected: cmp.Or(o.Text(f.kind.Target), o.Labels[f.kind.Target]),
		found: titles[len(titles)-1]}
	if o.Sample > 0 {
		a.id += fmt.Sprintf(" (sample %d)", o.Sample+1)
	}
	given := ""
	for _, text := range o.Texts {
		switch {
		case text.Role == crosstalk.Side:
			a.sides = append(a.sides, side{name: text.Name, answer: text.Text})
		case text.Role == crosstalk.Given && given == "":
			given = text.Text
		}
	}
	for i := range a.sides {
		if at := len(o.Answers) - len(a.sides) + i; at >= 0 {
			record, _ := f.asked.Known(o.Answers[at]) // the zero value if unknown
			a.sides[i].question = record.Request.Text()
		}
		a.sides[i].question = cmp.Or(a.sides[i].question, given)
	}
	a.add(o)
	return a
}

func (f *faulty) add(o crosstalk.Observation) {
	answer := ""
	if n := len(f.sides); n > 0 {
		answer = f.sides[n-1].answer
	}
	for _, s := range o.Spans {
		text := s.Text
		if s.Start >= 0 && s.End <= len(answer) && s.Start < s.End {
			text = answer[s.Start:s.End]
		}
		if s.Language != "" {
			text += " (" + s.Language + ")"
		}
		f.parts = append(f.parts, strings.Join(strings.Fields(text), " "))
	}
}

func (f faulty) names() []string { return ordered.Map(f.sides, func(s side) string { return s.name }) }

// row returns the answer as a row of a table with these sides, and the titles of its columns.
func (f faulty) row(sides []string) (header, row []string) {
	header, row = []string{"id"}, []string{f.id}
	for _, name := range sides {
		var s side
		if i := slices.Index(f.names(), name); i >= 0 {
			s = f.sides[i]
		}
		if len(sides) == 1 {
			name = ""
		}
		header = append(header, strings.TrimLeft(name+" question", " "), strings.TrimLeft(name+" answer", " "))
		row = append(row, s.question, s.answer)
	}
	return append(header, "expected", "found", "foreign or changed parts"),
		append(row, f.expected, f.found, strings.Join(f.parts, " | "))
}

func (f faulty) print(w io.Writer) error {
	header, row := f.row(f.names())
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", visible.Line(f.id), f.found)
	for i, title := range header {
		switch title {
		case "id", "found":
			continue
		case "foreign or changed parts":
			title = "parts"
		}
		if row[i] != "" {
			fmt.Fprintf(&b, "  %-8s  %s\n", title, oneLine(row[i]))
		}
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
