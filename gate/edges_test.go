package gate

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/compare"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
	"crosstalk/study"
)

// A bound forgives rounding and nothing else, in all directions.
func TestSlack(t *testing.T) {
	for _, c := range []struct {
		require string
		value   float64
		passed  bool
	}{
		{"lpr>=50%", 0.5 - 1e-13, true}, {"lpr>=50%", 0.5 - 1e-11, false},
		{"lpr<=50%", 0.5 + 1e-13, true}, {"lpr<=50%", 0.5 + 1e-11, false},
		{"lpr>50%", 0.5 + 1e-13, false}, {"lpr>50%", 0.5 + 1e-11, true},
		{"lpr<50%", 0.5 - 1e-13, false}, {"lpr<50%", 0.5 - 1e-11, true},
	} {
		if got := check(t, c.require, false, figure("lpr", c.value, nil))[0]; got.Passed != c.passed {
			t.Errorf("%s, %v: %+v", c.require, c.value, got)
		}
	}
}

// The share of answers that may not have been judged is exact.
func TestMostUnjudged(t *testing.T) {
	for unchecked, passed := range map[int]bool{25: true, 26: false} {
		e := figure("lpr", 1, columns{})
		e.Counts = map[string]int{"unchecked": unchecked}
		o := Options{MaxUnjudged: 0.2, Point: true}
		checks, err := parse(t, "lpr>=98%").Check([]crosstalk.Estimate{e}, o)
		o.decide(checks)
		if err != nil || checks[0].Passed != passed {
			t.Errorf("%d of %d: %+v, %v", unchecked, 100+unchecked, checks, err)
		}
	}
}

// The share that was not judged has three digits.
func TestUnjudgedSays(t *testing.T) {
	e := figure("lpr", 1, columns{})
	e.Observations, e.Counts = 200, map[string]int{"unchecked": 100}
	const want = "100 of 300 answers could not be judged (33.3 %); at most 12.3 % may be (--max-unchecked)"
	if got := unfit(e, .12345); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// One missing item or one failed answer makes a figure incomplete; counts of nothing
// are not told.
func TestOneMissing(t *testing.T) {
	for count, want := range map[string]string{
		"failed":       "incomplete: 1 answers failed; resume the run to retry them",
		"not_measured": "incomplete: 1 items were not measured; resume the run to measure them",
	} {
		e := figure("lpr", 0.9, columns{})
		e.Counts[count] = 1
		if c := check(t, "lpr>=50%", false, e)[0]; c.Reason != want {
			t.Errorf("%s: %+v", count, c)
		}
	}
	e := figure("lpr", 0, columns{})
	e.Value, e.Interval, e.Counts = crosstalk.Undefined, nil, map[string]int{"empty": 1, "blocked": 0, "failed": 0}
	if c := check(t, "lpr>=50%", false, e)[0]; c.Reason != "undefined: nothing was scored; empty 1" {
		t.Errorf("%+v", c)
	}
}

// The number of missing items follows the end of the interval that is to move, and is
// a range, for the true figure is not known. It is no advice where it is immense.
func TestMissingItems(t *testing.T) {
	skewed := figure("lpr", 0.5, columns{})
	skewed.Interval.Low, skewed.Interval.High = 0.49, 0.6
	wide, narrow := figure("lpr", 0.5, columns{}), figure("lpr", 0.5, columns{})
	wide.Interval.Low, wide.Interval.High = 0.4, 0.6
	narrow.Interval.Low, narrow.Interval.High = 0.49, 0.51
	for _, c := range []struct {
		require string
		e, like crosstalk.Estimate
	}{{"lpr<=58%", skewed, wide}, {"lpr>=49.1%", skewed, narrow}} {
		got, want := check(t, c.require, true, c.e)[0], check(t, c.require, true, c.like)[0]
		if !got.Inconclusive || !slices.Equal(got.Missing, want.Missing) || len(got.Missing) != 2 {
			t.Errorf("%s: %+v, want %d missing items", c.require, got, want.Missing)
		}
	}
	// (1.960 + 0.842)^2 se^2 / gap^2 times 100 items with a gap of 4 points and half of the
	// standard error, 2.551 points, more or less.
	e := figure("lpr", 0.5, columns{})
	e.Interval.Low, e.Interval.High = 0.45, 0.55
	for require, want := range map[string]struct {
		missing []int
		side    string
		reason  string
	}{
		"lpr>=46%":   {[]int{57, 884}, "within", "50 % is >= 46 %, but its interval, 45.0 to 55.0 %, is not; about 57 to 880 more items may decide"},
		"lpr>=54%":   {[]int{57, 884}, "beyond", "50 % is not >= 54 %, but its interval, 45.0 to 55.0 %, reaches it; about 57 to 880 more items may decide"},
		"lpr>=48%":   {[]int{1}, "within", "x"},
		"lpr>=49.9%": {[]int{1}, "within", "50 % is >= 49.9 %, but its interval, 45.0 to 55.0 %, is not; it takes at least 1400 more items"},
	} {
		c := check(t, require, true, e)[0]
		if c.Side != want.side || len(c.Missing) != len(want.missing) || want.reason != "x" && c.Reason != want.reason {
			t.Errorf("%s: %+v", require, c)
		}
	}
	three := e
	three.N = 3
	if c := check(t, "lpr>=45.0001%", true, three)[0]; len(c.Missing) != 2 || c.Missing[0] != 1 {
		t.Errorf("%+v", c)
	}
	tiny := e
	tiny.Interval = &crosstalk.Interval{Low: 0, High: 1, Level: 0.95}
	if c := check(t, "lpr>=50%", true, tiny)[0]; !c.Inconclusive || len(c.Missing) != 1 || c.Missing[0] > 20*c.N {
		t.Errorf("%+v", c)
	}
	// Values that are all equal have an interval whose width falls with the items.
	same := crosstalk.Estimate{Measure: "lpr", Value: 1, N: 50, Observations: 50,
		Interval: &crosstalk.Interval{Low: 0.93, High: 1, Level: 0.95, Method: "exact-effective-n"}}
	if c := check(t, "lpr>=98%", true, same)[0]; !slices.Equal(c.Missing, []int{125, 300}) ||
		!strings.HasSuffix(c.Reason, "about 130 to 300 more items may decide") {
		t.Errorf("%+v", c)
	}
	same.N = 51
	if c := check(t, "lpr>=98%", true, same)[0]; c.Missing[0] != 179-51 {
		t.Errorf("178.5 items are 179: %+v", c)
	}
	if c := check(t, "lpr>=100%", true, same)[0]; !c.Inconclusive || len(c.Missing) != 1 {
		t.Errorf("no gap: %+v", c)
	}
	if c := check(t, "lpr>=99.9%", true, same)[0]; !c.Inconclusive || c.Missing != nil ||
		!strings.HasSuffix(c.Reason, "; it takes more than 20 times as many items") {
		t.Errorf("%+v", c)
	}
}

// A failure is evidence: the whole interval misses the bound, and with several checks
// that of the level that they share.
func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		bound        string
		others       int
		passed, open bool
		reason       string
	}{
		{"lpr>=85%", 0, true, false, ""}, // the interval begins there
		{"lpr>=85.1%", 0, false, true, "90 % is >= 85.1 %, but its interval, 85.0 to 95.0 %, is not; "},
		{"lpr>=95%", 0, false, true, "90 % is not >= 95 %, but its interval, 85.0 to 95.0 %, reaches it; "},
		{"lpr>=95.1%", 0, false, false, "90 % is not >= 95.1 %"},
		{"lpr>=95.1%", 1, false, true,
			"90 % is not >= 95.1 %, but the interval that decides a failure, 84.3 to 95.7 %, reaches it; "},
		{"lpr>=95.1%", 14, false, true,
			"90 % is not >= 95.1 %, but the interval that decides a failure, 82.5 to 97.5 %, reaches it; "},
		{"lpr>=97%", 1, false, false, "90 % is not >= 97 %"},
		{"lpr>=85%", 14, true, false, ""}, // a pass needs the others, too
	} {
		list := []crosstalk.Estimate{figure("lpr", 0.9, nil)}
		for range c.others {
			e := figure("lpr", 0.9, nil)
			e.Interval = &crosstalk.Interval{Low: 0.89, High: 1, Level: 0.95}
			list = append(list, e)
		}
		got := check(t, c.bound, true, list...)[0]
		if got.Passed != c.passed || got.Inconclusive != c.open || !strings.HasPrefix(got.Reason, c.reason) {
			t.Errorf("%s with %d others: %+v", c.bound, c.others, got)
		}
	}
	// Another level.
	o := Options{Level: 0.8}
	checks, err := parse(t, "lpr>=86.5%").Check([]crosstalk.Estimate{figure("lpr", 0.9, nil)}, o)
	if err != nil {
		t.Fatal(err)
	}
	if o.decide(checks); !checks[0].Passed || checks[0].Interval.Level != 0.8 {
		t.Errorf("%+v", checks)
	}
}

// A value that misses its bound is written with as many digits as it takes to see it.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		require string
		value   float64
		reason  string
	}{
		{"lpr>=99%", 0.98123, "98.1 % is not >= 99 %"},
		{"lpr>=98%", 0.9799999, "97.99999 % is not >= 98 %"},
		{"lpr>=98%", 0.97996, "97.996 % is not >= 98 %"},
		{"lpr>=98%", 0.98 - 1e-11, "97.999999999 % is not >= 98 %"},
		{"lpr>=98.00001%", 0.5, "50 % is not >= 98 %"},
		{"lpr>=98.0012%", 0.5, "50 % is not >= 98.0012 %"},
	} {
		if got := check(t, c.require, false, figure("lpr", c.value, nil))[0]; got.Reason != c.reason {
			t.Errorf("%s: %q, want %q", c.require, got.Reason, c.reason)
		}
	}
}

// A figure without an interval passes without a remark.
func TestNoInterval(t *testing.T) {
	e := figure("lpr", 0.9, columns{})
	e.Interval = nil
	if c := check(t, "lpr>=50%", false, e)[0]; !c.Passed || len(c.Remarks) > 0 {
		t.Errorf("%+v", c)
	}
}

// A loss equal to the margin is allowed, for the figure and for its interval.
func TestMargin(t *testing.T) {
	for _, better := range []crosstalk.Direction{crosstalk.Higher, crosstalk.Lower} {
		for _, c := range []struct {
			worst, difference float64 // how much worse
			reason            string
		}{
			{0.05, 0.01, ""},
			{0.05 + 1e-9, 0.01, "the difference may be as bad as "},
			{0.06, 0.05, "the difference may be as bad as "},
			{0.06, 0.05 + 1e-9, "worse by 5.0 points, but may be as good as "},
			{0.06, -0.01, "the difference may be as bad as "},
		} {
			result := compared(t, better, 0, 400, 0)
			of := &result.Comparisons[0]
			interval := crosstalk.Interval{Low: -c.worst, High: 0.2, Level: 0.95}
			of.Difference = crosstalk.Value(-c.difference)
			if better == crosstalk.Lower {
				interval.Low, interval.High = -interval.High, -interval.Low
				of.Difference = -of.Difference
			}
			of.Interval, of.Together = &interval, interval
			check := noWorse(result, 0.05, nil, Options{MaxUnjudged: 0.1})[0]
			if check.Passed != (c.reason == "") || !strings.HasPrefix(check.Reason, c.reason) ||
				check.Inconclusive != (c.reason != "") {
				t.Errorf("%s %+v: %+v", better, c, check)
			}
		}
	}
}

// Few clusters cannot show it, however many items are in them.
func TestFewClusters(t *testing.T) {
	for _, c := range []struct {
		clusters int
		want     string
	}{{11, "; 11 clusters are too few to tell"}, {12, "more items"}, {400, "more items"}} {
		result := compared(t, crosstalk.Higher, 30, 340, 30)
		result.Comparisons[0].Clusters = c.clusters
		if check := noWorse(result, 0.02, nil, Options{MaxUnjudged: 0.1})[0]; !check.Inconclusive ||
			!strings.HasSuffix(check.Reason, c.want) ||
			(check.Missing != nil) != (c.want == "more items") {
			t.Errorf("%d clusters: %+v", c.clusters, check)
		}
	}
	result := compared(t, crosstalk.Higher, 0, 10, 0)
	result.Comparisons[0].N, result.Comparisons[0].Clusters = 10, 10
	if check := noWorse(result, 0.02, nil, Options{MaxUnjudged: 0.1})[0]; !check.Inconclusive ||
		strings.Contains(check.Reason, "clusters") {
		t.Errorf("every item is its own cluster: %+v", check)
	}
}

// What cannot be compared says of which figure, and what is worth knowing about the
// reference is told.
func TestNoWorseTells(t *testing.T) {
	result := compared(t, crosstalk.Higher, 0, 400, 0)
	if checks := noWorse(result, 0.01, nil, Options{}); strings.Contains(strings.Join(checks[0].Remarks, "; "),
		"reference run") || strings.Contains(strings.Join(checks[0].Remarks, "; "), "left out") || !strings.HasSuffix(checks[0].Requirement, "by more than 1 point") {
		t.Errorf("%+v", checks)
	}
	of := &result.Comparisons[0]
	of.Paired, of.LeftOut = false, map[string]int{"unpaired": 2, "empty": 1}
	against := of.Against
	against.Counts["failed"] = 1
	want := "the runs share too few items to pair them; 1 answers of the reference run failed; 3 items were left out"
	if checks := noWorse(result, 0.02, nil, Options{}); !strings.HasPrefix(strings.Join(checks[0].Remarks, "; "), want) {
		t.Errorf("%q", checks[0].Remarks)
	}
	against.Value = crosstalk.Undefined
	if checks := noWorse(result, 0.02, nil, Options{}); checks[0].Passed || checks[0].Reason != "the reference is undefined" {
		t.Errorf("%+v", checks)
	}
	result.Refused = []compare.Refusal{{Subject: compare.Subject{Measure: "n", Condition: columns{"model": "a"},
		By: columns{"language": "de"}}, Reason: compare.NoCounterpart}}
	if c := noWorse(result, 0.02, nil, Options{})[1]; !maps.Equal(c.By, columns{"model": "a", "language": "de"}) || c.Passed {
		t.Errorf("%+v", c)
	}
	of.Unit = "bits"
	if c := noWorse(result, 0.02, nil, Options{})[0]; c.Passed || c.Reason != "a margin in points does not apply to bits" {
		t.Errorf("%+v", c)
	}
	of.Unit, of.Interval, against.Value = "", nil, 0.5
	if c := noWorse(result, 0.02, nil, Options{})[0]; c.Passed || c.Reason != "the difference over 400 items has no interval" {
		t.Errorf("%+v", c)
	}
}

func TestParseFraction(t *testing.T) {
	for text, want := range map[string]float64{"0.5%": 0.005, " 60 % ": 0.6, "60": 0.6, "0.6": 0.6, "1%": 0.01, "100%": 1, "1.5": 0.015} {
		if got, err := ParseFraction(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "", "1", "101", "0x10", strings.Repeat("9", 400)} {
		if got, err := ParseFraction(text); err == nil || got != 0 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseFraction(strings.Repeat("9", 400)); !strings.HasSuffix(err.Error(), "is not a valid number; expected one such as 0.98 or 98%") {
		t.Error(err)
	}
}

// Quotes, and what a requirement may have once.
func TestParseQuotes(t *testing.T) {
	for text, want := range map[string]string{
		`x<5% where a="b",c=d`:     "b",
		`x<5% where a="a\b"`:       `a\b`,
		`x<5% where a="a\\b"`:      `a\b`,
		`x<5% where a="a\\\"b"`:    `a\"b`,
		`x<5% where a="\"",c=d`:    `"`,
		`x<5 %where a = b , c = d`: "b",
	} {
		r, err := Parse(text)
		if err != nil || r.Where[0].Value != want {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	for text, want := range map[string]string{
		`x<5% where a=b where c=d`:       `duplicate "where"`,
		`x<5% where a=b by c where e=f`:  `duplicate "where"`,
		`x<5% by a where c=d by e`:       `duplicate "by"`,
		`x<5% where a="b\"`:              "the quote is not closed",
		`x<5% where a="b\`:               "the quote is not closed",
		`x<5% or y>5%`:                   `"or": give each requirement its own --require`,
		"x<5% where a=b for ko":          `expected "by" or "where", found "for"`,
		"x <% 5":                         `"%" is not a valid number`,
		"x < 5 by a,b,":                  "expected a column, such as category, found nothing",
		"x < 5 where a=b c=d":            `expected "by" or "where", found "c=d"`,
		"x < 5 where a=b, c=d, e=f, c=g": "duplicate column c",
	} {
		if r, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
}

// failing is a writer that fails after some writes.
type failing struct{ writes int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// The reports of a CI system name the kind of a failure, and fail where they cannot be
// written.
func TestReportsOfKinds(t *testing.T) {
	v := Judge("runs/a", check(t, "lpr>=89%", true, figure("lpr", 0.9, columns{})))
	var b bytes.Buffer
	if err := WriteJUnit(&b, v); err != nil || !strings.Contains(b.String(), `type="inconclusive"`) || !strings.Contains(b.String(), `failures="1"`) {
		t.Errorf("%s, %v", &b, err)
	}
	b.Reset()
	passed := Judge("runs/a", check(t, "lpr>=80%", true, figure("lpr", 0.9, columns{})))
	if err := WriteAnnotations(&b, passed); err != nil || b.String() != "::notice title=crosstalk gate runs/a::passed: 1 check\n" {
		t.Errorf("%s, %v", &b, err)
	}
	for n := range 3 {
		if err := WriteJUnit(&failing{n}, v); !errors.Is(err, errFull) {
			t.Errorf("after %d writes: %v", n, err)
		}
	}
	if err := WriteReports(&failing{}, Reports{Annotations: true}, v); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := WriteSummary(&failing{}, v); !errors.Is(err, errFull) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "summary.md")
	if err := WriteReports(nil, Reports{Summary: file}, v); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode()&0o111 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What is common to all checks is said once, and what failed is first.
func TestTable(t *testing.T) {
	long := strings.Repeat("a", 60)
	check := func(measure, rest, model string, passed, inconclusive bool) Check {
		return Check{Requirement: measure + " " + rest, Measure: measure, By: columns{"model": model}, Passed: passed,
			Inconclusive: inconclusive,
			Reason:       map[bool]string{false: "why " + model}[passed], Value: 0.5, N: 10}
	}
	text := func(names report.Names, checks ...Check) string {
		v := Judge("runs/a", checks)
		v.Names = names
		var b strings.Builder
		if err := Write(&b, "table", v); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	order := func(table string, words ...string) {
		t.Helper()
		at := 0
		for _, word := range words {
			i := strings.Index(table[at:], word)
			if i < 0 {
				t.Fatalf("expected %q in this order in\n%s", words, table)
			}
			at += i + len(word)
		}
	}
	table := text(nil, check("lpr", "no worse than x", "m1", true, false), check("wpr", "no worse than x", "m2", false, true), check("lcpr", "no worse than x", "m3", false, false))
	order(table, "gate failed: 1 of 3 checks, and 1 inconclusive", " · no worse than x\n", "FAILED", "lcpr ", "m3", "inconclusive", "wpr ", "m2", "passed", "lpr ", "m1")
	if strings.Count(table, "no worse than x") != 1 {
		t.Error(table)
	}
	for _, table := range []string{
		text(nil, check("lpr", "no worse than x", "m1", true, false)),
		text(nil, check("lpr", "no worse than x", "m1", true, false), check("wpr", "no worse than y", "m2", true, false)),
		text(nil, check("lpr", ">= 5%", "m1", true, false), check("wpr", "no worse than x", "m2", true, false)),
		text(nil, check("lpr", "no worse than x", "m1", true, false), Check{Requirement: "other", Measure: "wpr", Passed: true}),
	} {
		order(table, "passed: ", "passed", "lpr ")
		if !strings.Contains(table, "lpr no worse than x") && !strings.Contains(table, "lpr >= 5%") {
			t.Error(table)
		}
	}
	table = text(report.Names{"m1": "mini"}, check("lpr", "a", "m1", true, false), check("lpr", "a", long, true, false))
	if strings.Contains(table, "m1") || !strings.Contains(table, "mini") || strings.Contains(table, long) {
		t.Errorf("names and long values:\n%s", table)
	}
	// A check without a figure has no columns, and shares the others'.
	table = text(nil, check("lpr", "a", "m1", true, false), Unfinished("wpr no worse than x", "incomplete"))
	order(table, "model m1\n", "FAILED", "wpr no worse than x", "incomplete", "passed")
	var b strings.Builder
	v := Judge("runs/a", []Check{{Requirement: "lpr>=5%", Measure: "lpr", Inconclusive: true, Missing: []int{7, 9}, Side: "within", Value: 0.5,
		Interval: &crosstalk.Interval{Low: 0.25, High: 0.75}, N: 3, Remarks: []string{"a", "b"}}})
	if err := Write(&b, "csv", v); err != nil || !strings.Contains(b.String(), "lpr>=5%,lpr,false,true,within,,0.5,0.25,0.75,3,7 9,a; b\n") {
		t.Errorf("%s, %v", &b, err)
	}
}

// Rules against runs that are unlike: other items, another suite.
func TestRulesOfUnlikeRuns(t *testing.T) {
	dir := t.TempDir()
	before, after := runOf(t, dir, "before", 0, 1, 0, 1), runOf(t, dir, "after", 1, 1, 1, 1)
	across := compare.Options{Level: 0.95, Across: []string{"suite"}}
	other := runOther(t, dir, "other", 30)
	v, err := Rules{NoWorseThan: other, Margin: 0.1}.Check(before)
	if err != nil || v.Failed() != 1 || !strings.HasPrefix(v.Checks[0].Reason, "cannot be compared: leak rate ") {
		t.Errorf("suites that differ: %+v, %v", v, err)
	}
	for want, r := range map[string]Rules{
		"require: ":            {Require: []string{"leak_rate <= 1"}},
		`by: unknown column "`: {NoWorseThan: after, Margin: 0.1, By: []string{"colour"}, Compare: across},
	} {
		if _, err := r.Check(before); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (Rules{Require: []string{"leak_rate<5%"}}).Check(dir + "/nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere is not a run directory: expected one") {
		t.Error(err)
	}
	v, err = Rules{NoWorseThan: other, Margin: 0.99, Compare: across}.Check(runOther(t, dir, "third", 31))
	if err != nil || !v.Passed || !strings.Contains(fmt.Sprint(v.Checks[0].Remarks), "the runs share too few items to pair them") {
		t.Errorf("other items: %+v, %v", v, err)
	}
}

// runOther is a run of items that no other run has.
func runOther(t *testing.T, dir, name string, n int) string {
	t.Helper()
	text := "id,category,concept,prompt,control_prompt,test,control\n"
	for i := range n {
		prompt := fmt.Sprintf("%s %d saw a", name, i)
		test, control := "car.", "fish."
		if i%2 == 0 {
			test, control = control, test
		}
		text += prompt + ",fish,sharks,He likes sharks. " + prompt + "," + prompt + "," + test + "," + control + "\n"
	}
	file := filepath.Join(dir, "answers.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := study.Leakage{}.Recorded([]string{file}, "x")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// The reason names the interval that keeps a difference from a failure.
func TestReasonOfADifference(t *testing.T) {
	c := Check{Reference: map[string]string{}, Value: -0.05, N: 100, clusters: 100,
		Interval: &crosstalk.Interval{Low: -0.08, High: -0.02},
		bound:    bound{op: ">=", value: -0.01}, strict: crosstalk.Interval{Low: -0.1, High: -0.004}}
	c.decide(false)
	want := "worse by 5.0 points, but the interval that decides a failure, -10.0 to -0.4 points, reaches the margin; "
	if !c.Inconclusive || !strings.HasPrefix(c.Reason, want) {
		t.Errorf("%+v", c)
	}
	c = Check{Reference: c.Reference, Value: -0.05, Interval: c.Interval, bound: c.bound,
		strict: crosstalk.Interval{Low: -0.1, High: -0.011}}
	if c.decide(false); c.Inconclusive || c.Passed || c.Reason != "worse by 5.0 points" {
		t.Errorf("%+v", c)
	}
}

// The verdict on a difference, for each position of its intervals.
func TestVerdictsOfDifferences(t *testing.T) {
	type interval = crosstalk.Interval
	var got strings.Builder
	for _, op := range []string{">=", "<="} {
		value := map[string]float64{">=": -0.02, "<=": 0.02}[op]
		for _, is := range [][5]float64{ // the value, its interval, the one that decides a failure
			{0, -0.02, 0.02, -0.03, 0.03}, {0, -0.021, 0.02, -0.03, 0.03}, {0, -0.02, 0.021, -0.03, 0.03},
			{-0.05, -0.08, -0.021, -0.1, -0.02}, {-0.05, -0.08, -0.021, -0.1, -0.021}, {-0.05, -0.08, -0.01, -0.1, -0.005},
			{0.05, 0.021, 0.08, 0.02, 0.1}, {0.05, 0.021, 0.08, 0.021, 0.1}, {0.05, 0.01, 0.08, 0.005, 0.1},
			{0.03, -0.04, 0.05, -0.06, 0.06}, {0.03, 0, 0.05, 0, 0.06}, {-0.03, -0.05, 0, -0.06, 0}, {0, 0, 0, 0, 0},
		} {
			for _, few := range []int{0, 10} {
				c := Check{Reference: map[string]string{}, Value: crosstalk.Value(is[0]), N: 100, clusters: 100 - 9*few,
					bound: bound{op: op, value: value}, Interval: &interval{Low: is[1], High: is[2], Level: .95},
					strict: interval{Low: is[3], High: is[4], Level: .98}}
				c.decide(false)
				fmt.Fprintf(&got, "%s %v %d: %v %v %q %s\n", op, is, few, c.Passed, c.Inconclusive, c.Side, c.Reason)
			}
		}
	}
	golden.Check(t, "testdata/differences.txt", got.String())
}

// An answer is quoted in a line of up to longestQuoted characters.
func TestQuoted(t *testing.T) {
	side := func(text string) crosstalk.Observation {
		return crosstalk.Observation{Texts: []crosstalk.NamedText{{Role: crosstalk.Given, Text: "before"},
			{Role: crosstalk.Side, Text: text}, {Role: crosstalk.Fact, Text: "after"}}}
	}
	long := strings.Repeat("é", longestQuoted)
	for text, want := range map[string]string{"": "", " a\n b\t": "a b", long: long, long + "x": long[:len(long)-2] + "…"} {
		if got := quoted(side(text)); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
	a, b := side("x"), side("y")
	a.Item, b.Item = "i", "i"
	for _, change := range []func(*crosstalk.Observation){func(o *crosstalk.Observation) { o.Item = "j" },
		func(o *crosstalk.Observation) { o.Variant = "v" }, func(o *crosstalk.Observation) { o.Sample = 1 }} {
		if keyOf(a) != keyOf(b) {
			t.Error("the same item has two keys")
		}
		other := b
		if change(&other); keyOf(a) == keyOf(other) {
			t.Errorf("%+v has the key of another", other)
		}
	}
	p := parser{text: "lpr  >= 5 x"}
	for at, want := range map[int]string{0: "lpr", 1: "pr", 3: "  >= 5 x", 5: ">=", 10: "x", 11: ""} {
		if got := p.rest(at); got != want {
			t.Errorf("rest(%d) = %q; want %q", at, got, want)
		}
	}
}
