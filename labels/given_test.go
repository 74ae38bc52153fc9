package labels

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
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
	a, err := AgreementOf(dir, "", Options{Worst: 2, Draws: 50, Link: func(item string) string { return "/x?q=" + item }})
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
	if rate.N != 60 || a.Figures[0].Measure != Rate || len(a.Curves) == 0 || len(a.Disagreements) != 2 ||
		a.Disagreements[0].Link == "" {
		t.Errorf("%+v", a)
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
		kinds = append(kinds, e.By[figureColumn])
	}
	if err != nil || len(notes) > 0 || strings.Join(kinds, ", ") != "uncorrected, labels alone, corrected" {
		t.Errorf("%q, %q, %v", kinds, notes, err)
	}
	// Missing labels or figures are reported.
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

// A questionnaire has the questions of the sample's sheet; filled in, it is read back once.
func TestQuestionnaire(t *testing.T) {
	dir := newRun(t, pairs(t), false)
	q, err := NewQuestionnaire(dir, "", "ann", Sample{N: 20, Seed: 1}, false)
	if err != nil || len(q.Asked) != 20 || q.Of != 109 || q.Question.Name != NearerText {
		t.Fatalf("%+v, %v", q, err)
	}
	var text bytes.Buffer
	if err := q.Write(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ann.csv")
	write(t, file, text.String())
	if _, err := ImportInto(dir, "", file, "ann", false, time.Now()); err == nil || err.Error() != file+": no question has a label; fill in the column label" {
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
	imported, err := ImportInto(dir, "", file, "ann", false, time.Now())
	if err != nil || len(imported.Labels) != 2 || imported.Blank != 18 {
		t.Errorf("%+v, %v", imported, err)
	}
	if kept, err := Read(dir); err != nil || len(kept) != 2 {
		t.Errorf("%v, %v", kept, err)
	}
	again, err := ImportInto(dir, "", file, "ann", false, time.Now())
	if err != nil || len(again.Labels) != 0 || again.Before != 2 {
		t.Errorf("again: %+v, %v", again, err)
	}
	text.Reset()
	rows[1][6], rows[2][6], rows[3][6], rows[4][6] = "B", "A", "north", "neither" // one more and two odd ones
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	write(t, file, text.String())
	again, err = ImportInto(dir, "", file, "ann", false, time.Now())
	if err != nil || len(again.Labels) != 2 || len(again.Odd) != 2 || again.Labels[0].Decides ||
		!strings.Contains(again.Odd[0].Error(), "ann.csv:2: ann has answered question ") ||
		!strings.Contains(again.Odd[1].Error(), "ann.csv:4: unknown label \"north\"") {
		t.Errorf("%+v, %v", again, err)
	}
	if kept, _ := Read(dir); len(kept) != 4 {
		t.Errorf("%d labels", len(kept))
	}
}

func TestSampleCheck(t *testing.T) {
	for want, s := range map[string]Sample{"": {N: 3, By: []string{"a"}}, "sample is -1; expected": {N: -1}, "by needs --sample: ": {By: []string{"a"}}} {
		if err := s.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}

// Only finished runs of consistency have readings.
func TestOverridesRefuse(t *testing.T) {
	dir := newRun(t, pairs(t)[:2], false)
	refuses := func(path, want string) {
		t.Helper()
		if _, err := Overrides(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	refuses(dir, " is a run of leakage; expected one of consistency")
	refuses("nowhere", "nowhere is not a run directory: expected one written by 'crosstalk run consistency'")
	write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":"consistency"}}`)
	refuses(dir, dir+" has no labels: ")
	if err := os.Remove(filepath.Join(dir, "estimates.json")); err != nil {
		t.Fatal(err)
	}
	refuses(dir, run.ErrUnfinished.Error())
}

// The questions of the file are about measures, columns and texts that instruments have.
func TestQuestions(t *testing.T) {
	for _, q := range questions() {
		kind := q.kind
		if !slices.ContainsFunc(kind.Measures, func(m crosstalk.Measure) bool { return m.Key == q.Measure }) ||
			q.Undecided == "" || len(q.Guide) == 0 {
			t.Errorf("%+v", q)
		}
		if q.Fault != "" && !slices.ContainsFunc(q.Choices,
			func(c crosstalk.Choice) bool { return c.Label == q.Fault && float64(c.Value) == q.FaultValue }) {
			t.Errorf("%s: the fault %s is no choice with the value %v", q.Name, q.Fault, q.FaultValue)
		}
	}
	if q, err := questionFor(Lines); err != nil || !math.IsNaN(q.value(cannotTell)) || q.value("right") != 1 ||
		!q.Unit.Lines || !q.Words {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := questionFor(SameMeaning); err != nil || strings.Join(q.labels(), ", ") != "yes, no, cannot tell" || q.Sides != [2]string{"source", "answer"} {
		t.Errorf("%+v, %v", q, err)
	}
}
