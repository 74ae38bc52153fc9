package confusion

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// The words of an answer, in their places, and which protocols need a list of words.
func TestWordsOfAnswer(t *testing.T) {
	var got []string
	for _, s := range (Rules{}).Split("de", " Eins (zwei)\n\ndrei-vier — fünf\nQ: no") {
		got = append(got, fmt.Sprintf("%d %d-%d %s", s.Line, s.Start, s.End, s.Text))
	}
	if want := "1 1-5 Eins|1 7-11 zwei|3 14-23 dreivier|3 28-33 fünf"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
	if words := (Rules{}).Split("zh", "我们很好"); len(words) != 3 || words[0].Text != "我们" {
		t.Errorf("Chinese words %+v", words)
	}
	for n, want := range map[int]bool{0: true, 1: true, 2: false, 3: false} {
		if OnlyProse(Protocols[:n]) != want {
			t.Errorf("only prose, of %d protocols: %v", n, !want)
		}
	}
	if _, err := (Options{Threshold: "high"}).Resolve(); err == nil || !strings.HasPrefix(err.Error(), "threshold: ") {
		t.Errorf("a threshold in words: %v", err)
	}
	if _, err := (Options{Threshold: "high", Protocols: []string{"lcb-paper"}}).Resolve(); err == nil ||
		!strings.HasPrefix(err.Error(), "threshold has no effect on the protocol lcb-paper; choose crosstalk-1") {
		t.Errorf("a threshold without a judge: %v", err)
	}
	if list, err := (Options{Part: "reasoning"}).Resolve(); err != nil || len(list) != 1 || list[0] != Protocols[0] {
		t.Errorf("%+v, %v", list, err)
	}
}

// The tokens of an answer are those of the part that is scored; what is shown of them is the 20 to each side of the
// first confusion, with five candidates.
func TestStrip(t *testing.T) {
	in := listening(t)
	answer := text(" \nд x \n")
	answer.Logprobs = tokens(0.9, " ", "\n", "", "д", " x", " \n", "")
	var got []string
	for _, token := range in.uncertaintyIn(answer, nil) {
		got = append(got, fmt.Sprintf("%d-%d", token.Start, token.End))
	}
	if want := []string{"2-2", "2-4", "4-6"}; !slices.Equal(got, want) {
		t.Errorf("tokens %q; want %q", got, want)
	}
	for _, c := range []struct{ n, fault, from, to int }{{3, 1, 0, 3}, {60, 20, 0, 41}, {60, 30, 10, 51}, {60, 39, 19, 60},
		{60, 45, 25, 60}} {
		list := make([]crosstalk.Token, c.n)
		for i := range list {
			list[i] = crosstalk.Token{Start: i, Fault: i == c.fault || i == c.fault+2, Logprob: -1.23456,
				Candidates: make([]crosstalk.CandidateLogprob, 4+i%3)}
		}
		strip := stripOf(list)
		if len(strip) != c.to-c.from || strip[0].Start != c.from || strip[0].Logprob != -1.2346 {
			t.Errorf("around %d of %d: %d tokens from %+v", c.fault, c.n, len(strip), strip[0])
			continue
		}
		for _, token := range strip {
			if len(token.Candidates) != min(5, 4+token.Start%3) {
				t.Errorf("%d candidates of token %d", len(token.Candidates), token.Start)
			}
		}
	}
	for _, c := range []struct {
		token string
		bytes []byte
		want  string
	}{{"x", nil, "x"}, {"", []byte("é"), "é"}, {"a", []byte("b"), "a"}, {"�", []byte{0xc3}, `\xc3`}, {"", nil, ""}} {
		if got := printable(c.token, c.bytes); got != c.want {
			t.Errorf("%q %v: %q; want %q", c.token, c.bytes, got, c.want)
		}
	}
}

// Candidates with nearly all of the probability need no warning; answers that have no checked line are counted under
// the paper's protocols only; answers of no cluster have their weight.
func TestSmallPrint(t *testing.T) {
	for _, p := range Protocols {
		e := Rules{Protocol: p, Candidates: 2}.Estimator(By)
		for i, of := range [][2]float64{{2, 1}, {1, 3}} {
			for measure, mass := range map[string]float64{Entropy: 0.985, nucleusSize: 0.995} {
				e.Add(crosstalk.Observation{Measure: measure, Item: fmt.Sprint(i), Value: crosstalk.Value(of[0]),
					Condition: map[string]string{"model": "m"}, Labels: map[string]string{"at": atPoint},
					Numbers: map[string]float64{tokensCount: of[1], "mass": mass, "top_p": 0.75}})
			}
		}
		e.Add(crosstalk.Observation{Measure: LPR, Item: "a", Value: 1, Numbers: map[string]float64{linesChecked: 0}})
		weights := 4
		if p.Prose {
			weights = 2
		}
		for _, one := range e.Estimates(crosstalk.SuiteIDs{}) {
			warned := slices.ContainsFunc(one.Warnings, func(w string) bool { return strings.HasPrefix(w, "the candidates have") })
			if isUncertainty(one.Measure) && (one.Observations != weights || warned != (one.Measure == Entropy)) ||
				one.Measure == LPR && (one.Counts[passedUnchecked] == 1) == p.Prose {
				t.Errorf("%s: %+v", p.Name, one)
			}
		}
	}
	if got := foreignFrom("ru", crosstalk.Span{End: 7}, " 1 Wort"); got != 1 || scriptsOf("") != nil {
		t.Errorf("a line of an unknown language leaves the expected one at %d", got)
	}
}
