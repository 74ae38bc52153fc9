package overview

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
)

// kept are examples whose figures are grouped by columns, of these observations.
func kept(kind string, by []string, all ...crosstalk.Observation) *Examples {
	x := NewExamples(kind, by)
	for _, o := range all {
		x.Add(o)
	}
	return x
}

// wrong is an observation with a finding in a text, in a language.
func wrong(measure, item, language, finding, text string, spans ...crosstalk.Span) crosstalk.Observation {
	o := crosstalk.Observation{Measure: measure, Item: item, Finding: finding, Spans: spans,
		Condition: map[string]string{"model": "m"}, Labels: map[string]string{"language": language}}
	if text != "" {
		o.AddText(crosstalk.Side, confusion.AnswerText, text)
	}
	return o
}

// The answers of runs of every kind: one and several models, groups by several columns, columns that only a part of
// the answers has, names, long names, and figures that are missing.
func TestSheet(t *testing.T) {
	figures := func(rows ...[]string) (list []crosstalk.Estimate) {
		for i, by := range rows {
			for k, measure := range []string{confusion.LPR, confusion.WPR, confusion.LCPR, confusion.Faults} {
				value := 0.95 - 0.07*float64(i%9) - 0.02*float64(k)
				if measure == confusion.Faults {
					value = 1 - value
				}
				list = append(list, figure(measure, value, 20+10*(i%3), i%4, by...))
			}
		}
		return list
	}
	of := func(by ...string) []string { return by }
	both := figures(
		of("model", "a", "language", "all", "source", "all"), of("model", "a", "language", "de", "source", "all"),
		of("model", "a", "language", "fr", "source", "all"), of("model", "a", "language", "all", "source", "okapi"),
		of("model", "a", "language", "all", "source", "dolly"), of("model", "a", "language", "de", "source", "okapi"))
	two := figures(
		of("model", "provider:first@sha256-0123456789", "temperature", "0", "language", "all"),
		of("model", "provider:second", "language", "all"),
		of("model", "provider:first@sha256-0123456789", "temperature", "0", "language", "de"),
		of("model", "provider:second", "language", "de"), of("model", "provider:second", "language", "fr"))
	for i := range two {
		two[i].Warnings = []string{"no variation between clusters: no interval", fmt.Sprintf("only %d clusters", 2+i%3)}
	}
	part := figures(of("model", "m", "plan", "all"), of("model", "m", "plan", "gold"))
	part = append(part, figure(confusion.LPR, 0.5, 9, 0, "model", "m", "plan", "gold"))[:8]
	one := figures(of("model", "m", "task", "t", "language", "all"), of("model", "m", "task", "t", "language", "de"))
	for i := range one {
		one[i].N, one[i].Observations, one[i].Counts = 20, 20, nil
	}
	unchecked := figures(of("model", "m", "temperature", "0", "language", "all"), of("model", "m", "temperature", "1", "language", "all"),
		of("model", "m", "temperature", "0", "language", "de"), of("model", "m", "temperature", "1", "language", "de"))
	for i := range unchecked {
		unchecked[i].Counts = map[string]int{confusion.Unchecked: unchecked[i].Observations + i%3}
	}
	stopped := figures(of("model", "m", "language", "all"), of("model", "m", "language", "de"), of("model", "m", "language", "fr"))
	for i := range stopped {
		stopped[i].Counts[crosstalk.NotMeasured] = map[string]int{"all": 60, "de": 58, "fr": 2}[stopped[i].By["language"]]
	}
	empty := []crosstalk.Estimate{figure(confusion.LPR, 0, 0, 3, "model", "a"), figure(confusion.LPR, 0.5, 4, 0, "model", "b"),
		figure(confusion.WPR, 0, 0, 3, "model", "a"), figure(confusion.Faults, 0, 0, 3, "model", "a")}
	cover := figures(of("model", "m", "language", "all", "source", "all"), of("model", "m", "language", "de", "source", "all"),
		of("model", "m", "language", "fr", "source", "all"), of("model", "m", "language", "all", "source", "okapi"))
	for i := range cover {
		cover[i].N, cover[i].Observations, cover[i].Counts = []int{20, 19, 1, 20}[i/4], []int{20, 19, 1, 20}[i/4], nil
	}
	crossed := figures(of("model", "m", "language", "all", "source", "all"), of("model", "m", "language", "de", "source", "okapi"))
	var bad, plain []crosstalk.Estimate
	for i, language := range []string{"all", "xx", "de", "fr", "it"} {
		value := []float64{0.5, 0.9, 0.3, 0.4, 0.2}[i]
		bad = append(bad, figure(confusion.LPR, value, 20, 0, "model", "m", "language", language))
		plain = append(plain, bad[len(bad)-1])
		bad = append(bad, figure(confusion.LCPR, 0.5, 20, 0, "model", "m", "language", language))
		if language != "fr" {
			bad = append(bad, figure(confusion.WPR, 1-value, 20, 0, "model", "m", "language", language))
		}
	}
	var leaks, changes []crosstalk.Estimate
	for i, category := range []string{"all", "animals", "a category with a name that is much longer than the others", "colours"} {
		for _, model := range []string{"provider:organisation/model-with-a-long-name-1", "provider:organisation/model-with-a-long-name-2"} {
			for _, measure := range []string{leakage.Measure, leakage.MeasureClosest, leakage.MeasureMean, leakage.Faults} {
				e := figure(measure, 0.5+0.1*float64(i)+0.01*float64(len(leaks)%5), 10+i, 0, "model", model, "similarity", "gloss@1", "category", category)
				e.Better, e.Counts, e.Average = crosstalk.Lower, map[string]int{"not_scored": i}, nil
				leaks = append(leaks, e)
			}
		}
	}
	for i, by := range [][]string{{"pair", "en>de", "part", "T"}, {"pair", "en>de", "part", "X"}, {"pair", "en>zh", "part", "T"}} {
		for _, measure := range []string{consistency.Consistency, consistency.Accuracy, consistency.Faults} {
			e := figure(measure, 0.9-0.2*float64(i), 30, 0, append([]string{"model", "m", "task", "paws-x"}, by...)...)
			e.Counts, e.Average = map[string]int{"invalid": i, "not_scored": 2 * i}, nil
			changes = append(changes, e)
		}
	}
	var b strings.Builder
	for _, c := range []struct {
		title, kind string
		estimates   []crosstalk.Estimate
		names       report.Names
		examples    *Examples
	}{
		{"groups by two columns", "confusion", both, nil, examples()},
		{"two models, only one with a temperature", "confusion", two, nil, nil},
		{"named models", "confusion", two, report.Names{"provider:second": "second", "temperature:0": "cold"}, nil},
		{"a column that a part of the answers has", "confusion", part, nil, nil},
		{"a group that is all answers", "confusion", one, report.Names{"m": "mini"}, nil},
		{"mostly unchecked", "confusion", unchecked, nil, nil},
		{"stopped before most items", "confusion", stopped, nil, nil},
		{"a model without answers", "confusion", empty, nil, nil},
		{"long names, by rate", "leakage", leaks, nil, nil},
		{"one pair of senses", "consistency", changes[:3], nil, nil},
		{"pairs and parts", "consistency", changes, nil, nil},
		{"only faults", "confusion", both[3:4], nil, nil},
		{"languages that are all answers", "confusion", cover, nil, nil},
		{"columns only crossed", "confusion", crossed, nil, nil},
		{"without counts, by the worse of two measures", "confusion", bad, nil, nil},
		{"without counts, by one measure", "confusion", plain, nil, nil},
	} {
		fmt.Fprintf(&b, "== %s\n", c.title)
		if err := Write(&b, c.kind, c.estimates, c.names, c.examples); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/sheet.txt", b.String())
}

// What is left out when it does not fit: for each number of models, languages and kinds of warnings, with and without
// examples, what each line of the answer is: Title, Plain sentence, Header, Row, By a column, and More, Example, Note.
func TestRoom(t *testing.T) {
	var b strings.Builder
	for _, models := range []int{1, 2, 3, 7, 24} {
		for _, languages := range []int{0, 1, 2, 3, 15, 18, 21, 40} {
			for _, warnings := range []int{0, 1, 9} {
				var estimates []crosstalk.Estimate
				for m := range models {
					for l := -1; l < languages; l++ {
						language := crosstalk.All
						if l >= 0 {
							language = fmt.Sprintf("l%d", l)
						}
						for _, measure := range []string{confusion.LPR, confusion.Faults} {
							e := figure(measure, float64(l+2)/100, 50, 0, "model", fmt.Sprintf("m%d", m), "language", language)
							for k := range warnings {
								e.Warnings = append(e.Warnings, strings.Repeat("x", k+1))
							}
							estimates = append(estimates, e)
						}
					}
				}
				fmt.Fprintf(&b, "%2d models, %2d languages, %d warnings ", models, languages, warnings)
				for _, x := range []*Examples{nil, kept("confusion", nil, wrong(confusion.LPR, "ex", "l0", confusion.FullAnswer, "x")),
					examples(), kept("confusion", nil)} {
					b.WriteString(" " + shape(written(t, estimates, nil, x)))
				}
				b.WriteString("\n")
			}
		}
	}
	golden.Check(t, "testdata/room.txt", b.String())
}

// shape has a letter for each line.
func shape(answer string) (letters string) {
	letter, notes := "T", false
	for line := range strings.Lines(answer) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			letters += "."
			notes = strings.HasSuffix(letters, "E.") || strings.HasSuffix(letters, "R.") || strings.HasSuffix(letters, "M.")
			continue
		case letter == "T":
			letters, letter = "T", ""
			continue
		case strings.HasPrefix(line, "  by "):
			letters, letter = letters+"B", "R"
			continue
		case line == "  for example":
			letters, letter = letters+"F", "E"
			continue
		case strings.HasPrefix(line, "  and "):
			letters += "M"
			continue
		case strings.Contains(line, "not checked"):
			letters, letter = letters+"H", "R"
			continue
		case strings.Contains(line, "are wholly"):
			letters += "P"
			continue
		case notes && (strings.HasPrefix(line, "  warning") || strings.HasPrefix(line, "  LPR: ")):
			letter = "N"
		}
		letters += letter
	}
	return letters
}

// Examples are of answers with a fault in a headline measure; the text of an answer comes with its first observation.
func TestExamples(t *testing.T) {
	long := strings.Repeat("word ", 400)
	en := crosstalk.Span{Start: 0, End: 4, Language: "en"}
	implied := wrong(confusion.WPR, "implied", "de", confusion.SingleWords, "", en)
	implied.Implied = true
	sample := wrong(confusion.WPR, "ko", "ko", confusion.SingleWords, "", crosstalk.Span{Start: 4, End: 7})
	sample.Sample = 1
	variant := sample
	variant.Sample, variant.Variant = 0, "v"
	named := wrong(confusion.LPR, "item\x1b[1m with a name that is longer than a label may be", "de", confusion.SomeLines, long, en)
	named.Variant = "v"
	many := wrong(confusion.LPR, "many", "de", confusion.SomeLines, "One two", en, crosstalk.Span{Language: "fr"}, en,
		crosstalk.Span{Language: "it"}, crosstalk.Span{Language: "es"}, crosstalk.Span{})
	unlabelled := wrong(confusion.LPR, "unlabelled", "", confusion.SomeLines, "One two", en)
	delete(unlabelled.Labels, "language")
	pair := crosstalk.Observation{Measure: leakage.Measure, Item: "pair", Finding: leakage.Leaked,
		Spans: []crosstalk.Span{{Side: "test", Start: 2, End: 5}, {Side: "control", Start: 0, End: 99}, {Side: "control", Start: 3, End: 1}}}
	pair.AddText(crosstalk.Topic, "concept", "yellow\nthings")
	pair.AddText(crosstalk.Given, "given", "hidden")
	pair.AddText(crosstalk.Side, "test", "a bus driver")
	pair.AddText(crosstalk.Side, "control", "a doctor")
	changed := crosstalk.Observation{Measure: consistency.Consistency, Item: "changed",
		Finding: consistency.Inconsistent, Variant: "en>de T"}
	changed.AddText(crosstalk.Side, "source answer", "yes")
	changed.AddText(crosstalk.Side, "answer", "nein")
	changed.AddText(crosstalk.Fact, "gold", "1")
	var b strings.Builder
	for _, c := range []struct {
		kind string
		by   []string
		all  []crosstalk.Observation
	}{
		{"confusion", nil, []crosstalk.Observation{
			wrong(confusion.LPR, "right", "de", "", "Alles gut."), wrong(confusion.LineAccuracy, "right", "de", confusion.SomeLines, "Not a headline", en),
			implied, wrong(confusion.LPR, "ko", "ko", "", "네, yes 네"), sample, variant,
			wrong(confusion.WPR, "ko", "ko", confusion.SingleWords, "", crosstalk.Span{Start: 5, End: 8}),
			wrong(confusion.WPR, "none", "ko", confusion.SingleWords, "", crosstalk.Span{Start: 5, End: 8}),
			named, many, unlabelled, wrong(confusion.LPR, "fourth", "de", confusion.SomeLines, "Alike"),
			wrong(confusion.LPR, "unknown", "de", "new finding", "Text", en)}},
		{"confusion", []string{"language", "source"}, []crosstalk.Observation{
			wrong(confusion.LPR, "de-1", "de", confusion.SomeLines, "1"), wrong(confusion.LPR, "de-2", "de", confusion.SomeLines, "2"),
			wrong(confusion.LPR, "de-3", "de", confusion.SomeLines, "3"), wrong(confusion.LPR, "de-4", "de", confusion.SomeLines, "4"),
			wrong(confusion.LPR, "fr-1", "fr", confusion.SomeLines, "5")}},
		{"leakage", nil, []crosstalk.Observation{pair}},
		{"consistency", nil, []crosstalk.Observation{changed}},
	} {
		x := kept(c.kind, c.by, c.all...)
		fmt.Fprintf(&b, "== %s by %v\n", c.kind, c.by)
		for _, e := range x.kept {
			fmt.Fprintln(&b, e.line())
		}
		for n := range 4 {
			b.WriteString("pick")
			for _, e := range x.pick(nil, nil, n-1) {
				b.WriteString(" " + e.observation.Item)
			}
			b.WriteString("\n")
		}
	}
	golden.Check(t, "testdata/examples.txt", b.String())
}

// Examples of the worst groups come first, and of the same totals; then others, no item twice.
func TestPick(t *testing.T) {
	at := func(item, language, model string) crosstalk.Observation {
		o := wrong(confusion.LPR, item, language, confusion.FullAnswer, "x")
		o.Condition = map[string]string{"model": model}
		return o
	}
	x := kept("confusion", []string{"language"}, at("a", "de", "m"), at("b", "fr", "n"), at("c", "fr", "m"), at("c", "fr", "m"),
		at("d", "it", "m"), wrong(confusion.WPR, "e", "fr", confusion.SingleWords, "y"), wrong(confusion.WPR, "c", "es", confusion.SingleWords, "y"))
	var ofLanguages []*row
	for _, by := range [][2]string{{"it", "m"}, {"fr", "m"}, {"de", "n"}} {
		ofLanguages = append(ofLanguages, &row{by: map[string]string{"language": by[0], "model": by[1]}})
	}
	sections := []section{{"language", ofLanguages}, {"source", nil}}
	for n, want := range []string{"", "d", "d e", "d e c", "d e c a", "d e c a b", "d e c a b"} {
		var got []string
		for _, e := range x.pick(sections, []string{"model", "none"}, n) {
			got = append(got, e.observation.Item)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if (*Examples)(nil).pick(sections, nil, 3) != nil {
		t.Error("no examples")
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{report.Cut("abc", 3), "abc"}, {report.Cut("abcd", 3), "ab…"}, {report.Cut("ab cd", 4), "ab…"}, {report.Cut("組織", 4), "組織"}, {report.Cut("組織x", 4), "組…"},
		{report.Cut("éé", 2), "éé"}, {report.Cut("", 0), ""},
		{strings.Join(report.Wrap("a bb ccc", 4), "|"), "a bb|ccc"}, {strings.Join(report.Wrap("a bb ccc", 3), "|"), "a|bb|ccc"},
		{strings.Join(report.Wrap("abcdef g", 3), "|"), "ab…|g"}, {strings.Join(report.Wrap("", 3), "|"), ""},
		{line("a\n b\t\x1bc"), "a b ␛c"}, {line(strings.Repeat("é", 501)), strings.Repeat("é", 500)},
		{line(strings.Repeat("a", maxText) + "b"), strings.Repeat("a", maxText)},
		{line("x" + strings.Repeat("é", 501)), "x" + strings.Repeat("é", 499)},
		{around("one two three", 4, 7), "one [two] three"}, {around("one\ntwo", 4, 7), "[two]"}, {around("one\rtwo", 5, 7), "…t[wo]"},
		{around(strings.Repeat("a", 30)+"bc", 30, 31), strings.Repeat("a", 30) + "[b]c"},
		{around(strings.Repeat("a", 31)+"bc", 31, 32), "…" + strings.Repeat("a", 30) + "[b]c"},
		{around("x"+strings.Repeat("é", 16)+"b", 33, 34), "…" + strings.Repeat("é", 15) + "[b]"},
		{around(strings.Repeat("é", 16)+"xb", 33, 34), "…" + strings.Repeat("é", 14) + "x[b]"},
		{around("x\n"+strings.Repeat("a", 29)+"b", 31, 32), "…" + strings.Repeat("a", 29) + "[b]"},
		{around(strings.Repeat("a", 40)+"\nb", 41, 42), "[b]"}, {around("\n"+strings.Repeat("a", 30)+"b", 31, 32), "…" + strings.Repeat("a", 30) + "[b]"},
		{around("b"+strings.Repeat("c", maxText+1), 0, 1), "[b]" + strings.Repeat("c", maxText)},
		{languages(nil, "de"), ""}, {languages([]crosstalk.Span{{Language: "en"}, {Language: "en"}}, ""), ": en"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// An error of the writer is returned.
func TestWriteFails(t *testing.T) {
	closed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, e := range []crosstalk.Estimate{figure(confusion.LPR, 1, 1, 0, "model", "m"),
		figure(confusion.LineAccuracy, 1, 1, 0, "model", "m")} {
		if err := Write(closed, "confusion", []crosstalk.Estimate{e}, nil, nil); err == nil {
			t.Errorf("%s: no error", e.Measure)
		}
	}
}
