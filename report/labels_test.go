package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/labels"
)

// An agreement is printed whole, or what matters most of it.
func TestAgreementView(t *testing.T) {
	interval := &crosstalk.Interval{Low: 0.25, High: 0.75}
	by := map[string]string{"model": "m"}
	group := map[string]string{"model": "m", "colour": "red"}
	figure := func(measure, of string, by map[string]string) labels.Figure {
		return labels.Figure{Measure: measure, Of: of, By: by, Value: 0.5, Interval: interval, N: 60}
	}
	a := labels.Agreement{Question: "leakage", Labels: 120, Questions: 60, Units: 109, Annotators: []string{"ann", "bob"},
		Weighted: []string{"finding"},
		Figures: []labels.Figure{figure(labels.Rate, "people", by), figure(labels.Rate, "ann", by),
			figure(labels.Share, "test", by), figure(labels.Rate, "people", group),
			{Measure: labels.TauB, Of: "gloss and people", Value: crosstalk.Undefined, N: 2},
			figure(labels.CohensKappa, "ann and bob", nil), figure(labels.Sensitivity, "gloss", nil)},
		Curves: []labels.Curve{{Judge: "gloss", N: 60, Points: []labels.Point{{Slack: 0.03, Tau: 0.25}}}},
		Cells:  []labels.Cell{{Judge: "gloss", People: "test", Found: "leaked", N: 7}},
		Disagreements: []labels.Disagreement{{Judge: "gloss", Place: labels.Place{Item: "i", Line: 2}, People: []string{"test", "neither"},
			Found: "none", Topic: "word", Texts: []string{strings.Repeat("long ", 20), "b"}, Difference: 0.125}},
		ByDefault: []string{"colour"}}
	view := AgreementView{Agreement: a, Link: func(item string) string { return "/x?q=" + item }}
	text := func(format string) string {
		var b bytes.Buffer
		if err := view.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	says := func(table string, wanted ...string) {
		t.Helper()
		for _, want := range wanted {
			if !strings.Contains(table, want) {
				t.Errorf("no %q in\n%s", want, table)
			}
		}
	}
	whole := text("table")
	says(whole, "agreement · leakage · 120 labels of 60 of 109 answers · annotators ann, bob · model m\n", " 25.0 to 75.0  50.0 %  60\n", " 0.250 to 0.750 ", "  colour red ",
		"the sample was stratified by finding\n", "\ntau-b of the similarity and people, by slack\n", "\nfound by the instrument, and said by the majority of people\n",
		"\nlargest disagreements\n", "i, line 2 ", "long long long long long long long long… / b", "  answers of an item: crosstalk serve RUN, then /x?q=ITEM\n")
	rows, err := csv.NewReader(strings.NewReader(text("csv"))).ReadAll()
	if err != nil || len(rows) != len(a.Figures)+1 || strings.Join(rows[1], ",") != "rate,people,model m,0.5,0.25,0.75,60" || rows[5][3] != "" {
		t.Errorf("%q, %v", rows, err)
	}
	if lines := strings.Count(text("jsonl"), "\n"); lines != len(a.Figures) {
		t.Errorf("%d lines, want %d", lines, len(a.Figures))
	}
	if json := text("json"); strings.Contains(json, "ByDefault") || !strings.Contains(json, `"weighted_by"`) {
		t.Error(json)
	}
	view.Short = true
	short := text("table")
	says(short, "--all prints all 7 figures, by group too, and more disagreements\n", "sensitivity")
	for _, gone := range []string{"colour red", "  share ", "\n  rate            ann ", "by slack"} {
		if strings.Contains(short, gone) {
			t.Errorf("%q in\n%s", gone, short)
		}
	}
	if strings.Index(short, "sensitivity") > strings.Index(short, "kappa") || !strings.Contains(short, "ann and bob") {
		t.Error(short)
	}
	view.Agreement.Question = labels.Codes // of which nothing but shares is known
	says(text("table"), "  share ")
}
