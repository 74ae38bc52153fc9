package overview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
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
		{[]crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, 0), figure(confusion.WPR, 0.25, 10, 0),
			figure(confusion.LCPR, 0.125, 10, 0)}, "0.25"},
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

// Other measures are named once, and rows without the first figure have the counts of the next one.
func TestPartsOfRows(t *testing.T) {
	answer := written(t, []crosstalk.Estimate{figure(confusion.LPR, 0.5, 10, 1, "model", "m", "language", "all"),
		figure(confusion.LPR, 0.5, 10, 1, "model", "m", "language", "de"), figure(confusion.WPR, 0.5, 8, 2, "model", "m", "language", "all"),
		figure(confusion.WPR, 0.5, 8, 2, "model", "m", "language", "fr"), figure(confusion.LineAccuracy, 0.9, 10, 0, "model", "m", "language", "all"),
		figure(confusion.LineAccuracy, 0.9, 10, 0, "model", "m", "language", "de")}, nil, nil)
	if got := linesWith(answer, "--all also"); !slices.Equal(got, []string{"--all also prints line accuracy"}) {
		t.Errorf("%q", got)
	}
	for language, want := range map[string]string{"all": " 1 of 11", "de": " 1 of 11", "fr": " 2 of 10"} {
		if got := linesWith(answer, "  "+language+" "); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: %q; want%s in\n%s", language, got, want, answer)
		}
	}
}

// An answer without notes has a line more for its rows.
func TestRoomWithoutNotes(t *testing.T) {
	for models, more := range map[int]bool{29: false, 30: true} {
		var estimates []crosstalk.Estimate
		for m := range models {
			e := figure(consistency.Consistency, 0.5, 10, 0, "model", fmt.Sprintf("m%02d", m))
			e.Counts, e.Average = nil, nil
			estimates = append(estimates, e)
		}
		var b strings.Builder
		if err := Write(&b, "consistency", estimates, nil, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "more: --all") != more || strings.Count(b.String(), "\n") > maxLines {
			t.Errorf("%d models: %d lines\n%s", models, strings.Count(b.String(), "\n"), b.String())
		}
	}
}

// A second section is shown where it fits below the worst rows of the first and their count.
func TestSecondSection(t *testing.T) {
	a := &answer{totals: make([]*row, 3), sections: []section{{column: "language"}, {column: "source"}}}
	for i := range 12 {
		a.sections[0].rows = append(a.sections[0].rows, &row{by: map[string]string{"language": fmt.Sprint(i % 4)}})
	}
	for i := range 3 {
		a.sections[1].rows = append(a.sections[1].rows, &row{by: map[string]string{"source": fmt.Sprint(i)}})
	}
	for room, want := range map[int]string{14: " 3 language 4 more 8", 15: " 3 language 4 more 8 source 3", 16: " 3 language 4 more 8 source 3",
		17: " 3 language 12", 21: " 3 language 12", 22: " 3 language 12 source 3", 8: " 3 language 2 more 10", 7: " 3", 3: " 3", 2: " 1 more 2"} {
		got := ""
		for _, b := range a.fit(room) {
			got += strings.TrimSuffix(" "+b.column, " ") + fmt.Sprint(" ", len(b.rows))
			if b.more > 0 {
				got += fmt.Sprint(" more ", b.more)
			}
		}
		if got != want {
			t.Errorf("%d lines: %q; want %q", room, got, want)
		}
	}
}
