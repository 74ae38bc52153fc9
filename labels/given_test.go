package labels

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crosstalk/report"
	"crosstalk/run"
)

// labelled is a run whose first 60 pairs two people have labelled.
func labelled(t *testing.T) string {
	t.Helper()
	list := pairs(t)
	dir := newRun(t, list, false)
	d := plan(t, dir, Sample{Seed: 1})
	for _, who := range []string{"ann", "bob"} {
		said := map[string]string{}
		for _, p := range list {
			said[p.item] = map[string]string{"ann": p.a, "bob": p.b}[who]
		}
		fill(t, dir, d, who, open(t, dir).Units[:60], func(item string) string { return said[item] })
	}
	return dir
}

func TestAgreementOf(t *testing.T) {
	dir := labelled(t)
	a, err := AgreementOf(dir, "", Options{Slack: 0.03, Worst: 2, Draws: 50, Link: func(item string) string { return "/x?q=" + item }})
	if err != nil {
		t.Fatal(err)
	}
	if a.Question != NearerText || a.Labels != 120 || a.Questions != 60 || a.Units != 109 {
		t.Errorf("%+v", a)
	}
	var rate Figure
	for _, f := range a.Figures {
		if f.Measure == Rate && f.Of == "people" {
			rate = f
		}
	}
	print := func(format string) string {
		var b bytes.Buffer
		if err := a.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	table := print("table")
	for _, want := range []string{
		"agreement · leakage · 120 labels of 60 of 109 answers · annotators ann, bob · language en · model secret-model\n",
		"  rate            people  ", " " + report.Percent(rate.Value) + " %",
		"\ntau-b of the similarity and people, by slack\n",
		"\nfound by the instrument, and said by the majority of people\n",
		"\nlargest disagreements\n", "  answers of an item: crosstalk serve RUN, then /x?q=ITEM\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(print("csv"))).ReadAll()
	if err != nil || len(rows) != len(a.Figures)+1 {
		t.Errorf("%d rows, %v; want a header and %d figures", len(rows), err, len(a.Figures))
	}
	if lines := strings.Count(print("jsonl"), "\n"); lines != len(a.Figures) {
		t.Errorf("%d lines, want %d", lines, len(a.Figures))
	}
	if _, err := AgreementOf(dir, "lines", Options{}); err == nil || !strings.Contains(err.Error(), "choose one of: leakage") {
		t.Errorf("another instrument's question: %v", err)
	}
}

// Figures are given by the columns of the last scoring that the questions have.
func TestAgreementByDefault(t *testing.T) {
	dir := labelled(t)
	write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":"leakage"},"scoring":[{"by":["category","mood"]}]}`)
	for column, o := range map[string]Options{"category": {}, "": {By: []string{}}} {
		o.Draws = 10
		a, err := AgreementOf(dir, "", o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Figures {
			if _, by := f.By["category"]; by && column == "" {
				t.Errorf("%+v", f)
			} else if by {
				column = "found"
			}
		}
		if column == "category" {
			t.Error("no figure by category")
		}
	}
}

func TestCorrectedOf(t *testing.T) {
	dir := labelled(t)
	estimates, notes, err := CorrectedOf(dir, nil)
	var kinds []string
	for _, e := range estimates {
		kinds = append(kinds, e.By[FigureColumn])
	}
	if err != nil || len(notes) > 0 || strings.Join(kinds, ", ") != "uncorrected, labels alone, corrected" {
		t.Errorf("%q, %q, %v", kinds, notes, err)
	}
	// What lacks labels, or figures, says so.
	bare := newRun(t, pairs(t)[:2], false)
	for _, f := range []func(string) error{
		func(path string) error { _, err := AgreementOf(path, "", Options{}); return err },
		func(path string) error { _, _, err := CorrectedOf(path, nil); return err },
	} {
		if err := f(bare); err == nil || !strings.HasPrefix(err.Error(), bare+" has no labels: ") {
			t.Errorf("%v", err)
		}
	}
	if err := os.Remove(filepath.Join(bare, "estimates.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := AgreementOf(bare, "", Options{}); err == nil || !strings.Contains(err.Error(), run.ErrUnfinished.Error()) {
		t.Errorf("%v", err)
	}
}

// A questionnaire is what a sheet of the sample asks; filled in, it is read back once.
func TestQuestionnaire(t *testing.T) {
	dir := newRun(t, pairs(t), false)
	q, err := NewQuestionnaire(dir, "", "ann", Sample{N: 20, Seed: 1})
	if err != nil || len(q.Asked) != 20 || q.Of != 109 || q.Question.Name != NearerText {
		t.Fatalf("%+v, %v", q, err)
	}
	var text bytes.Buffer
	if err := q.Write(&text, "csv"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ann.csv")
	write(t, file, text.String())
	if _, err := ImportInto(dir, "", file, "ann", time.Now()); err == nil || err.Error() != file+": no question has a label; fill in the column label" {
		t.Errorf("%v", err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows[1][6], rows[3][6] = "A", "neither"
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	write(t, file, text.String())
	imported, err := ImportInto(dir, "", file, "ann", time.Now())
	if err != nil || len(imported.Labels) != 2 || imported.Blank != 18 {
		t.Errorf("%+v, %v", imported, err)
	}
	if kept, err := Read(dir); err != nil || len(kept) != 2 {
		t.Errorf("%v, %v", kept, err)
	}
	if _, err := ImportInto(dir, "", file, "ann", time.Now()); err == nil || !strings.Contains(err.Error(), "ann has answered question ") {
		t.Errorf("again: %v", err)
	}
	if kept, _ := Read(dir); len(kept) != 2 {
		t.Errorf("%d labels", len(kept))
	}
}

func TestSampleCheck(t *testing.T) {
	for want, s := range map[string]Sample{"": {N: 3, By: []string{"a"}}, "sample is -1; expected": {N: -1}, "by needs --sample: ": {By: []string{"a"}}} {
		if err := s.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
	for file, want := range map[string]string{"": "csv", "a": "csv", "a.b/c": "csv", "x.doc": "doc"} {
		if got := FormatOf(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	if err := CheckFormat("doc"); err == nil || err.Error() != `unknown format "doc"; choose one of: csv, json` {
		t.Errorf("%v", err)
	}
}

func TestReviewTables(t *testing.T) {
	dir := newRun(t, pairs(t)[:2], false)
	for _, f := range []func(string) error{
		func(path string) error { return WriteDoubts(&bytes.Buffer{}, path) },
		func(path string) error { return WritePairs(&bytes.Buffer{}, path) },
	} {
		if err := f(dir); err == nil || err.Error() != dir+" is a run of leakage; expected one of consistency" {
			t.Errorf("%v", err)
		}
		if err := f("nowhere"); err == nil || !strings.HasPrefix(err.Error(), "nowhere is not a run directory: expected one written by 'crosstalk run consistency'") {
			t.Errorf("%v", err)
		}
	}
	write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":"consistency"}}`)
	if err := WritePairs(&bytes.Buffer{}, dir); err == nil || !strings.HasSuffix(err.Error(), run.ErrUnfinished.Error()) {
		t.Errorf("%v", err)
	}
}
