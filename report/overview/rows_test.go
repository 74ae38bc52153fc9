package overview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/leakage"
)

// linesWith are the lines of an answer that contain a text, without the space around them.
func linesWith(answer, text string) (lines []string) {
	for line := range strings.Lines(answer) {
		if strings.Contains(line, text) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// Groups with as many faults come in the order of their figures, then in that of the data; those without come last.
func TestOrderOfGroups(t *testing.T) {
	estimates := []crosstalk.Estimate{figure(confusion.LPR, 0.9, 100, 0, "model", "m", "language", "all"),
		figure(confusion.Faults, 0.1, 100, 0, "model", "m", "language", "all")}
	for _, g := range []struct {
		language    string
		lpr, faults float64
		n           int
	}{{"none", 0, 0, 0}, {"good", 0.9, 0.1, 20}, {"small", 0.1, 0.9, 1}, {"bad", 0.5, 0.1, 20}, {"same", 0.9, 0.1, 20},
		{"more", 1, 0.15, 20}} {
		estimates = append(estimates, figure(confusion.LPR, g.lpr, g.n, 0, "model", "m", "language", g.language),
			figure(confusion.Faults, g.faults, g.n, 0, "model", "m", "language", g.language))
	}
	answer := written(t, estimates, nil, nil)
	_, groups, _ := strings.Cut(answer, "most faults first\n")
	var got []string
	for line := range strings.Lines(groups) {
		if fields := strings.Fields(line); len(fields) > 0 && line != "" && strings.Contains(line, " of ") {
			got = append(got, fields[0])
		}
	}
	if want := []string{"more", "bad", "good", "same", "small", "none"}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v:\n%s", got, want, answer)
	}
}

// A measure that combines others is as bad as the worst of them, whether high or low is better.
func TestBadness(t *testing.T) {
	lower := func(value float64) crosstalk.Estimate {
		e := figure(confusion.WPR, value, 10, 0)
		e.Better = crosstalk.Lower
		return e
	}
	a := &answer{measures: []crosstalk.Measure{{Key: confusion.LPR}, {Key: confusion.LCPR}}}
	for _, c := range []struct {
		figures []crosstalk.Estimate
		want    string
	}{
		{nil, "+Inf"},
		{[]crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, 0), figure(confusion.WPR, 0.25, 10, 0)}, "0.5"},
		{[]crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, 0), figure(confusion.WPR, 0.25, 10, 0), figure(confusion.LCPR, 0.125, 10, 0)}, "0.25"},
		{[]crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, 0), figure(confusion.LCPR, 0.125, 10, 0)}, "0.5"},
		{[]crosstalk.Estimate{figure(confusion.LPR, 0.5, 0, 0), figure(confusion.LCPR, 0.125, 10, 0)}, "+Inf"},
		{[]crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, 0), lower(0.25), figure(confusion.LCPR, 0.125, 10, 0)}, "-0.25"},
	} {
		r := &row{figures: map[string]crosstalk.Estimate{}}
		for _, e := range c.figures {
			r.figures[e.Measure] = e
		}
		if got := fmt.Sprint(a.badness(r)); got != c.want {
			t.Errorf("%d figures: %s; want %s", len(c.figures), got, c.want)
		}
	}
}

// Most answers were not checked when more than half were not.
func TestMostlyUnchecked(t *testing.T) {
	for unchecked, want := range map[int]string{0: "", 10: "", 11: "warning: MOST ANSWERS WERE NOT CHECKED: 11 of 21"} {
		got := written(t, []crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, unchecked, "model", "m")}, nil, nil)
		if line := strings.Join(linesWith(got, "WERE NOT"), "|"); line != want {
			t.Errorf("%d of %d: %q; want %q", unchecked, 10+unchecked, line, want)
		}
	}
}

// Warnings about which readers can do nothing, or that say the same of another measure, are left out.
func TestWarningsOfTotals(t *testing.T) {
	lpr, wpr := figure(confusion.LPR, 0.5, 10, 0, "model", "m"), figure(confusion.WPR, 0.5, 10, 0, "model", "m")
	lpr.Warnings = []string{"no variation between clusters: no interval", "3 of the parts averaged have a single cluster",
		crosstalk.MostlyUnchecked + " (9 of 10)", "only 3 clusters"}
	wpr.Warnings = []string{"only 12 clusters", "another: no variation between clusters"}
	got := linesWith(written(t, []crosstalk.Estimate{lpr, wpr}, nil, nil), "warning")
	if want := []string{"warning: only 3 clusters", "warning: another: no variation between clusters"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// Up to maxPlain totals have a sentence.
func TestPlain(t *testing.T) {
	for models, want := range map[int]int{1: 1, maxPlain: maxPlain, maxPlain + 1: 0} {
		var estimates []crosstalk.Estimate
		for m := range models {
			for _, measure := range []string{confusion.LPR, confusion.Faults} {
				estimates = append(estimates, figure(measure, 0.5, 10, 0, "model", fmt.Sprint("m", m)))
			}
		}
		if got := linesWith(written(t, estimates, nil, nil), "are wholly"); len(got) != want || want > 1 && got[1][:4] != "m1: " {
			t.Errorf("%d models: %q; want %d sentences", models, got, want)
		}
	}
}

// A note has two lines at most; one for which there is no room makes way for shorter ones.
func TestNotes(t *testing.T) {
	word := strings.Repeat("x", 60)
	a := &answer{notes: []string{"a", word + " " + word + " " + word + " b", "c", word + " " + word}}
	long := []string{"  " + word, "  " + word + " " + strings.Repeat("x", 36) + "…"}
	for most, want := range map[int][]string{
		0: nil, 1: {"  a"}, 2: {"  a", "  c"},
		3: slices.Concat([]string{"  a"}, long),
		4: slices.Concat([]string{"  a"}, long, []string{"  c"}),
		5: slices.Concat([]string{"  a"}, long, []string{"  c"}),
		6: slices.Concat([]string{"  a"}, long, []string{"  c", "  " + word, "  " + word}),
	} {
		if got := a.noteLines(most); !slices.Equal(got, want) {
			t.Errorf("%d lines: %q; want %q", most, got, want)
		}
	}
}

// What is no fault is no example; as many are kept for each value of the first column alone.
func TestExamplesOfGroups(t *testing.T) {
	leak := func(finding string) crosstalk.Observation {
		o := crosstalk.Observation{Measure: leakage.Measure, Item: finding, Finding: finding}
		o.AddText(crosstalk.Side, "test", "text")
		return o
	}
	if x := kept("leakage", nil, leak("tie"), leak(leakage.Leaked), leak("not leaked")); len(x.kept) != 1 {
		t.Errorf("%d examples; want 1", len(x.kept))
	}
	var all []crosstalk.Observation
	for i := range maxAlike + 1 {
		o := wrong(confusion.LPR, fmt.Sprint(i), "de", confusion.SomeLines, "x")
		o.Labels["source"] = fmt.Sprint(i)
		all = append(all, o)
	}
	if x := kept("confusion", []string{"language", "source"}, all...); len(x.kept) != maxAlike {
		t.Errorf("%d examples; want %d", len(x.kept), maxAlike)
	}
	if x := kept("confusion", []string{"source", "language"}, all...); len(x.kept) != maxAlike+1 {
		t.Errorf("%d examples; want %d", len(x.kept), maxAlike+1)
	}
	const notText = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
	if got := around(strings.Repeat(notText, 5), 40, 41); got != "[\x80]"+notText[1:] {
		t.Errorf("%q", got)
	}
}
