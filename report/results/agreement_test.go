package results

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/labels"
)

// An agreement is printed whole, or what matters most of it, in every format: see testdata/agreement.txt.
func TestAgreementSheet(t *testing.T) {
	by := map[string]string{"model": "m", "temperature": "0"}
	and := func(column, value string) map[string]string {
		of := maps.Clone(by)
		of[column] = value
		return of
	}
	n := 0
	figure := func(measure, of string, by map[string]string) labels.Figure {
		n++
		return labels.Figure{Measure: measure, Of: of, By: by, Value: 0.5, N: n,
			Interval: &crosstalk.Interval{Low: 0.25, High: 0.75}}
	}
	undefined := labels.Figure{Measure: labels.TauB, Of: "gloss and people", Value: crosstalk.Undefined, N: 2}
	few := labels.Agreement{Question: "leakage", Labels: 120, Questions: 60, Units: 109, Annotators: []string{"ann", "bob"},
		Weighted: []string{"finding", "category"}, ByDefault: []string{"colour"},
		Figures: []labels.Figure{figure(labels.Rate, labels.People, by), figure(labels.Rate, "ann", by),
			figure(labels.Share, "test", by), figure(labels.Share, "test", and("colour", "red")), figure(labels.Share, "control", by),
			figure(labels.Share, "unasked", by), figure(labels.Rate, labels.People, and("colour", "red")), undefined,
			figure(labels.CohensKappa, "ann and bob", nil), figure(labels.CohensKappa, "people and bob", nil),
			figure(labels.Alpha, labels.People, nil), figure(labels.Specificity, "gloss", nil), figure(labels.Sensitivity, "gloss", nil),
			figure(labels.SameFindings, "gloss", and("colour", "red"))},
		Curves: []labels.Curve{{Judge: "gloss", N: 60, Points: []labels.Point{{Slack: 0.03, Tau: 0.25},
			{Slack: 0.5, Tau: crosstalk.Undefined}}},
			{Judge: "sbert", By: by, N: 61, Points: []labels.Point{{Slack: 0.03, Tau: -0.25}, {Slack: 0.5, Tau: 1}}}},
		Cells: []labels.Cell{{Judge: "gloss", People: "test", Found: "leaked", N: 7}, {Judge: "gloss", People: "control", Found: "leaked", N: 3},
			{Judge: "gloss", People: "neither", Found: "leaked", N: 99}, {Judge: "gloss", People: "control", Found: "not leaked", N: 2},
			{Judge: "gloss", By: and("colour", "red"), People: "test", Found: "leaked", N: 1}},
		Disagreements: []labels.Disagreement{{Judge: "gloss", Place: labels.Place{Item: "i", Line: 2, Sample: 3}, People: []string{"test", "neither"},
			Found: "none", Topic: strings.Repeat("word ", 9), Texts: []string{strings.Repeat("long ", 20), "b"}, Difference: 0.125},
			{Place: labels.Place{Item: "j"}, Difference: crosstalk.Undefined}}}
	many := labels.Agreement{Question: labels.Codes, Annotators: []string{"ann"}, Adjudicated: 4, ByDefault: []string{"colour"}}
	for i := range shortFigures + 2 {
		code := fmt.Sprint("code ", i)
		many.Figures = append(many.Figures, figure(labels.Share, code, map[string]string{"model": fmt.Sprint(i % 2)}))
		if i <= shortCells {
			many.Cells = append(many.Cells, labels.Cell{People: code, Found: fmt.Sprint("found ", i), N: i})
		}
	}
	asked := many // for groups, so none is left out
	asked.ByDefault, asked.Cells = nil, many.Cells[:shortCells]
	three := labels.Agreement{Question: "confusion", Annotators: []string{"ann", "bob", "cy"},
		Figures: []labels.Figure{figure(labels.CohensKappa, "ann and bob", nil), figure(labels.Alpha, labels.People, nil)}}
	var b bytes.Buffer
	for _, c := range []struct {
		title string
		view  Agreement
	}{
		{"with curves", Agreement{Agreement: few, Link: func(item string) string { return "/x?q=" + item }}},
		{"with curves, short", Agreement{Agreement: few, Short: true}},
		{"of codes, short", Agreement{Agreement: many, Short: true}},
		{"of codes, as asked, short", Agreement{Agreement: asked, Short: true}},
		{"of three, short", Agreement{Agreement: three, Short: true}},
		{"of three", Agreement{Agreement: three}},
	} {
		formats := []string{"table"}
		if c.title == "with curves" {
			formats = []string{"table", "csv", "jsonl"}
		}
		for _, format := range formats {
			fmt.Fprintf(&b, "== %s, %s\n", c.title, format)
			if err := c.view.Write(&b, format); err != nil {
				t.Fatal(err)
			}
		}
	}
	fmt.Fprintf(&b, "== words\n%s\n%s\n%s\n%s\n", inWords(nil), inWords(map[string]string{"b": "2", "a": "1"}),
		beginning(strings.Repeat("é", 40)), beginning(strings.Repeat("é", 41)))
	golden.Check(t, "testdata/agreement.txt", b.String())
	b.Reset()
	if err := (Agreement{Agreement: few}).Write(&b, "json"); err != nil || strings.Contains(b.String(), "ByDefault") ||
		!strings.Contains(b.String(), `"weighted_by"`) {
		t.Errorf("%v %s", err, &b)
	}
	if err := (Agreement{Agreement: few}).Write(&b, "yaml"); err == nil ||
		err.Error() != `unknown format "yaml"; choose one of: table, json, jsonl, csv, markdown, latex` {
		t.Error(err)
	}
}
