package pivot

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/study"
)

// changed are figures of which each is changed.
func changed(figures []crosstalk.Estimate, change func(i int, e *crosstalk.Estimate)) []crosstalk.Estimate {
	for i := range figures {
		change(i, &figures[i])
	}
	return figures
}

// grid are figures of a measure by two columns; the values count up.
func grid(measure, column string, values []string, other string, others []string) (figures []crosstalk.Estimate) {
	for i, v := range values {
		for j, w := range others {
			figures = append(figures, figure(measure, float64(1+i*len(others)+j)/100, column+"="+v, other+"="+w))
		}
	}
	return figures
}

// Layouts that the others do not have, compared with testdata as they are.
func TestLayouts(t *testing.T) {
	settings := grid("leak_rate", "temperature", []string{"all", "default", "0", "0.5"}, "thinking", []string{"yes", "no"})
	units := append(changed(grid("entropy", "model", []string{"a", "b"}, "language", []string{"de", "ko"}), func(_ int, e *crosstalk.Estimate) { e.Unit = "bits" }),
		grid("lpr", "model", []string{"a", "b"}, "language", []string{"de", "ko"})...)
	signed := func(n int) []crosstalk.Estimate {
		return changed(grid("lpr", "model", []string{"a", "b", "c", "d", "e", "f"}[:n], "language", []string{"de"}),
			func(i int, e *crosstalk.Estimate) { e.Signature = fmt.Sprint("lpr|", i) })
	}
	averages := append(grid("lpr", "language", []string{"all", "de"}, "source", []string{"all", "s"}), grid("lcpr", "language", []string{"all", "de"}, "source", []string{"all", "s"})...)
	changed(averages, func(_ int, e *crosstalk.Estimate) {
		e.Average = &crosstalk.Average{Over: []string{"language", "source"}}
		if e.Measure == "lcpr" {
			e.Average.HarmonicOf = []string{"lpr", "wpr"}
		}
	})
	certain := changed(grid("lpr", "model", []string{"a", "b", "c", "d"}, "language", []string{"de"}), func(i int, e *crosstalk.Estimate) {
		e.N = []int{40, 30, 50, 10}[i]
		e.Interval = []*crosstalk.Interval{{Low: -0.2, High: 0.03, Level: 0.9}, nil, {Low: 0, High: 0.35, Level: 0.9}, nil}[i]
		if i == 3 {
			e.Value = crosstalk.Value(math.NaN())
		}
	})
	ties := changed(grid("leak_rate", "model", []string{"all", "a", "b", "c"}, "language", []string{"de", "ko"}), func(i int, e *crosstalk.Estimate) {
		e.Better = crosstalk.Lower
		e.Value = crosstalk.Value([]float64{0.01, 0.01, 0.20001, 0.3, 0.2, 0.4, 0.5, 0.3}[i])
	})
	equal := changed(grid("lpr", "model", []string{"a", "b"}, "language", []string{"de"}), func(_ int, e *crosstalk.Estimate) { e.Value = 0.5 })
	neither := changed(grid("lpr", "model", []string{"a", "b"}, "language", []string{"de"}), func(_ int, e *crosstalk.Estimate) { e.Better = "" })
	hashes := grid("lpr", "model", []string{"m@sha256-aa11", "m@sha256-bb22", strings.Repeat("long", 12) + "1", strings.Repeat("long", 12) + "2"}, "language", []string{"de@7"})
	pooled := grid("lpr", "model", []string{"all"}, "language", []string{"de", "ko"})
	three := changed(slices.Concat(grid("lpr", "model", []string{"a", "b"}, "language", []string{"de", "ko"}),
		grid("lpr", "model", []string{"a", "b"}, "language", []string{"de", "ko"})), func(i int, e *crosstalk.Estimate) {
		e.By["task"] = []string{"x", "y"}[i/4]
	})
	apart := append(grid("lpr", "model", []string{"a"}, "language", []string{"de"}),
		changed(grid("lpr", "model", []string{"a"}, "language", []string{"ko"}), func(_ int, e *crosstalk.Estimate) { e.Signature = "other" })...)
	nothing := changed(grid("lpr", "model", []string{"a"}, "language", []string{"de"}),
		func(_ int, e *crosstalk.Estimate) { e.Value, e.Interval = crosstalk.Undefined, nil })
	var b strings.Builder
	for _, c := range []struct {
		name    string
		figures []crosstalk.Estimate
		options Options
	}{
		{"settings", settings, Options{Rows: []string{"temperature"}, Columns: []string{"thinking"}, Compete: []string{"temperature", "thinking"}}},
		{"settings in rows", settings, Options{Rows: []string{"thinking", "temperature"}, Compete: []string{"thinking"}}},
		{"settings in columns", settings, Options{Columns: []string{"thinking", "temperature"}, Beside: []string{"n", "clusters"}, Compete: []string{"temperature"}}},
		{"units", units, Options{Rows: []string{"model"}, Columns: []string{"language"}}},
		{"units in rows", units, Options{Rows: []string{Measure, "model"}, Columns: []string{"language"}}},
		{"unit alone", units[:4], Options{Rows: []string{"model"}, Columns: []string{"language"}}},
		{"differences", units, Options{Rows: []string{"model"}, Columns: []string{"language"}, Subtitle: "difference"}},
		{"differences of one", units[4:], Options{Rows: []string{"model"}, Columns: []string{"language"}, Subtitle: "difference", Beside: []string{"p"}}},
		{"differences in bits", units[:4], Options{Rows: []string{"model"}, Columns: []string{"language"}, Subtitle: "difference", Beside: []string{"p"}}},
		{"four signatures", signed(4), Options{Rows: []string{"model"}}},
		{"five signatures", signed(5), Options{Rows: []string{"model"}}},
		{"six signatures", signed(6), Options{Rows: []string{"model"}}},
		{"averages", averages, Options{Rows: []string{"source"}, Columns: []string{"language"}}},
		{"averages of one column", averages[:1], Options{Rows: []string{"language"}}},
		{"certainty", certain, Options{Rows: []string{"model"}}},
		{"ties", ties, Options{Rows: []string{"model"}, Columns: []string{"language"}, Compete: []string{"model"}}},
		{"ties in a row", ties, Options{Rows: []string{"language"}, Columns: []string{"model"}, Compete: []string{"model"}}},
		{"equal", equal, Options{Rows: []string{"model"}, Compete: []string{"model"}}},
		{"neither is better", neither, Options{Rows: []string{"model"}, Compete: []string{"model"}}},
		{"one competes", equal[:1], Options{Rows: []string{"model"}, Compete: []string{"model"}}},
		{"hashes", hashes, Options{Rows: []string{"model"}, Columns: []string{"language"}}},
		{"one hash", hashes[1:2], Options{Rows: []string{"model"}, Columns: []string{"language"}}},
		{"pooled", pooled, Options{Rows: []string{"language"}, Compete: []string{"model"}}},
		{"all but not pooled", pooled, Options{Rows: []string{"language"}}},
		{"tables apart", three, Options{Rows: []string{"model"}, Columns: []string{"language"}}},
		{"groups of rows", three, Options{Rows: []string{"task", "model", "language"}, Order: map[string][]string{"task": {"y"}, "model": {"b", "none"}}}},
		{"no rows", apart, Options{Columns: []string{"language"}}},
		{"named", apart, Options{Rows: []string{"language"}, Names: report.Names{"lpr": "über Zeilen", "a": "Model of a very long name, indeed", "model": "System"}}},
		{"undefined", nothing, Options{Rows: []string{"model"}, Columns: []string{"language"}, Compete: []string{"model"}}},
	} {
		tables, err := Tables(c.figures, c.options)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s ==\n", c.name)
		for _, table := range tables {
			fmt.Fprintf(&b, "caption: %s\nlabel: %s\nbold: %v\nbreaks: %v\n", table.Caption, table.Label, table.Bold, table.Breaks)
		}
		if err := report.WriteTables(&b, "table", tables); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/layouts.txt", b.String())
}

// scored is a run of recorded answers of two models in two languages.
func scored(t *testing.T, dir, name string) string {
	t.Helper()
	sentences := map[string]string{"de": "Das Wetter ist heute wirklich sehr schön.", "fr": "Le temps est vraiment très beau aujourd'hui."}
	var b strings.Builder
	b.WriteString("model,language,id,sample,completion\n")
	for _, model := range []string{"small", "large"} {
		for _, language := range []string{"de", "fr"} {
			for i := range 24 {
				text := sentences[language]
				if i%3 == 0 || model == "small" && i%4 == 0 {
					text = "The weather is really very nice today."
				}
				fmt.Fprintf(&b, "%s,%s,%d,%d,%s\n", model, language, i/2, i%2, text)
			}
		}
	}
	file := filepath.Join(dir, name+".csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := study.Confusion{}.Recorded([]string{file}, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// A table of runs: rows and columns for people, a list of the same figures for programs.
func TestWriteRuns(t *testing.T) {
	dir := t.TempDir()
	one, two := scored(t, dir, "one"), scored(t, dir, "two")
	write := func(table Table, format string, paths ...string) string {
		t.Helper()
		if err := table.Complete(); err != nil {
			t.Fatal(err)
		}
		estimates, err := figures.Set{View: table.View(), Cross: table.Cross(), Measures: []string{"lpr"}}.OfRuns(paths,
			run.Names(paths))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Write(&b, format, estimates, table.Layout(report.Names{"small": "tiny"}, []string{"model", "run"})); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	line := func(text string, fields ...string) bool {
		return slices.ContainsFunc(strings.Split(text, "\n"),
			func(l string) bool { return slices.Equal(strings.Fields(l), fields) })
	}
	got := write(Table{Rows: []string{"model"}, Columns: []string{"language"}}, "table", one)
	if !line(got, "tiny", "50.0", "50.0", "50.0") || !line(got, "large", "66.7", "66.7", "66.7") {
		t.Error(got)
	}
	if got := write(Table{Rows: []string{"model"}}, "markdown", one); !strings.Contains(got, "**66.7**") || strings.Contains(got, "**50") {
		t.Errorf("the better model is marked: %s", got)
	}
	got = write(Table{Rows: []string{"model"}, Columns: []string{"run"}}, "table", one, two)
	if !line(got, "model", "one", "two") || !line(got, "tiny", "50.0", "50.0") {
		t.Error(got)
	}
	if got := write(Table{Rows: []string{"model"}}, "table", one, two); !strings.Contains(got, "run one") || !strings.Contains(got, "run two") {
		t.Errorf("a table of each run: %s", got)
	}
	if got = write(Table{Rows: []string{"model"}}, "csv", one); !strings.Contains(got, "small") || strings.Count(got, "\n") != 3 {
		t.Error(got)
	}
	if got = write(Table{Rows: []string{"language"}, Only: []string{"language=fr"}}, "table", one); strings.Contains(got, " de ") {
		t.Error(got)
	}
}

// A change is from the first row, or from the first of rows with the same first values.
func TestChange(t *testing.T) {
	figures := grid("lpr", "task", []string{"x", "y"}, "beams", []string{"1", "2", "3"})
	for i := range figures {
		figures[i].Value = crosstalk.Value([]float64{0.9, 0.95, 0.881, 0.5, 0.5, math.NaN()}[i])
	}
	cells := func(o Options) (got []string) {
		o.Beside = []string{Change}
		tables, err := Tables(figures, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range tables[0].Rows {
			got = append(got, strings.Join(row, " "))
		}
		return got
	}
	for want, o := range map[string]Options{
		"x 1 90.0 | 2 95.0 (+5.0)| 3 88.1 (-1.9)|y 1 50.0 | 2 50.0 (0.0)| 3 - (-)": {Rows: []string{"task", "beams"}},
		"1 90.0  50.0 |2 95.0 (+5.0) 50.0 (0.0)|3 88.1 (-1.9) - (-)":               {Rows: []string{"beams"}, Columns: []string{"task"}},
		"3 88.1  - |1 90.0 (+1.9) 50.0 (-)|2 95.0 (+6.9) 50.0 (-)":                 {Rows: []string{"beams"}, Columns: []string{"task"}, Order: map[string][]string{"beams": {"3", "1"}}},
	} {
		if got := strings.Join(cells(o), "|"); got != want {
			t.Errorf("rows %v, columns %v: %q, want %q", o.Rows, o.Columns, got, want)
		}
	}
}
