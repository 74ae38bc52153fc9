package gate

import (
	"bytes"
	"encoding/xml"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
)

type columns = map[string]string

// figure is an estimate with an interval of 5 points to each side.
func figure(measure string, value float64, by columns) crosstalk.Estimate {
	return crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(value), N: 100, Observations: 100,
		Counts: map[string]int{}, Better: crosstalk.Higher,
		Interval: &crosstalk.Interval{Low: value - 0.05, High: value + 0.05, Level: 0.95}, By: by}
}

func parse(t *testing.T, text string) Requirement {
	t.Helper()
	r, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// noWorse checks comparisons with the run before.
func noWorse(result compare.Result, margin float64, wanted []string, o Options) []Check {
	checks := NoWorse(result, "before", "after", margin, wanted, o)
	o.decide(checks)
	return checks
}

// check holds figures against a requirement, with their intervals or without.
func check(t *testing.T, require string, interval bool, estimates ...crosstalk.Estimate) []Check {
	t.Helper()
	o := Options{Point: !interval, MaxUnjudged: 0.1}
	checks, err := parse(t, require).Check(estimates, o)
	if err != nil {
		t.Fatal(err)
	}
	o.decide(checks)
	return checks
}

// estimates are those of two models in two languages, and one of a model that
// answered nothing.
func estimates() []crosstalk.Estimate {
	nothing := figure("wpr", 0, columns{"model": "a", "language": "ko"})
	nothing.Value, nothing.Interval, nothing.Counts = crosstalk.Undefined, nil, map[string]int{"empty": 3, "line_error": 97}
	return []crosstalk.Estimate{
		figure("lpr", 0.9, columns{"model": "a", "language": "all"}),
		figure("lpr", 0.98, columns{"model": "a", "language": "de"}),
		figure("lpr", 0.82, columns{"model": "a", "language": "ko"}),
		figure("lpr", 0.95, columns{"model": "b", "language": "all"}),
		figure("lpr", 0.94, columns{"model": "b", "language": "de"}),
		figure("lpr", 0.96, columns{"model": "b", "language": "ko"}),
		nothing,
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		require  string
		interval bool
		passed   int
		failed   []string // reasons
	}{
		{"lpr>=0.9 by language", false, 3, []string{"82 % is not >= 90 %"}},
		{"lpr>=0.9 where language=de", true, 1, []string{"94 % is >= 90 %, but its interval, 89.0 to 99.0 %, is not; about 57 to 880 more items may decide"}},
		{"lpr<=0.9 where language=ko, model=a", true, 1, nil},
		{"lpr>=82 by language", false, 4, nil},
		{"lpr>82 by language", false, 3, []string{"82 % is not > 82 %"}},
		{"lpr<=98% by language", false, 4, nil},
		{"lpr<98% by language", false, 3, []string{"98 % is not < 98 %"}},
		{"lpr>=90% where language=ko", false, 1, []string{"82 % is not >= 90 %"}},
		{"lpr>=90% where language=ko, model=b", false, 1, nil},
		{"lpr>=98.0001% where language=de, model=a", false, 0, []string{"98 % is not >= 98.0001 %"}},
		{"wpr>=0%", false, 0, []string{"undefined: nothing was scored; empty 3, line error 97"}},
		{"bleu>=50%", false, 0, []string{"not measured: the run has lpr, wpr"}},
		{"lpr>=50% where language=xx", false, 0, []string{"not measured: no figure has language xx; the run has de, ko"}},
		{"lpr>=50% by source", false, 0, []string{"not measured: no figure has source"}},
	} {
		checks := check(t, c.require, c.interval, estimates()...)
		passed, failed := 0, []string{}
		for _, check := range checks {
			if check.Passed {
				passed++
			} else {
				failed = append(failed, check.Reason)
			}
		}
		if passed != c.passed || !slices.Equal(failed, append([]string{}, c.failed...)) {
			t.Errorf("%s: %d passed, failed %q; want %d and %q", c.require, passed, failed, c.passed, c.failed)
		}
	}
}

// Answers that nobody could judge do not pass.
func TestUnjudged(t *testing.T) {
	for _, c := range []struct {
		unchecked, noLanguage, waived int
		max                           float64
		want                          string
	}{
		{11, 0, 0, 0.1, ""},
		{8, 3, 0, 0.1, ""},
		{12, 0, 0, 0.1, "12 of 112 answers could not be judged (10.7 %); at most 10 % may be (--max-unchecked)"},
		{900, 0, 0, 0.1, "900 of 1000 answers could not be judged (90 %); at most 10 % may be (--max-unchecked)"},
		{900, 0, 0, 0.9, ""},
		{1, 0, 0, 0, "1 of 101 answers could not be judged (0.99 %); at most 0 % may be (--max-unchecked)"},
		{0, 0, 90, 0.1, "90 of 100 answers could not be judged (90 %); at most 10 % may be (--max-unchecked)"}, // the protocol counts them as right
	} {
		e := figure("lpr", 1, columns{"language": "all"})
		e.Counts = map[string]int{"unchecked": c.unchecked, "no_language": c.noLanguage, "passed_unchecked": c.waived, "line": 50}
		o := Options{MaxUnjudged: c.max, Point: true}
		checks, err := parse(t, "lpr>=98%").Check([]crosstalk.Estimate{e}, o)
		o.decide(checks)
		if err != nil || checks[0].Reason != c.want || checks[0].Passed != (c.want == "") || checks[0].Inconclusive {
			t.Errorf("%+v: %+v, %v", c, checks, err)
		}
	}
}

// What the data neither show nor refute has an outcome of its own.
func TestInconclusive(t *testing.T) {
	passed, failed, open := check(t, "lpr>=80%", true, figure("lpr", 0.9, nil)),
		check(t, "lpr>=96%", true, figure("lpr", 0.9, nil)), check(t, "lpr>=89%", true, figure("lpr", 0.9, nil))
	if c := open[0]; !c.Inconclusive || c.Passed || c.Side != "within" || len(c.Missing) != 1 {
		t.Errorf("%+v", c)
	}
	if c := failed[0]; c.Inconclusive || c.Passed {
		t.Errorf("%+v", c)
	}
	for _, c := range []struct {
		checks               []Check
		passed, inconclusive bool
		headline             string
	}{
		{passed, true, false, "passed: 1 check"},
		{slices.Concat(passed, open), false, true, "inconclusive: 1 of 2 checks"},
		{slices.Concat(passed, open, failed), false, false, "failed: 1 of 3 checks, and 1 inconclusive"},
	} {
		if v := Judge("x", c.checks); v.Passed != c.passed || v.Inconclusive != c.inconclusive || v.Headline() != c.headline {
			t.Errorf("%+v is %q", v, v.Headline())
		}
	}
}

// What is not complete fails, however good it looks.
func TestIncomplete(t *testing.T) {
	for count, want := range map[string]string{
		"failed":       "incomplete: 2 answers failed; resume the run to retry them",
		"not_measured": "incomplete: 2 items were not measured; resume the run to measure them",
		"empty":        "",
	} {
		e := figure("lpr", 0.9, columns{"language": "all"})
		e.Counts[count] = 2
		if c := check(t, "lpr>=50%", false, e)[0]; c.Reason != want || c.Passed != (want == "") {
			t.Errorf("%s: %+v", count, c)
		}
	}
	lone := figure("lpr", 0.9, columns{})
	lone.Interval = nil
	if c := check(t, "lpr>=50%", true, lone)[0]; c.Passed || c.Reason != "the figure has no interval; --point judges it without one" {
		t.Errorf("%+v", c)
	}
	if Judge("x", nil).Passed {
		t.Error("nothing checked passes")
	}
}

// A figure that passes where its interval does not, or that rests on little,
// says so.
func TestRemarks(t *testing.T) {
	e := figure("lpr", 0.9, columns{})
	e.Warnings = []string{"only 12 observations (need at least 30)"}
	c := check(t, "lpr>=88%", false, e)[0]
	want := []string{"88 % is inside the interval, 85.0 to 95.0 %: chance may have decided", "only 12 observations (need at least 30)"}
	if !c.Passed || !slices.Equal(c.Remarks, want) {
		t.Errorf("%q", c.Remarks)
	}
	if c := check(t, "lpr>=80%", true, e)[0]; !c.Passed || !slices.Equal(c.Remarks, want[1:]) {
		t.Errorf("%+v", c)
	}
}

// compared is a comparison of a figure of the direction by differences of the
// items: n items each.
func compared(t *testing.T, better crosstalk.Direction, worse, same, improved int) compare.Result {
	t.Helper()
	conditions := []columns{{"model": "new"}, {"model": "old"}}
	runs := make([]compare.Run, 2)
	for side, name := range []string{"before", "after"} {
		condition := conditions[1-side]
		e := figure("m", 0.5, condition)
		e.Better, e.Signature = better, "m|suite:s|v0.1.0"
		runs[side] = compare.Run{Name: name, Estimates: []crosstalk.Estimate{e},
			Observations: func(yield func(crosstalk.Observation, error) bool) {
				for i := range worse + same + improved {
					bad := side == 1 && i < worse || side == 0 && i >= worse+same
					value := crosstalk.Value(1)
					if bad == (better == crosstalk.Higher) {
						value = 0
					}
					yield(crosstalk.Observation{Measure: "m", Item: strings.Repeat("i", i+1), Value: value, Condition: condition}, nil)
				}
			}}
	}
	result, err := compare.Runs(runs, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A figure with a unit has its bound in it.
func TestUnits(t *testing.T) {
	e := figure("entropy", 1.25, columns{})
	e.Unit = "bits"
	c := check(t, "entropy<=1.24", false, e)[0]
	if c.Passed || c.Reason != "1.25 bits is not <= 1.24 bits" || c.IntervalText() != "1.20 to 1.30" {
		t.Errorf("%+v", c)
	}
	if c := check(t, "entropy<=1.28", false, e)[0]; !c.Passed || c.Remarks[0] != "1.28 bits is inside the interval, 1.20 to 1.30 bits: chance may have decided" {
		t.Errorf("%+v", c)
	}
	if _, err := parse(t, "entropy<=50%").Check([]crosstalk.Estimate{e}, Options{}); err == nil {
		t.Error("a percentage of bits is taken")
	}
}

// No worse is decided on the interval: what is not shown to be worse may still
// be too much worse.
func TestNoWorse(t *testing.T) {
	for _, better := range []crosstalk.Direction{crosstalk.Higher, crosstalk.Lower} {
		sign := map[crosstalk.Direction]string{crosstalk.Higher: "-", crosstalk.Lower: "+"}[better]
		for _, c := range []struct {
			worse, same, improved int
			reason                string
		}{
			{0, 400, 0, ""},
			{3, 394, 3, ""},
			{0, 380, 20, ""},
			{30, 340, 30, "the difference may be as bad as " + sign},
			{40, 360, 0, "worse by 10.0 points"},
			{10, 390, 0, "worse by 2.5 points, but may be as good as " + sign + "1.4 points; "},
			{0, 20, 0, "the difference may be as bad as " + sign},
		} {
			checks := noWorse(compared(t, better, c.worse, c.same, c.improved), 0.02, nil, Options{MaxUnjudged: 0.1})
			if len(checks) != 1 || checks[0].Passed != (c.reason == "") || !strings.HasPrefix(checks[0].Reason, c.reason) {
				t.Errorf("%s, %+v: %+v", better, c, checks)
			}
			if got := checks[0].Requirement; got != "m no worse than before by more than 2 points" {
				t.Errorf("%s", got)
			}
		}
	}
	if checks := noWorse(compared(t, "", 0, 100, 0), 0.02, nil, Options{MaxUnjudged: 0.1}); len(checks) != 0 {
		t.Errorf("%+v", checks)
	}
	if checks := noWorse(compared(t, "", 0, 100, 0), 0.02, []string{"m"},
		Options{MaxUnjudged: 0.1}); len(checks) != 1 || checks[0].Reason != "the measure has no better direction" {
		t.Errorf("%+v", checks)
	}
	result := compared(t, crosstalk.Higher, 0, 400, 0)
	of, against := result.Comparisons[0].Of, result.Comparisons[0].Against
	of.Counts["failed"], against.Counts["failed"] = 0, 3
	if checks := noWorse(result, 0.02, nil, Options{MaxUnjudged: 0.1}); !checks[0].Passed ||
		!slices.Contains(checks[0].Remarks, "3 answers of the reference run failed") {
		t.Errorf("%+v", checks)
	}
	of.Counts["failed"] = 1
	if checks := noWorse(result, 0.02, nil, Options{MaxUnjudged: 0.1}); checks[0].Passed ||
		!strings.HasPrefix(checks[0].Reason, "incomplete: 1 answers failed") {
		t.Errorf("%+v", checks)
	}
	result.Refused = []compare.Refusal{{Subject: compare.Subject{Measure: "n"}, Reason: compare.NoCounterpart},
		{Subject: compare.Subject{Measure: "bleu"}, Reason: compare.NoAverage}}
	if checks := noWorse(result, 0.02, nil, Options{MaxUnjudged: 0.1}); len(checks) != 2 ||
		!strings.HasPrefix(checks[1].Reason, "cannot be compared: n ") {
		t.Errorf("%+v", checks)
	}
}

func TestLost(t *testing.T) {
	neither := figure("share", 0.5, columns{})
	neither.Better = ""
	before := []crosstalk.Estimate{figure("lpr", 0.5, columns{}), figure("wpr", 0.5, columns{"x": "1"}),
		figure("wpr", 0.5, columns{"x": "2"}), neither}
	if got := Lost(before[:1], before, "old", nil); len(got) != 1 || got[0].Measure != "wpr" || got[0].Passed {
		t.Errorf("%+v", got)
	}
	if got := Lost(before[:1], before, "old", []string{"share"}); len(got) != 1 || got[0].Measure != "share" {
		t.Errorf("%+v", got)
	}
}

// verdict has checks of each kind, and names made to break the formats.
func verdict(t *testing.T) Verdict {
	few := figure("lpr", 0.93, columns{"model": "m|<1>", "language": "de: a,b"})
	few.Warnings = []string{"only 12 observations (need at least 30)"}
	checks := check(t, "lpr >= 90% by language", false, figure("lpr", 0.88, columns{"model": "m|<1>", "language": "ko\n100%"}), few)
	checks = append(checks, check(t, "bleu > 50%", false, few)...)
	e := figure("lpr", -0.004, columns{"model": "m|<1>", "language": "all"})
	checks = append(checks, Check{Requirement: "lpr no worse than runs/old by more than 1 point", Measure: "lpr", By: e.By, Passed: true, Value: e.Value,
		Interval: &crosstalk.Interval{Low: -0.009, High: 0.001, Level: 0.95}, N: 300, Reference: columns{"run": "old"},
		Remarks: []string{"3 items were left out"}})
	return Judge("runs/new.1", checks)
}

func TestGolden(t *testing.T) {
	writers := map[string]func(*bytes.Buffer) error{
		"junit.xml":   func(b *bytes.Buffer) error { return WriteJUnit(b, verdict(t)) },
		"annotations": func(b *bytes.Buffer) error { return WriteAnnotations(b, verdict(t)) },
		"summary.md":  func(b *bytes.Buffer) error { return WriteSummary(b, verdict(t)) },
	}
	for _, format := range report.Formats {
		writers["verdict."+format] = func(b *bytes.Buffer) error { return Write(b, format, verdict(t)) }
	}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name), b.String())
		})
	}
}

// CI systems read the counts and the failures of JUnit files.
func TestJUnitIsXML(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJUnit(&b, verdict(t)); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	cases := suites.Suites[0].Cases
	if suites.Tests != 4 || suites.Failures != 2 || len(cases) != 4 || cases[0].Failure.Message != "88 % is not >= 90 %" ||
		cases[1].Failure != nil {
		t.Errorf("%+v", suites)
	}
}
