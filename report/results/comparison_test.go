package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/compare"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
	"crosstalk/report/pivot"
	"crosstalk/run/figures"
	"crosstalk/study"
	"os"
	"path/filepath"
)

// compared has what can be met: several measures and groups, differences shown
// and not, undefined ones, what was left out, refused and is doubtful, and a
// name made to break a format.
func compared() Comparison {
	const signature = "lpr|suite:s@1|lid:x|v0.1.0"
	comparison := func(measure, language, temperature string, reference, value, p float64, shown bool) compare.Comparison {
		d := value - reference
		return compare.Comparison{
			Subject: compare.Subject{Measure: measure, By: map[string]string{"task": "crosslingual", "language": language},
				Condition: map[string]string{"model": "m|1", "temperature": temperature}, Reference: map[string]string{"model": "m|1", "temperature": "0"}},
			Value: crosstalk.Value(value), ReferenceValue: crosstalk.Value(reference), Difference: crosstalk.Value(d),
			Interval: &crosstalk.Interval{Low: d - 0.031, High: d + 0.029, Level: 0.95, Method: "cluster-robust-logit-t"},
			Method:   "sign-flip", P: crosstalk.Value(p / 3), Adjusted: crosstalk.Value(p), Shown: shown, Detectable: 0.052, Paired: true,
			N: 300, Clusters: 100, LeftOut: map[string]int{"unpaired": 2, "line_error": 3}, Better: crosstalk.Higher, Signature: signature,
		}
	}
	few := comparison("wpr", "ar", "1", 0.9, 0.9, 1, false)
	few.Method, few.Detectable, few.N, few.Warnings = "mcnemar", crosstalk.Undefined, 12, []string{"only 12 observations (need at least 30)"}
	none := comparison("wpr", "ko", "0.5", 0, 0, 0, false)
	none.Value, none.ReferenceValue, none.Difference, none.P, none.Adjusted = crosstalk.Undefined, crosstalk.Undefined,
		crosstalk.Undefined, crosstalk.Undefined, crosstalk.Undefined
	none.Interval, none.N, none.Clusters, none.Across, none.Warnings = nil, 0, 0, []string{"suite"}, []string{"no observations"}
	refused := compare.Refusal{Subject: compare.Subject{Measure: "lpr", By: map[string]string{"task": "crosslingual"},
		Condition: map[string]string{"model": "m2", "temperature": "0"},
		Reference: map[string]string{"model": "m|1", "temperature": "0"}}, Reason: compare.Incomparable, Fields: map[string][2]string{"lid": {"x", "y"}, "kana": {"", "yes"}}}
	return Comparison{Result: compare.Result{Schema: compare.Schema, Level: 0.95, Adjustment: "holm", Family: 3,
		Comparisons: []compare.Comparison{
			comparison("lpr", "all", "0.5", 0.98, 0.9, 0.0004, true), comparison("lpr", "all", "1", 0.98, 0.97, 0.31, false), few, none,
		}, Refused: []compare.Refusal{refused, refused, {Subject: compare.Subject{Measure: "bleu",
			Condition: map[string]string{"model": "m2"}}, Reason: compare.NoAverage}}}}
}

func TestGolden(t *testing.T) {
	for _, format := range report.Formats {
		t.Run(format, func(t *testing.T) {
			var b bytes.Buffer
			if err := compared().Write(&b, format); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/compared."+format, b.String())
		})
	}
	if err := compared().Write(&bytes.Buffer{}, "yaml"); err == nil {
		t.Error("an unknown format is written")
	}
}

// One comparison has its condition above the table and a row of its own, and
// run names stand only where they tell conditions apart.
func TestHeading(t *testing.T) {
	one := compared()
	one.Comparisons, one.Refused, one.Family = one.Comparisons[:1], nil, 1
	one.Comparisons[0].Condition, one.Comparisons[0].Reference = map[string]string{"model": "new", "run": "y"}, map[string]string{"model": "old", "run": "x"}
	table := one.table()
	if got := table.Heading; len(got) != 3 || got[0] != "lpr" || got[1] != "model new against model old" || got[2] != "task crosslingual" {
		t.Errorf("%q", got)
	}
	if table.Rows[0][0] != crosstalk.All {
		t.Errorf("%q", table.Rows[0])
	}
	one.Comparisons[0].Condition["model"] = "old"
	if got := one.table().Heading[2]; got != "run y against run x" {
		t.Errorf("%q", got)
	}
}

// What JSON holds comes back.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := compared().Write(&b, "json"); err != nil {
		t.Fatal(err)
	}
	var back compare.Result
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Schema != compare.Schema || len(back.Comparisons) != 4 || back.Comparisons[3].Value.Defined() ||
		!back.Comparisons[0].Shown {
		t.Errorf("%+v", back)
	}
}

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
	set := figures.Set{Cross: []string{"language", "model"}}
	runs, err := compare.OpenFigures([]string{scored(t)}, set)
	if err != nil {
		t.Fatal(err)
	}
	result, err := compare.Runs(runs, compare.Options{Measures: []string{"lpr"}, Level: 0.95, Groups: true})
	if err != nil {
		t.Fatal(err)
	}
	write := func(format string, rows ...string) string {
		t.Helper()
		var b strings.Builder
		r := Comparison{result, report.Names{"old": "first"}}
		if err := r.WriteTable(&b, format, pivot.Options{Rows: rows, Columns: []string{"language"}, Names: r.Names}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := write("table", "model")
	for _, want := range []string{"lpr", "difference", "against model first", "~: not significant at 5 %, which does not mean",
		"adjusted by Holm's method over 3 tests"} {
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
	if got := write("csv", "model"); !strings.HasPrefix(got, "measure,") || strings.Count(got, "\n") != 4 {
		t.Error(got)
	}
	// The reference of a difference is a column.
	if got := write("table", "model", AgainstColumn); !strings.Contains(got, "model first") {
		t.Error(got)
	}
}

// In a table by rows and columns a difference at the very level is shown, and a
// measure's unit is in the legend.
func TestWritePivotLevel(t *testing.T) {
	r := compared()
	r.Comparisons, r.Refused, r.Family = r.Comparisons[:2], nil, 1
	show := func() string {
		t.Helper()
		var b strings.Builder
		if err := r.WriteTable(&b, "table", pivot.Options{Rows: []string{"model"}, Columns: []string{"temperature"}}); err != nil {
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
	if err := r.Write(&b, "table"); err != nil || !strings.Contains(b.String(), " tokens ") || !strings.Contains(b.String(), " 90.0 % ") {
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

// Notes depend on the adjustment, the units and the pairs, and explain each test once.
func TestLegend(t *testing.T) {
	r := Comparison{Result: compare.Result{Level: 0.9, Family: 3, Adjustment: compare.Holm,
		Comparisons: []compare.Comparison{{Method: "score", Paired: true},
			{Method: "score", Paired: true}, {Method: "t", Paired: true}}}}
	notes := strings.Join(r.legend(), "\n")
	for text, want := range map[string]int{"adjusted by Holm's method over 3 tests": 1, "after this adjustment": 1, "unpaired: ": 0,
		"significant at 10 %": 1, "or the figure's unit": 0, "test: ": 2} {
		if strings.Count(notes, text) != want {
			t.Errorf("%q is there %d times, want %d:\n%s", text, strings.Count(notes, text), want, notes)
		}
	}
	r.Adjustment, r.Family, r.Comparisons[2].Paired, r.Comparisons[2].Unit = compare.BH, 1, false, "bits"
	notes = strings.Join(r.legend(), "\n")
	for _, text := range []string{"by Benjamini and Hochberg's method over this test alone", "after Holm's adjustment", "unpaired: ",
		"or the figure's unit"} {
		if !strings.Contains(notes, text) {
			t.Errorf("no %q in\n%s", text, notes)
		}
	}
}
