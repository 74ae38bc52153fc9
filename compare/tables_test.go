package compare

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/report/pivot"
	"crosstalk/study"
)

// scored is a run of recorded answers of two models in two languages: the second
// answers in English more often, in Korean only.
func scored(t *testing.T) string {
	t.Helper()
	sentences := map[string]string{"de": "Das Wetter ist heute wirklich sehr schön.", "ko": "오늘은 날씨가 정말로 매우 좋습니다."}
	var b strings.Builder
	b.WriteString("model,language,id,completion\n")
	for _, model := range []string{"old", "new"} {
		for _, language := range []string{"de", "ko"} {
			for item := range 40 {
				text := sentences[language]
				if item == 0 || model == "new" && language == "ko" && item < 20 {
					text = "The weather is really very nice today."
				}
				fmt.Fprintf(&b, "%s,%s,%d,%s\n", model, language, item, text)
			}
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "answers.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := study.Confusion{}.Recorded([]string{file}, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run")
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Differences by rows and columns: those that are not significant are "~".
func TestWriteTable(t *testing.T) {
	path := scored(t)
	write := func(format string, table *pivot.Table, by []string, o Options) (string, error) {
		var b strings.Builder
		err := writeTable(&b, format, []string{path}, table, by, o)
		return b.String(), err
	}
	lpr := Options{Measures: []string{"lpr"}, Level: 0.95}
	got, err := write("table", &pivot.Table{Rows: []string{"model"}, Columns: []string{"language"}}, nil, lpr)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lpr", "difference", "~: not significant at 5 %, which does not mean", "adjusted by Holm's method over 3 tests"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if !slices.ContainsFunc(strings.Split(got, "\n"), func(line string) bool {
		f := strings.Fields(line)
		return len(f) >= 3 && f[0] == "new" && f[len(f)-2] == "~" && f[len(f)-1] == "-47.5"
	}) {
		t.Errorf("expected new, ~, -47.5 in\n%s", got)
	}
	if got, err := write("csv", &pivot.Table{Rows: []string{"model"}, Columns: []string{"language"}}, nil,
		lpr); err != nil || !strings.HasPrefix(got, "measure,") || strings.Count(got, "\n") != 4 {
		t.Errorf("%s, %v", got, err)
	}
	// The reference of a difference is a column.
	if got, err := write("table", &pivot.Table{Rows: []string{"model", "against"}, Columns: []string{"language"}}, nil,
		lpr); err != nil || !strings.Contains(got, "model old") {
		t.Errorf("%s, %v", got, err)
	}
	// Not laid out it is the list of Write, with names.
	got, err = write("table", &pivot.Table{Names: []string{"new=brand new"}}, nil, lpr)
	if err != nil || !strings.Contains(got, "model brand new against model old") || strings.Contains(got, "~: not significant at 5 %, which does") {
		t.Errorf("%s, %v", got, err)
	}
	got, err = write("csv", &pivot.Table{}, []string{"language"}, Options{Measures: []string{"lpr"}, Level: 0.95, Groups: true})
	if err != nil || strings.Count(got, "\n") != 4 {
		t.Errorf("%s, %v", got, err)
	}
	for want, err := range map[string]error{
		"spread is of tables for people: --format csv": second2(write("csv", &pivot.Table{Rows: []string{"model"}, Spread: []string{"language"}}, nil, lpr)),
		"by and --rows or --columns cannot":            second2(write("table", &pivot.Table{Rows: []string{"model"}}, []string{"language"}, Options{Groups: true, Level: 0.95})),
		"cannot read":                                  second2(write("table", &pivot.Table{Names: []string{"x"}}, nil, lpr)),
		"nowhere":                                      writeTable(nil, "table", []string{path + "/nowhere"}, &pivot.Table{}, nil, lpr),
	} {
		if err == nil || !strings.Contains(err.Error(), want) && want != "cannot read" {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Open([]string{path + "/nowhere"}, nil); err == nil || !strings.Contains(err.Error(), "nowhere is not a run directory") {
		t.Error(err)
	}
	var b strings.Builder
	if err := writeTable(&b, "table", []string{path}, &pivot.Table{}, nil, lpr); err != nil || !strings.Contains(b.String(), "model new against model old") {
		t.Errorf("%s, %v", &b, err)
	}
}

// writeTable compares what a table needs and writes it, as the command does.
func writeTable(w io.Writer, format string, paths []string, t *pivot.Table, by []string, o Options) error {
	result, err := OfTable(format, paths, t, by, o)
	if err != nil {
		return err
	}
	return WriteTable(w, format, paths, t, result)
}

func second2(_ string, err error) error { return err }

// In a table by rows and columns a difference at the very level is shown, and a
// measure's unit is in the legend.
func TestWritePivotLevel(t *testing.T) {
	r := compared()
	r.Comparisons, r.Refused, r.Family = r.Comparisons[:2], nil, 1
	show := func() string {
		t.Helper()
		var b strings.Builder
		if err := writePivot(&b, "table", r, pivot.Options{Rows: []string{"model"}, Columns: []string{"temperature"}}, nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	r.Comparisons[0].Adjusted, r.Comparisons[1].Adjusted = 0.05, 0.0501
	got := show()
	if !strings.Contains(got, "-8.0") || strings.Contains(got, "-1.0") || !strings.Contains(got, "method over this test alone") || !strings.HasPrefix(got, "LPR, difference, ") {
		t.Error(got)
	}
	r.Comparisons[1].Adjusted, r.Comparisons[1].Across = 0.04, []string{"suite"}
	if got := show(); !strings.Contains(got, "-1.0") || !strings.Contains(got, "the signature of the other differs in suite") {
		t.Error(got)
	}
}

// Words of the list of differences that depend on units, on the family and on what
// is undefined.
func TestListWords(t *testing.T) {
	r := compared()
	legend := func() string { return strings.Join(r.table().Notes, "\n") }
	if got := legend(); strings.Contains(got, "figure's unit") || !strings.Contains(got, "over 3 tests") || strings.Contains(got, "unpaired: too few") {
		t.Error(got)
	}
	r.Family, r.Comparisons[2].Unit, r.Comparisons[2].Paired = 1, "tokens", false
	if got := legend(); !strings.Contains(got, "in percentage points, or the figure's unit; ~") || !strings.Contains(got, "over this test alone") || !strings.Contains(got, "unpaired: too few") {
		t.Error(got)
	}
	var b strings.Builder
	if err := Write(&b, "table", r); err != nil || !strings.Contains(b.String(), " tokens ") || !strings.Contains(b.String(), " 90.0 % ") {
		t.Errorf("%s, %v", &b, err)
	}
	for detectable, want := range map[crosstalk.Value]string{1: "100.0", 1.001: ">100"} {
		one := compared()
		one.Comparisons = one.Comparisons[:1]
		one.Comparisons[0].Detectable = detectable
		if row := one.table().Rows[0]; row[len(row)-1] != want {
			t.Errorf("%q, want %s", row, want)
		}
	}
}

// A plan's table and records name the studies and what cannot be told.
func TestPlanWords(t *testing.T) {
	r := pairsWith(2, 3, 40)
	studies, _, err := Pilots([]Run{r.run(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan := func(g Goal) (string, string) {
		t.Helper()
		g.Level = 0.95
		p, err := g.Plan(studies)
		if err != nil {
			t.Fatal(err)
		}
		var table, csv strings.Builder
		for format, b := range map[string]*strings.Builder{"table": &table, "csv": &csv} {
			if err := WritePower(b, format, p); err != nil {
				t.Fatal(err)
			}
		}
		return table.String(), csv.String()
	}
	table, csv := plan(Goal{Samples: []int{1}, Differences: []float64{0.01}, Margins: []float64{0.012345},
		Items: []int{10}})
	for _, want := range []string{"power 80 % at level 95 % · m · model b against model a\n", "items for 1 point ", "items for a margin of 1.234 points", "points with 10 items",
		"items: with a value under both conditions, and the stated number of samples under each"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "-: the difference") || strings.Contains(table, "in a cluster of") || !strings.Contains(csv, `"m, model b against model a",1,difference,0.01,`) {
		t.Errorf("%s\n%s", table, csv)
	}
	table, _ = plan(Goal{Samples: []int{1, 2}, Differences: []float64{0.05}})
	lines := strings.Split(table, "\n")
	if !slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(strings.TrimSpace(l), "all        2 ") && strings.HasSuffix(l, " -")
	}) ||
		!strings.Contains(table, "-: the difference is impossible, or the pilot has no variance or too few samples") {
		t.Error(table)
	}
}

// The groups of a harmonic mean have their own items only.
func TestGroupsOfHarmonicMean(t *testing.T) {
	r := &recorded{by: []string{"source", "language"},
		average: map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}, Over: []string{"language"}}}}
	for i := range 120 {
		labels := columns{"language": []string{"de", "ko"}[i%2], "source": []string{"s", "t", "u"}[i%3]}
		for _, condition := range []columns{first, second} {
			r.add("lpr", fmt.Sprint(i), "", float64(i%5/4), condition, labels)
			r.add("wpr", fmt.Sprint(i), "", float64(i%7/6), condition, labels)
		}
	}
	want := map[int]int{0: 120, 1: 40, 2: 20}
	seen := 0
	for range 5 {
		for _, c := range runs(t, Options{Groups: true}, r).Comparisons {
			n := 0
			for _, column := range []string{"source", "language"} {
				if v := c.By[column]; v != "" && v != crosstalk.All {
					n++
				}
			}
			if c.By["source"] == "" || c.By["source"] == crosstalk.All {
				continue
			}
			if seen++; c.N != want[n] {
				t.Fatalf("%s %v: %d items, want %d", c.Measure, c.By, c.N, want[n])
			}
		}
	}
	if seen == 0 {
		t.Error("no groups")
	}
}
