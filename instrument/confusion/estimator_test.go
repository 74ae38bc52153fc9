package confusion

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// answers are recorded: n times the same one.
type answers struct {
	task, source, language, answer string
	n                              int
}

const (
	right     = "%s 1 2 3 4"
	wrong     = "xx 1 2 3 4"
	wrongWord = "%s 1 2 3 people"
	short     = "%s 1"
)

// estimates scores answers and returns their figures.
func estimates(in *Instrument, by []string, recorded ...answers) []crosstalk.Estimate {
	return sumUp(in, observations(in, recorded), by)
}

func observations(in *Instrument, recorded []answers) iter.Seq[crosstalk.Observation] {
	return func(yield func(crosstalk.Observation) bool) {
		for _, a := range recorded {
			for i := range a.n {
				answer := text(strings.ReplaceAll(a.answer, "%s", a.language))
				if a.answer == "" {
					answer.Status = crosstalk.Empty
				}
				for _, o := range in.Score(crosstalk.Item{ID: fmt.Sprint(a, i), Prompt: &crosstalk.Prompt{Language: a.language},
					Labels: map[string]string{"task": a.task, "source": a.source, "length": strconv.Itoa(len(a.answer))}}, 0, answer) {
					if !yield(o) {
						return
					}
				}
			}
		}
	}
}

// sumUp is the estimates over observations.
func sumUp(in *Instrument, observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	e := in.Rules().Estimator(by)
	for o := range observations {
		e.Add(o)
	}
	return e.Estimates(crosstalk.SuiteIDs{All: "a|b@1"})
}

// find returns the figure of a measure, language and source.
func find(t *testing.T, all []crosstalk.Estimate, measure, language, source string) crosstalk.Estimate {
	t.Helper()
	for _, e := range all {
		if e.Measure == measure && e.By["language"] == language && e.By["source"] == source {
			return e
		}
	}
	t.Fatalf("no %s of %s/%s", measure, language, source)
	return crosstalk.Estimate{}
}

func near(a crosstalk.Value, b float64) bool { return math.Abs(float64(a)-b) < 1e-12 }

// Answers of a model that answers Korean prompts of source a in another
// language, and is never long enough in Hindi.
var confused = []answers{
	{"", "a", "ru", right, 30}, {"", "a", "ru", wrongWord, 10}, {"", "a", "ru", wrong, 10}, {"", "a", "ru", short, 7}, {"", "a", "ru", "", 3},
	{"", "b", "ru", right, 5}, {"", "b", "ru", wrong, 15},
	{"", "a", "ko", wrong, 20},
	{"", "a", "hi", short, 4},
	{"", "a", "fr", right, 9}, {"", "a", "fr", wrong, 1},
	{"", "c", "de", right, 1}, {"", "c", "de", wrong, 1}, {"", "d", "de", short, 1},
}

func TestAverages(t *testing.T) {
	harmonic := func(a, b float64) float64 { return 2 * a * b / (a + b) }
	ruLPR, ruWPR := (0.8+0.25)/2, (0.75+1)/2
	for protocol, want := range map[string]map[string]float64{
		"lcb-script" + undefined: {
			"lpr ru a": 0.8, "lpr ru b": 0.25, "lpr ru all": ruLPR, "lpr all all": (ruLPR + 0 + 0.9 + 0.5) / 4, "lpr de all": 0.5, "lpr all a": (0.8 + 0 + 0.9) / 3, "lpr all b": 0.25,
			"wpr ru a": 0.75, "wpr ru all": ruWPR, "wpr ko a": math.NaN(), "wpr all all": ruWPR,
			"lpr hi a": math.NaN(), "lcpr hi a": math.NaN(),
			"lcpr ru a": harmonic(0.8, 0.75), "lcpr ru all": harmonic(ruLPR, ruWPR), "lcpr ko all": 0, "lcpr all all": harmonic(ruLPR, ruWPR) / 2,
			"line_accuracy fr all": 0.9,
			"lcpr all a":           harmonic((0.8+0+0.9)/3, 0.75), "lcpr all b": harmonic(0.25, 1),
		},
		"lcb-script": {
			"lpr hi a": 1, "wpr hi a": 1, "wpr ko a": 1, "lpr all all": (ruLPR + 0 + 1 + 0.9 + 0.75) / 5, "lpr de all": 0.75, "wpr all all": (ruWPR + 1 + 1) / 3,
			"lcpr hi all": 1, "lcpr ko all": 0, "lcpr all all": (harmonic(ruLPR, ruWPR) + 0 + 1) / 3,
			"lcpr all a": harmonic((0.8+0+1+0.9)/4, (0.75+1+1)/3),
		},
		"lcb-paper": {
			"lpr hi a": 1, "lpr ru a": 47.0 / 57, "wpr ru a": 37.0 / 47, "wpr fr all": 1, "wpr ko a": math.NaN(),
			"lcpr all a": harmonic((47.0/57+0+1+0.9)/4, (37.0/47+1+1)/3),
		},
	} {
		all := estimates(instrument(t, protocol), By, confused...)
		for name, value := range want {
			var measure, language, source string
			fmt.Sscan(name, &measure, &language, &source)
			e := find(t, all, measure, language, source)
			if !near(e.Value, value) && !(math.IsNaN(value) && !e.Value.Defined()) {
				t.Errorf("%s %s is %v, want %v", protocol, name, e.Value, value)
			}
			if i := e.Interval; i != nil && !(i.Low <= value && value <= i.High && i.Level == estimate.Level) {
				t.Errorf("%s %s has the interval %+v", protocol, name, *i)
			} else if i == nil && e.Observations > 0 {
				t.Errorf("%s %s has no interval", protocol, name)
			}
		}
	}
}

// LCPR of one source over several languages is the harmonic mean of its LPR and
// WPR under the paper's protocols only; its signature and average say so.
func TestLCPROfASource(t *testing.T) {
	ru, ko, fr := answers{"", "a", "ru", right, 3}, answers{"", "a", "ko", wrong, 2}, answers{"", "a", "fr", wrong, 1}
	elsewhere, unnamed := ko, []answers{ru, ko}
	elsewhere.source, unnamed[0].source, unnamed[1].source = "b", "", ""
	for _, c := range []struct {
		name, protocol string
		of             []answers
		want           float64
		row            bool
	}{
		{"two languages", "lcb-script", []answers{ru, ko}, 2 * 0.5 / 1.5, true},
		{"a language without a word check", "lcb-script", []answers{ru, fr}, 2 * 0.5 / 1.5, true},
		{"two languages", "lcb-paper", []answers{ru, ko}, 2 * 0.5 / 1.5, true},
		{"one language", "lcb-script", []answers{ru}, 1, false},
		{"two sources", "lcb-script", []answers{ru, elsewhere}, 0.5, false},
		{"no source", "lcb-script", unnamed, 0.5, false},
		{"our protocol", "crosstalk-1", []answers{ru, ko}, 0.5, false},
	} {
		in := instrument(t, "lcb-script")
		of := *in
		of.Protocol, _ = ProtocolNamed(c.protocol)
		got := find(t, sumUp(&of, observations(in, c.of), By), LCPR, "all", "all")
		if !near(got.Value, c.want) || strings.Contains(got.Signature, "|harmonic:source|") != c.row || (got.Average.Over[0] == "source") != c.row {
			t.Errorf("%s, %s: %v %s %v, want %v", c.name, c.protocol, got.Value, got.Signature, *got.Average, c.want)
		}
	}
	// Answers in languages without a word check count where they have a part in the figure.
	all := estimates(instrument(t, "lcb-script"), By, ru, fr, elsewhere)
	if row, mean := find(t, all, LCPR, "all", "a"), find(t, all, LCPR, "all", "all"); row.Observations != 4 || mean.Observations != 5 {
		t.Errorf("%d answers of a source, %d of all; want 4 and 5", row.Observations, mean.Observations)
	}
	if all := estimates(instrument(t, "lcb-script"), By, fr, answers{"", "a", "de", right, 1}); slices.ContainsFunc(all,
		func(e crosstalk.Estimate) bool { return e.Measure == LCPR }) {
		t.Error("LCPR of answers without a word check")
	}
}

// Each figure by several columns is that of its answers alone: what figures over all
// languages and sources share with those of one is not mixed up.
func TestFiguresOfParts(t *testing.T) {
	in := instrument(t, "lcb-paper"+undefined)
	columns := []string{"language", "source", "length", "task"}
	all := slices.Collect(observations(in, append([]answers{{"mono", "b", "ru", right, 3}, {"mono", "a", "fr", wrong, 2}}, confused...)))
	got := sumUp(in, slices.Values(all), columns[:3])
	if len(got) < 80 {
		t.Fatalf("%d figures", len(got))
	}
	for _, e := range got {
		var part []crosstalk.Observation
		for _, o := range all {
			if !slices.ContainsFunc(columns, func(c string) bool {
				return e.By[c] != crosstalk.All && e.By[c] != o.Labels[c]
			}) {
				part = append(part, o)
			}
		}
		alone := sumUp(in, slices.Values(part), nil)
		i := slices.IndexFunc(alone, func(a crosstalk.Estimate) bool { return a.Measure == e.Measure })
		if i < 0 {
			t.Errorf("%s of %v: none of its answers alone", e.Measure, e.By)
			continue
		}
		want := alone[i]
		want.By = e.By
		if a, b := string(crosstalk.Canonical(e)), string(crosstalk.Canonical(want)); a != b {
			t.Errorf("%s of %v:\n%s, of its answers alone\n%s", e.Measure, e.By, a, b)
		}
	}
}

// TestClusters checks that answers to one prompt are a cluster, in whatever
// language, and that samples are of one item.
func TestClusters(t *testing.T) {
	in := instrument(t, "lcb-script")
	clustered := func(name func(prompt, language, sample int) string) []crosstalk.Estimate {
		return sumUp(in, func(yield func(crosstalk.Observation) bool) {
			for prompt := range 40 {
				for language, code := range []string{"ru", "ko"} {
					for sample := range 3 {
						answer := code + " 1 2 3 4"
						if prompt%4 == 0 {
							answer = wrong
						}
						i := crosstalk.Item{Cluster: name(prompt, language, sample), Prompt: &crosstalk.Prompt{Language: code}}
						for _, o := range in.Score(i, sample, text(answer)) {
							if !yield(o) {
								return
							}
						}
					}
				}
			}
		}, nil)
	}
	all := clustered(func(int, int, int) string { return "" })
	if lcpr := find(t, all, LCPR, "all", "all"); lcpr.Clusters != 240 {
		t.Errorf("LCPR of 240 answers by themselves: %+v", lcpr)
	}
	own := find(t, all, LPR, "all", "all")
	prompts := find(t, clustered(func(prompt, _, _ int) string { return strconv.Itoa(prompt) }), LPR, "all", "all")
	if own.Clusters != 240 || prompts.Clusters != 40 || own.N != 80 || own.Value != prompts.Value {
		t.Errorf("240 answers to 80 items: %+v; by prompt %+v", own, prompts)
	}
	// Within a prompt all answers are the same: the interval is that of 40.
	if ratio := width(prompts) / width(own); ratio < 2 || ratio > 3.2 {
		t.Errorf("the interval by prompt is %.2f times as wide, want about √6", ratio)
	}
}

func width(e crosstalk.Estimate) float64 { return e.Interval.High - e.Interval.Low }
