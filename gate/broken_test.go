package gate

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/compare"
	"crosstalk/instrument"
	"crosstalk/report"
	"crosstalk/study"
)

// If any file of any run cannot be read, an error names it, and there is no verdict or history.
func TestBrokenRuns(t *testing.T) {
	across := compare.Options{Level: .95, Across: []string{"suite"}}
	uses := map[string]func(runs [3]string) (any, error){
		"bounds": func(runs [3]string) (any, error) {
			return Rules{Require: []string{"leak_rate<=60%"}}.Check(runs[2])
		},
		"no worse": func(runs [3]string) (any, error) {
			return Rules{NoWorseThan: runs[0], Margin: .01, Compare: across}.Check(runs[2])
		},
		"nights": func(runs [3]string) (any, error) {
			return Rules{NoWorseThan: runs[0], Margin: .01, Nights: runs[1:2], Compare: across,
				Options: Options{Night: 2}}.Check(runs[2])
		},
		"history": func(runs [3]string) (any, error) {
			h, err := Histories(runs[:])
			if err == nil {
				err = h.FindChange()
			}
			return len(h.Series), err
		},
		"quotations": func(runs [3]string) (any, error) { return brokenOf(runs[0], runs[2]) },
	}
	needs := map[string][3]string{ // of each run: manifest, estimates, observations
		"bounds": {"", "", "meo"}, "no worse": {"meo", "", "meo"}, "nights": {"meo", "meo", "meo"}, "history": {"meo", "meo", "meo"},
		"quotations": {"mo", "", "mo"},
	}
	first := t.TempDir()
	var runs [3]string
	for i, name := range []string{"2026-01-01", "2026-01-02", "2026-01-03"} {
		runs[i] = runOf(t, first, name, 0, i&1, i>>1, 0, 1, 0, i>>1)
	}
	for i, path := range runs {
		for k, name := range []string{"manifest.json", "estimates.json", "observations.jsonl"} {
			file := filepath.Join(path, name)
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, append([]byte("{]\n"), whole...), 0o600); err != nil {
				t.Fatal(err)
			}
			for use, of := range uses {
				needed := strings.ContainsRune(needs[use][i], rune("meo"[k]))
				_, err := of(runs)
				if needed != (err != nil) || err != nil && !strings.Contains(err.Error(), name) {
					t.Errorf("%s without %s of run %d: %v", use, name, i, err)
				}
			}
			if err := os.WriteFile(file, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for use, of := range uses {
		if _, err := of(runs); err != nil {
			t.Errorf("%s: %v", use, err)
		}
	}
	// A run without observations lists no broken answer.
	if err := os.Remove(filepath.Join(runs[2], "observations.jsonl")); err != nil {
		t.Fatal(err)
	}
	if list, err := brokenOf(runs[0], runs[2]); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	v, err := Rules{NoWorseThan: runs[0], Margin: .01, Compare: across}.Check(runs[1])
	if err != nil || v.Passed || v.Names == nil {
		t.Errorf("%+v, %v", v, err)
	}
	if err := WriteReports(nil, Reports{Summary: "/dev/full"}, v); err == nil {
		if _, there := os.Stat("/dev/full"); there == nil {
			t.Error("a full disk is no error")
		}
	}
	if err := WriteReports(nil, Reports{JUnit: first}, v); err == nil || !strings.HasPrefix(err.Error(), "junit: ") {
		t.Errorf("%v", err)
	}
}

// A night may lack a figure that others have, and a series its broken answers.
func TestHistoryWithout(t *testing.T) {
	of := func(measure string, value float64) *crosstalk.Estimate {
		e := figure(measure, value, columns{})
		return &e
	}
	h := History{Kind: instrument.Named("confusion"), Suite: "s", Nights: []Night{{Name: "a", Date: time.Unix(0, 0).UTC()},
		{Name: "b", Date: time.Unix(86400, 0).UTC()}}}
	fault := h.Kind.Faults.Measure
	s := Series{By: columns{}, Measures: []string{fault, "lpr", "wpr"}, Since: 1, Figures: map[string][]*crosstalk.Estimate{
		fault: {of(fault, .1), nil}, "lpr": {of("lpr", .9), of("lpr", .8)}, "wpr": {nil, of("wpr", .7)}}}
	h.Series = []Series{s}
	if got := Shown(h).Last(); got != nil {
		t.Errorf("%q", got)
	}
	want := "[[1970-01-01 10 of 100 10.0 - 90.0 - ] [1970-01-02 - - - 80.0 70.0 worse since here]]"
	h.Series[0].Figures[fault][0].Interval = nil
	h.Series[0].Figures[fault][0].Counts = nil
	if got := fmt.Sprint(Shown(h).Tables()[0].Rows); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	delete(s.Figures, fault)
	h.Series[0].Measures = []string{"lpr"}
	if got := Shown(h).Last(); got != nil || len(Shown(h).Plots()) != 1 {
		t.Errorf("%q", got)
	}
	failed := of(fault, .1)
	failed.Value = crosstalk.Undefined
	s.Figures[fault] = []*crosstalk.Estimate{of(fault, .1), failed}
	if got := Shown(h).Last(); got != nil {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]string{"runs/2026-02-03": "2026-02-03", "20260203/run": "2026-02-03", "2026-02-03b/x2026-03-04": "2026-03-04",
		"2026-13-45/2026-02-03x": "2026-02-03", "12026-02-03/20260204": "2026-02-04"} {
		if got, err := dateOf(path); err != nil || got.Format(time.DateOnly) != want {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	for _, path := range []string{"x/y", "x2026-02-031/y", "2026-02-30/y"} {
		if got, err := dateOf(path); err == nil || !got.IsZero() {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// A figure that lacks evidence is reported as such from the first night on, and decides nothing.
func TestNightlyUnfit(t *testing.T) {
	for _, wanted := range [][]string{nil, {"lpr"}} {
		result := nights(t, crosstalk.Higher, 1, [2]int{3, 3}, [2]int{4, 3})
		last := &result.Comparisons[1]
		name := last.Condition[compare.RunColumn]
		o := Options{Night: 1, MaxUnjudged: .1}
		judge := func() Check {
			checks := NoWorse(result, "old", name, .02, wanted, o)
			o.decide(checks)
			return checks[len(checks)-1]
		}
		if c := judge(); !c.Passed || c.Nightly == nil || math.Abs(float64(c.Nightly.Limit)-40) > 1e-9 {
			t.Errorf("%+v", c)
		}
		of := *last.Of
		last.Of = &of
		of.Counts = map[string]int{"failed": 2}
		if c := judge(); c.Passed || c.Nightly == nil || c.Nightly.Limit != 0 || !strings.HasPrefix(c.Reason, "incomplete: 2 answers failed") {
			t.Errorf("%+v", c)
		}
		of.Counts = nil
		last.Paired = false
		if c := judge(); c.Passed || c.Reason != "the runs share too few items to pair them" {
			t.Errorf("%+v", c)
		}
	}
}

// Without intervals, a bound inside the interval is a remark, not a reason.
func TestPointInside(t *testing.T) {
	e := figure("lpr", 0.9, columns{})
	checks, err := parse(t, "lpr>=92%").Check([]crosstalk.Estimate{e}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	Options{Point: true}.decide(checks)
	if c := checks[0]; c.Passed || c.Inconclusive || c.Reason != "90 % is not >= 92 %" {
		t.Errorf("%+v", c)
	}
	_, err = Parse("lpr\t>=\nx")
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || err.Error() != "column 8: \"x\" is not a valid number; expected one such as 0.98 or 98%\n"+
		"  lpr >= x\n         ^" {
		t.Errorf("%q", err)
	}
}

// At most three broken answers are listed, in the order of the later run.
func TestBrokenInOrder(t *testing.T) {
	dir := t.TempDir()
	runOf(t, dir, "as it was", 0, 0, 0, 1, 0, 0)
	file := filepath.Join(dir, "answers.csv")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.SplitAfter(string(text), "\n")
	slices.Reverse(rows[1:])
	if err := os.WriteFile(file, []byte(strings.Join(rows, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := study.Leakage{}.Recorded([]string{file}, "x")
	if err != nil {
		t.Fatal(err)
	}
	before := filepath.Join(dir, "before")
	if _, err := s.Run(t.Context(), before, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	after := runOf(t, dir, "after", 0, 1, 1, 1, 1, 1)
	list, err := brokenOf(before, after)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, item := range []string{"B saw a", "C saw a", "E saw a"} {
		if b := list[i]; b.Item != item || b.Before == "" || b.After == "" || b.Found == "" || b.Before == b.After {
			t.Errorf("%+v, want %s", b, item)
		}
	}
}

// Runs of different models make no history. A failed write is an error in every format, and a chart marks when it got
// worse.
func TestHistoryFails(t *testing.T) {
	dir := t.TempDir()
	var runs []string
	for _, model := range []string{"x", "y"} {
		runs = append(runs, runOf(t, dir, "2026-02-0"+map[string]string{"x": "1", "y": "2"}[model], 0, 1, 0, 1))
	}
	h, err := Histories(runs)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	for _, format := range report.Formats {
		for _, left := range []int{0, 20} {
			if err := Shown(h).Write(&upTo{left: left, err: full}, format); !errors.Is(err, full) {
				t.Errorf("%s after %d bytes: %v", format, left, err)
			}
		}
	}
	h.Series[0].Since = 1
	if got := fmt.Sprintf("%+v", Shown(h).Plots()); strings.Count(got, "worse since 2026-02-02") == 0 {
		t.Errorf("%.2000s", got)
	}
	file := filepath.Join(runs[1], "estimates.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(runs[1], "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(text, []byte(`"model":"x"`), []byte(`"model":"y"`))
	changed = bytes.ReplaceAll(changed, []byte(`"model": "x"`), []byte(`"model": "y"`))
	sum := func(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
	manifest = bytes.Replace(manifest, []byte(sum(text)), []byte(sum(changed)), 1)
	for file, text := range map[string][]byte{file: changed, filepath.Join(runs[1], "manifest.json"): manifest} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var no *ErrNoHistory
	if _, err := Histories(runs); !errors.As(err, &no) || !strings.Contains(err.Error(), "differ by model") {
		t.Errorf("%v", err)
	}
	r := parse(t, "lpr>=50% where language=ko")
	got := r.missing(estimates(), []crosstalk.Estimate{figure("lpr", .5, columns{"language": "de"}), figure("lpr", .5, columns{}),
		figure("lpr", .5, columns{"language": crosstalk.All})})
	if got != "not measured: no figure has language ko; the run has de" {
		t.Error(got)
	}
}
