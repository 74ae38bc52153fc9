package pivot

import (
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/report"
)

// Plots have the figures of the tables, with their names, and a file's name of measures,
// rows and columns.
func TestPlots(t *testing.T) {
	figures := append(grid("lpr", "model", []string{"a", "b"}, "task", []string{"x", "y"}),
		grid("wpr", "model", []string{"a", "b"}, "task", []string{"x", "y"})...)
	draw := func(o Options) (names, titles string, marks []string) {
		t.Helper()
		plots, err := Plots(figures, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plots {
			names, titles = names+p.Name+" ", titles+p.Title+"\n"
			for _, m := range p.Marks {
				if m.Title != "" {
					marks = append(marks, m.Title)
				}
			}
		}
		return names, titles, marks
	}
	names, titles, marks := draw(Options{Rows: []string{"model"}, Columns: []string{Measure, "task"},
		Names: report.Names{"b": "Big"}})
	if names != "lpr-wpr-model-task " || !strings.HasPrefix(titles, "Line-level pass rate (LPR), word-level pass rate (WPR)") ||
		len(marks) != 8 || !strings.HasPrefix(marks[7], "Big, WPR, y: WPR 4.0 %") {
		t.Errorf("%q, %q, %q", names, titles, marks)
	}
	names, titles, marks = draw(Options{Rows: []string{"model"}, Columns: []string{Measure}})
	if names != "lpr-wpr-model-x lpr-wpr-model-y " || strings.Count(titles, "; task ") != 2 || len(marks) != 8 {
		t.Errorf("%q, %q, %q", names, titles, marks)
	}
	if _, _, marks = draw(Options{Rows: []string{"model", "task"}}); len(marks) != 8 || !strings.HasPrefix(marks[0], "a, x, LPR: ") {
		t.Errorf("%q", marks)
	}
	figures = grid("lpr", "temperature", []string{"1", "0"}, "shots", []string{"0", "5"})
	if _, _, marks = draw(Options{Rows: []string{"temperature"}, Columns: []string{"shots"}}); len(marks) != 4 ||
		!strings.HasPrefix(marks[0], "0, temperature 0: LPR 3.0 %") {
		t.Errorf("%q", marks)
	}
	figures = append(figures, figures[0])
	if _, err := Plots(figures, Options{Rows: []string{"temperature"}, Columns: []string{"shots"}}); err == nil {
		t.Error("two figures have one place")
	}
}

// A note explains the mark of a test over clusters, where p is shown.
func TestIndependentNote(t *testing.T) {
	figures := grid("leak_rate", "model", []string{"a", "b"}, "task", []string{"x"})
	figures[1].Test, figures[1].Observations, figures[1].Clusters = &crosstalk.Test{Method: "t", P: 0.02}, 9, 3
	for _, beside := range [][]string{nil, {"p"}} {
		tables, err := Tables(figures, Options{Rows: []string{"model"}, Beside: beside})
		if err != nil {
			t.Fatal(err)
		}
		row, notes := strings.Join(tables[0].Rows[1], " "), strings.Join(tables[0].Notes, "\n")
		if want := beside != nil; strings.Contains(row, "0.020*") != want || strings.Contains(notes, report.IndependentNote) != want {
			t.Errorf("beside %q: %q\n%s", beside, row, notes)
		}
	}
}

// A column of which each row has one value does not set tables apart: a note says it. One
// of which a row has two values does.
func TestImplied(t *testing.T) {
	figures := append(grid("lpr", "model", []string{"a"}, "task", []string{"x", "y"}),
		grid("lpr", "model", []string{"b", "c"}, "task", []string{"x", "y"})...)
	for i := range figures {
		if figures[i].By["model"] != "a" {
			figures[i].By["prefix"] = "Say: "
		}
		figures[i].By["lid"] = "one"
	}
	tables, err := Tables(figures, Options{Rows: []string{"model"}, Columns: []string{"task"}})
	if err != nil || len(tables) != 1 || !slices.Contains(tables[0].Notes, "prefix: none of a; Say: of b, c") ||
		!slices.Contains(tables[0].Heading, "lid one") {
		t.Errorf("%d tables, %v: %+v", len(tables), err, tables)
	}
	// Where the rows of a table have the same value, it is in the heading.
	tables, err = Tables(figures, Options{Rows: []string{"model"}})
	if err != nil || len(tables) != 2 {
		t.Errorf("%d tables, %v", len(tables), err)
	}
	figures[0].By["prefix"] = "Else: "
	if tables, err = Tables(figures, Options{Rows: []string{"model"}, Columns: []string{"task"}}); err != nil || len(tables) != 3 {
		t.Errorf("%d tables, %v; want 3: a has two prefixes", len(tables), err)
	}
	if tables, err = Tables(figures, Options{Columns: []string{"model", "task"}}); err != nil || len(tables) != 3 {
		t.Errorf("%d tables, %v; want 3: without rows all columns count", len(tables), err)
	}
}

// The level of the intervals is that of the first figure that has one, and 95 % without any.
func TestLevel(t *testing.T) {
	figures := grid("lpr", "model", []string{"a", "b", "c"}, "task", []string{"x"})
	for _, c := range []struct {
		level float64
		want  string
	}{{0.9, "90 %"}, {0.9995, "99.95 %"}} {
		figures[0].Interval, figures[1].Interval = nil, &crosstalk.Interval{Level: c.level}
		if got := report.Level(figures); got != c.want {
			t.Errorf("%v: %s, want %s", c.level, got, c.want)
		}
	}
	if got := report.Level(figures[:1]); got != "95 %" {
		t.Errorf("without intervals: %s", got)
	}
}

// A label has letters and digits of the measures, columns and short values, each once, and nothing else.
func TestLabel(t *testing.T) {
	for value, want := range map[string]string{"z09-A é": "tab:lpr-model-task-z09-a", "x`{:": "tab:lpr-model-task-x",
		"---": "tab:lpr-model-task", "lpr": "tab:lpr-model-task", strings.Repeat("y", 20): "tab:lpr-model-task-" + strings.Repeat("y", 20),
		strings.Repeat("y", 21): "tab:lpr-model-task", "all": "tab:lpr-model-task"} {
		figures := grid("lpr", "model", []string{"a", "b"}, "task", []string{"x", "y"})
		for i := range figures {
			figures[i].By["source"] = value
		}
		tables, err := Tables(figures, Options{Rows: []string{"model"}, Columns: []string{"task"}})
		if err != nil || len(tables) != 1 || tables[0].Label != want {
			t.Errorf("%q: %v, %+v; want the label %s", value, err, tables, want)
		}
	}
}

// A column that rows imply, and that has one value in a table, is in its heading.
func TestImpliedByRowsOfATable(t *testing.T) {
	figures := append(grid("lpr", "model", []string{"a"}, "task", []string{"x", "y"}),
		grid("lpr", "model", []string{"b", "c"}, "task", []string{"y"})...)
	for i := range figures {
		figures[i].By["prefix"] = []string{"One: ", "One: ", "Two: ", "Two: "}[i]
	}
	tables, err := Tables(figures, Options{Rows: []string{"model"}})
	if err != nil || len(tables) != 2 {
		t.Fatalf("%v, %+v", err, tables)
	}
	if heading := strings.Join(tables[0].Heading, "; "); !strings.Contains(heading, "prefix One:") {
		t.Errorf("%q", heading)
	}
	if heading := strings.Join(tables[1].Heading, "; "); strings.Contains(heading, "prefix") ||
		!slices.Contains(tables[1].Notes, "prefix: One: of a; Two: of b, c") {
		t.Errorf("%q, %q", heading, tables[1].Notes)
	}
}

// The best of several is in bold; the only one, or all that are alike, are not.
func TestBestOfOne(t *testing.T) {
	for _, c := range []struct {
		values []float64
		bold   int
	}{{[]float64{0.5}, 0}, {[]float64{0.5, 0.5}, 0}, {[]float64{0.5, 0.6}, 1}, {[]float64{0.6, 0.5, 0.6}, 2}} {
		var figures []crosstalk.Estimate
		for i, v := range c.values {
			figures = append(figures, figure("lpr", v, "model="+string(rune('a'+i))))
		}
		tables, err := Tables(figures, Options{Rows: []string{"model"}, Compete: []string{"model"}})
		if err != nil || len(tables[0].Bold) != c.bold || strings.HasSuffix(tables[0].Caption, ". Best in bold") != (c.bold > 0) {
			t.Errorf("%v: %v, %+v", c.values, err, tables)
		}
	}
}
