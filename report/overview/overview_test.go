package overview

import (
	"fmt"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/instrument/confusion"
	"crosstalk/report"
)

func figure(measure string, value float64, n, unchecked int, by ...string) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(value), N: n, Observations: n, Clusters: n,
		Better: crosstalk.Higher,
		Counts: map[string]int{confusion.Unchecked: unchecked}, By: map[string]string{}, Signature: "s",
		Interval: &crosstalk.Interval{Low: value - 0.05, High: min(1, value+0.05), Level: 0.95}}
	if n == 0 {
		e.Value, e.Interval = crosstalk.Undefined, nil
	}
	for i := 0; i < len(by); i += 2 {
		e.By[by[i]] = by[i+1]
	}
	if measure != confusion.LineAccuracy {
		e.Average = &crosstalk.Average{Over: []string{"language"}}
	}
	if measure == confusion.LCPR {
		e.Average.HarmonicOf = []string{confusion.LPR, confusion.WPR}
	}
	return e
}

func written(t *testing.T, estimates []crosstalk.Estimate, names report.Names, examples *Examples) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, confusion.Kind().Name, estimates, names, examples); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if i >= maxLines {
			t.Fatalf("more than %d lines:\n%s", maxLines, b.String())
		}
		if w := report.Width(line); w > maxColumns {
			t.Errorf("line %d has %d columns:\n%s", i+1, w, line)
		}
	}
	return b.String()
}

// examples are in a language without its own words, so that languages differ.
func examples() *Examples {
	x := NewExamples("confusion", []string{"language"})
	add := func(item, language, measure, finding, text string, spans ...crosstalk.Span) {
		o := crosstalk.Observation{Measure: measure, Item: item, Finding: finding, Spans: spans,
			Condition: map[string]string{"model": "m"}, Labels: map[string]string{"language": language}}
		if text != "" {
			o.AddText(crosstalk.Side, confusion.AnswerText, text)
		}
		x.Add(o)
	}
	add("fr-1", "fr", confusion.LPR, confusion.FullAnswer, "Sure,\nhere you go!", crosstalk.Span{Start: 0, End: 5, Language: "en"})
	add("fr-2", "fr", confusion.LPR, confusion.FullAnswer, "Of course.", crosstalk.Span{Start: 0, End: 10, Language: "en"})
	add("ko-1", "ko", confusion.LPR, "", "환불은 已经 처리되었습니다.")
	add("ko-1", "ko", confusion.WPR, confusion.SingleWords, "", crosstalk.Span{Start: 10, End: 16})
	add("ja-1", "ja", confusion.LCPR, "", "はい。")
	return x
}

func TestAnswer(t *testing.T) {
	estimates := []crosstalk.Estimate{
		figure(confusion.LPR, 0.8, 40, 3, "model", "m", "language", "all"),
		figure(confusion.LPR, 1, 20, 0, "model", "m", "language", "ja"),
		figure(confusion.LPR, 0.9, 10, 0, "model", "m", "language", "ko"),
		figure(confusion.LPR, 0.5, 10, 3, "model", "m", "language", "fr"),
		figure(confusion.LPR, 0, 0, 4, "model", "m", "language", "th"),
		figure(confusion.WPR, 0.75, 25, 0, "model", "m", "language", "all"),
		figure(confusion.WPR, 1, 20, 0, "model", "m", "language", "ja"),
		figure(confusion.WPR, 0.4, 5, 0, "model", "m", "language", "ko"),
		figure(confusion.LCPR, 0.77, 40, 3, "model", "m", "language", "all"),
		figure(confusion.LCPR, 0.55, 10, 0, "model", "m", "language", "ko"),
		figure(confusion.LineAccuracy, 0.9, 40, 3, "model", "m", "language", "all"),
		figure(confusion.Faults, 0.275, 40, 3, "model", "m", "language", "all"),
		figure(confusion.Faults, 0, 20, 0, "model", "m", "language", "ja"),
		figure(confusion.Faults, 0.6, 10, 0, "model", "m", "language", "ko"),
		figure(confusion.Faults, 0.5, 10, 3, "model", "m", "language", "fr"),
		figure(confusion.Faults, 0, 0, 4, "model", "m", "language", "th"),
	}
	estimates[0].Warnings = []string{"only 3 clusters (need at least 5)"}
	estimates[5].Warnings = []string{"only 2 clusters (need at least 5)"}
	want := `Language confusion of mini

  11 of 40 answers are wholly or partly in another language: 27.5 % (22.5 to 32.5)

       any fault  LPR %  95 % interval  WPR %  95 % interval  LCPR %  95 % interval  not checked
  all   11 of 40   80.0   75.0 to 85.0   75.0   70.0 to 80.0    77.0   72.0 to 82.0      3 of 43

  by language, most faults first
  ko     6 of 10   90.0   85.0 to 95.0   40.0   35.0 to 45.0    55.0   50.0 to 60.0      0 of 10
  fr     5 of 10   50.0   45.0 to 55.0      -              -       -              -      3 of 13
  ja     0 of 20  100.0  95.0 to 100.0  100.0  95.0 to 100.0       -              -      0 of 20
  th           -      -              -      -              -       -              -       4 of 4

  for example
  ko-1  wrong word  환불은 [已经] 처리되었습니다.
  fr-1  all in a wrong language: en, not fr  [Sure,] here you go!
  fr-2  all in a wrong language: en, not fr  [Of course.]

  warning: MOST ANSWERS WERE NOT CHECKED: th 4 of 4
  warning: only 3 clusters (need at least 5)
  --all also prints line accuracy
  LPR: line-level pass rate; WPR: word-level pass rate; LCPR: language confusion pass rate
`
	if got := written(t, estimates, report.Names{"m": "mini"}, examples()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// However many conditions, groups and warnings there are and however long their
// names, the answer fits, with the totals and the worst group first.
func TestFits(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 0}, {1, 2, 5}, {2, 15, 10}, {1, 40, 40}, {5, 3, 300}, {24, 20, 200},
		{100, 5, 50}} {
		models, languages, long := shape[0], shape[1], shape[2]
		var estimates []crosstalk.Estimate
		for m := range models {
			model := fmt.Sprintf("provider:%smodel-%d", strings.Repeat("組織/", long), m)
			for l := -1; l < languages; l++ {
				language := crosstalk.All
				if l >= 0 {
					language = fmt.Sprintf("l%d\x1b[31m\n", l)
				}
				for _, measure := range []string{confusion.LPR, confusion.WPR, confusion.LCPR} {
					e := figure(measure, 1-float64(l+1)/100, 50, l%3, "model", model, "temperature", fmt.Sprint(m), "language", language)
					e.Warnings = []string{fmt.Sprintf("%d %s", l, strings.Repeat("long ", long))}
					estimates = append(estimates, e)
				}
			}
		}
		got := written(t, estimates, nil, examples())
		if strings.Contains(got, "\x1b") {
			t.Errorf("%v: control characters:\n%s", shape, got)
		}
		if worst := fmt.Sprintf("l%d", languages-1); languages > 1 && models < 10 &&
			!strings.Contains(strings.SplitAfterN(got, "worst", 2)[1][:200], worst) {
			t.Errorf("%v: %s is not first:\n%s", shape, worst, got)
		}
		if rows := models + models*languages; languages > 1 && rows > maxLines && !strings.Contains(got, "more: --all") {
			t.Errorf("%v: does not say that rows are left out:\n%s", shape, got)
		}
	}
}

// Without a headline measure, all figures are printed.
func TestOtherMeasures(t *testing.T) {
	for _, estimates := range [][]crosstalk.Estimate{nil, {figure(confusion.LineAccuracy, 0.9, 40, 3, "model", "m")}} {
		var b strings.Builder
		if err := Write(&b, confusion.Kind().Name, estimates, nil, nil); err != nil ||
			strings.Contains(b.String(), "90.0") != (estimates != nil) {
			t.Errorf("%d figures: %q, %v", len(estimates), b.String(), err)
		}
	}
}

// Examples are bounded in number and in size.
func TestExamplesBounded(t *testing.T) {
	x := NewExamples("confusion", []string{"language"})
	long := strings.Repeat("ü", 1<<20)
	for i := range 10 * maxKept {
		o := crosstalk.Observation{Measure: confusion.LPR, Item: fmt.Sprint(i), Finding: confusion.FullAnswer,
			Labels: map[string]string{"language": fmt.Sprint(i)}}
		o.AddText(crosstalk.Side, confusion.AnswerText, long)
		x.Add(o)
	}
	bytes := 0
	for _, e := range x.kept {
		bytes += len(e.text)
	}
	if len(x.kept) != maxKept || bytes > 2*maxKept*maxText {
		t.Errorf("%d examples with %d bytes", len(x.kept), bytes)
	}
}

// Every instrument has measures for the short answer, which are fractions.
func TestHeadlines(t *testing.T) {
	for _, kind := range instrument.Kinds() {
		n := 0
		for _, m := range kind.Measures {
			if m.Headline {
				n++
			}
			if m.Headline && (m.OfTokens || m.ByClass) {
				t.Errorf("%s: %s is not about answers", kind.Name, m.Key)
			}
		}
		if n < 1 || n > 3 {
			t.Errorf("%s has %d headline measures", kind.Name, n)
		}
	}
}
