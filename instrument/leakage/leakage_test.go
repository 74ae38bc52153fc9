package leakage

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/asktest"
	"crosstalk/measure/similarity"
)

var bg = context.Background()

// fake has scores for some texts and none for others.
func fake(name string, scores map[string]float64) similarity.Similarity {
	return similarity.Func(name, func(_, b string) (float64, bool) {
		s, ok := scores[b]
		return s, ok
	})
}

func text(s string) crosstalk.Answer { return crosstalk.Answer{Status: crosstalk.Text, Text: s} }

func status(s crosstalk.Status) crosstalk.Answer { return crosstalk.Answer{Status: s} }

var koalas = crosstalk.Item{ID: "k", Cluster: "c", Labels: map[string]string{"category": "animals"},
	Pair: &crosstalk.Pair{Concept: "koalas", Test: prompt, Control: "His favourite food is"}}

func TestLeakValue(t *testing.T) {
	exact, three := Protocol{Round: Exact}, Protocol{Round: 3}
	next := math.Nextafter(0.5, 1)
	for _, c := range []struct {
		p             Protocol
		test, control float64
		want          float64
	}{
		{exact, 0.6, 0.5, 1}, {exact, 0.5, 0.6, 0}, {exact, 0.5, 0.5, 0.5}, {exact, next, 0.5, 1},
		{exact, 0, math.Copysign(0, -1), 0.5},
		{exact, -0.2, -0.1, 0},
		{three, next, 0.5, 0.5}, {three, 0.5014, 0.5006, 0.5}, {three, 0.5016, 0.5014, 1}, {three, -0.0001, 0, 0.5},
		{Protocol{Round: 0}, 0.6, 0.9, 0.5}, {Protocol{Round: 0}, 0.4, 0.9, 0},
	} {
		var o crosstalk.Observation
		c.p.compare(&o, c.test, c.control, "of ")
		found := "of " + map[float64]string{0: notLeaked, 0.5: Tie, 1: Leaked}[c.want]
		if o.Value != crosstalk.Value(c.want) || o.Finding != found ||
			o.Numbers[Test] != c.test || o.Numbers[Control] != c.control {
			t.Errorf("round %d: %v and %v: %+v, want %g", c.p.Round, c.test, c.control, o, c.want)
		}
	}
}

// The wanted values are what Python 3's round(x, n) gives: exact halves go to
// the even digit, and a decimal that has no exact binary value goes where its
// binary value lies.
func TestRoundIsPythons(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want float64
	}{
		{0.0005, 3, 0.001}, {0.0015, 3, 0.002}, {0.0025, 3, 0.003}, {0.0035, 3, 0.004}, {0.0045, 3, 0.004}, {2.675, 2, 2.67},
		{0.5, 0, 0}, {1.5, 0, 2}, {2.5, 0, 2}, {0.125, 2, 0.12}, {0.375, 2, 0.38}, {-0.0625, 3, -0.062}, {1e-9, 3, 0},
		{0.9995, 3, 1}, {1.0005, 3, 1},
	} {
		if got := round(c.x, c.n); got != c.want {
			t.Errorf("round(%v, %d) = %v, want %v", c.x, c.n, got, c.want)
		}
	}
}

func TestScoreSaysWhyNot(t *testing.T) {
	known, unknown := text("leaves."), text("xyzzy.")
	infinite := text("infinite.")
	for _, c := range []struct {
		test, control crosstalk.Answer
		want          string
	}{
		{known, known, ""},
		{unknown, known, "no vector"}, {known, unknown, "no vector"}, {infinite, known, "no vector"}, {infinite, infinite, "no vector"},
		{text(" \n"), known, "no text"}, {known, text("…"), "no text"}, {known, text(prompt[len("He likes koalas. "):]), repeatsPrompt},
		{text("I'm sorry, but I can't help with that."), known, "no answer"}, {known, text("No lo sé."), "no answer"},
		{status(crosstalk.Empty), known, "empty"}, {known, status(crosstalk.Empty), "empty"},
		{status(crosstalk.Refused), known, "refused"}, {known, status(crosstalk.Failed), "failed"},
		// The graver of two reasons is given.
		{status(crosstalk.Empty), status(crosstalk.Refused), "refused"}, {status(crosstalk.Failed), status(crosstalk.Refused), "failed"},
		{text(" "), status(crosstalk.Empty), "empty"}, {unknown, text(" "), "no text"},
	} {
		in := &Instrument{Protocol: Protocols[0],
			Similarities: []similarity.Similarity{fake("a", map[string]float64{"leaves.": 0.9, "infinite.": math.Inf(1)})}}
		got, err := in.Score(bg, koalas, 0, []crosstalk.Answer{c.test}, []crosstalk.Answer{c.control})
		if err != nil {
			t.Fatal(err)
		}
		if o := got[0]; o.NotScored != c.want || o.Value.Defined() != (c.want == "") {
			t.Errorf("%q and %q: not scored: %q, value %v; want %q", c.test.Text+string(c.test.Status), c.control.Text+string(c.control.Status), o.NotScored, o.Value, c.want)
		}
	}
}

func TestScoreUnequalLists(t *testing.T) {
	in := &Instrument{Protocol: Protocols[0], Similarities: []similarity.Similarity{fake("a", map[string]float64{"x": 1, "y": 0})}}
	got, err := in.Score(bg, koalas, 0, []crosstalk.Answer{text("x"), status(crosstalk.Failed), text("x")},
		[]crosstalk.Answer{text("y")})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for i, o := range got {
		if o.Sample != i {
			t.Errorf("sample %d is %d", i, o.Sample)
		}
		reasons = append(reasons, o.NotScored)
	}
	if !reflect.DeepEqual(reasons, []string{"", "failed", "unpaired"}) || got[0].Value != 1 {
		t.Errorf("%q", reasons)
	}
	if got, err := in.Score(bg, koalas, 0, nil, nil); len(got) != 0 || err != nil {
		t.Errorf("no answers: %v %v", got, err)
	}
}

type broken struct{ scores []float64 }

func (broken) Name() string { return "broken" }
func (b broken) Scores(context.Context, []similarity.Pair) ([]float64, error) {
	if b.scores == nil {
		return nil, errors.New("it broke")
	}
	return b.scores, nil
}

func TestMeasureKeepsPaidAsks(t *testing.T) {
	in := &Instrument{Protocol: Protocols[0], Samples: 2}
	asktest.Paid(t, in, koalas, 4, func(r crosstalk.Request) bool { return r.Text() == koalas.Pair.Test && r.Sample == 0 })
}

func TestProtocols(t *testing.T) {
	for _, p := range Protocols {
		if got, err := ProtocolNamed(p.Name); err != nil || got != p {
			t.Errorf("%s: %+v %v", p.Name, got, err)
		}
	}
	if _, err := ProtocolNamed("gonen"); err == nil || err.Error() != `unknown leakage protocol "gonen"; did you mean gonen-2024? choose one of: crosstalk-1, gonen-2024, smilga-2025` {
		t.Error(err)
	}
	for want, p := range map[string]Protocol{
		"post:sentence|round:none|ties:0.5|answers:own": Protocols[0],
		"post:prompt-period|round:none|ties:0.5":        Protocols[1],
		"post:none|round:3|ties:0.5":                    Protocols[2],
		"post:stop|round:0|ties:0.5<=0.03":              {Post: Stop, Round: 0, Tie: 0.03},
		"post:period|round:none|ties:0.5<=1e-07":        {Post: Period, Round: Exact, Tie: 1e-7},
	} {
		if got := strings.Join(p.fields(), "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
