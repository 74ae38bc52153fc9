package guard

import (
	"crosstalk"
	"strings"
	"testing"

	"crosstalk/measure/prose"
)

func TestParseThreshold(t *testing.T) {
	for text, want := range map[string]float64{"observe": crosstalk.Observe, "warn": crosstalk.Warn,
		"block": crosstalk.Block, "1": 1, "0.25": 0.25, "1e-3": 0.001} {
		if got, err := crosstalk.ParseThreshold(text); err != nil || got != want {
			t.Errorf("%s: %g, %v; want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-0.1", "1.01", "NaN", "strict", "50%"} {
		if got, err := crosstalk.ParseThreshold(text); err == nil || !strings.Contains(err.Error(), "expected observe, warn, block") {
			t.Errorf("%q: %g, %v", text, got, err)
		}
	}
}

// The risk grows with the probability that words are in another language. Without an excuse it is at least even, with
// one less.
func TestRisk(t *testing.T) {
	kinds := []prose.Kind{"", Gloss, Mention, Name, Loan, Doubt, prose.Quote}
	for _, kind := range []string{Line, Word} {
		for i, excuse := range kinds {
			last, expected := 0.0, []string{"de", "nl", "et"}[i%3]
			for _, p := range []float64{0.0001, 0.3, 0.8, 0.99, 0.9999} {
				risk := Span{Kind: kind, P: p, Excuse: excuse}.risk(expected)
				if risk < last || (risk >= crosstalk.Warn) != (excuse == "") || risk <= 0 || risk >= 1 {
					t.Errorf("%s, excuse %q, p %g: risk %g after %g", kind, excuse, p, risk, last)
				}
				last = risk
			}
		}
	}
}

// A threshold decides which spans count: those whose risk is high enough, with an excuse or without one.
func TestThreshold(t *testing.T) {
	const term, plain = "Этот стиль называют кролем (freestyle), он самый быстрый.", "오늘은 비가 오니까 do not forget your umbrella 꼭 챙기세요."
	for _, c := range []struct {
		tag, text string
		threshold float64
		want      Verdict
		excuse    prose.Kind
	}{
		{"ru", term, 0, Right, Gloss}, {"ru", term, crosstalk.Warn, Right, Gloss}, {"ru", term, 0.0001, Wrong, ""},
		{"ko", plain, 0, Wrong, ""}, {"ko", plain, crosstalk.Warn, Wrong, ""}, {"ko", plain, 1, Right, Doubt},
	} {
		j, err := Checker{Threshold: c.threshold}.Check(c.text, c.tag)
		if err != nil || j.Verdict != c.want || len(j.Spans) != 1 || j.Spans[0].Excuse != c.excuse {
			t.Fatalf("%s at %g: %+v, %v; want %s, excuse %q", c.tag, c.threshold, j, err, c.want, c.excuse)
		}
		if j.Risk != j.Spans[0].Risk || j.P != map[Verdict]float64{Wrong: j.Risk, Right: rounded(1 - j.Risk)}[c.want] {
			t.Errorf("%s at %g: risk %g, p %g, span %+v", c.tag, c.threshold, j.Risk, j.P, j.Spans[0])
		}
	}
	for threshold, want := range map[float64]string{0: "", crosstalk.Warn: "", crosstalk.Observe: "+observe",
		crosstalk.Block: "+block", 0.25: "+0.25"} {
		rules := (Checker{Threshold: threshold}).Rules()
		if !strings.HasSuffix(rules, want) || strings.Count(rules, "+") != 1+strings.Count(want, "+") {
			t.Errorf("threshold %g: rules %s, want the ending %q", threshold, rules, want)
		}
	}
	if j, err := Check("42", "de"); err != nil || j.Risk != 0.5 || j.P != 0.5 {
		t.Errorf("nothing to judge: %+v, %v", j, err)
	}
	for tag, model := range map[string]string{"de": "thorough", "nl": "short", "et": "thin", "ko": "thorough", "xx": "lines"} {
		want := rounded(curves["silent "+model].at(0))
		c := &check{want: expected{base: tag}, asked: true}
		if got := c.highest(nil); got != want {
			t.Errorf("%s, no spans: %g, want %g", tag, got, want)
		}
		if got := c.highest([]Span{{Risk: 0.3}, {Risk: 0.7}, {Risk: 0.001}}); got != 0.7 {
			t.Errorf("%s, the highest of three: %g", tag, got)
		}
	}
}
