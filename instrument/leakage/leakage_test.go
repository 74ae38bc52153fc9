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
		found := "of " + map[float64]string{0: NotLeaked, 0.5: Tie, 1: Leaked}[c.want]
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

func TestScore(t *testing.T) {
	in := &Instrument{Protocol: Protocols[0], Condition: map[string]string{"model": "m"},
		Similarities: []similarity.Similarity{fake("a", map[string]float64{"leaves.": 0.9, "bread": 0.1}),
			fake("b", map[string]float64{"leaves.": 0.2, "bread": 0.2})}}
	test := text("leaves. More.")
	test.Key[0] = 1
	got, err := in.Score(bg, koalas, 4, []crosstalk.Answer{test}, []crosstalk.Answer{text(" bread ")})
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	want := crosstalk.Observation{Measure: "leak_rate", Item: "k", Cluster: "c", Sample: 4, Value: 1, Condition: map[string]string{"model": "m", "similarity": "a"},
		Labels: koalas.Labels, Numbers: map[string]float64{"test": 0.9, "control": 0.1},
		Finding: Leaked,
		Texts: []crosstalk.NamedText{{Name: "concept", Role: crosstalk.Topic, Text: "koalas"}, {Name: "test", Role: crosstalk.Side, Text: "leaves."},
			{Name: "control", Role: crosstalk.Side, Text: "bread"}}, Answers: []crosstalk.Key{test.Key}}
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %+v\nwant %+v", got[0], want)
	}
	if got[1].Value != 0.5 || got[1].Finding != Tie || got[1].Condition["similarity"] != "b" || got[1].Numbers["test"] != 0.2 {
		t.Errorf("the second similarity: %+v", got[1])
	}
	if len(in.Condition) != 1 {
		t.Error("scoring changed the instrument's condition")
	}
}

// Each sample has the scores of its own answers, also behind one without.
func TestScoreKeepsSamplesApart(t *testing.T) {
	in := &Instrument{Protocol: Protocols[0],
		Similarities: []similarity.Similarity{fake("a", map[string]float64{"p": 0.1, "q": 0.2, "r": 0.3, "s": 0.4})}}
	got, err := in.Score(bg, koalas, 0, []crosstalk.Answer{text("p"), status(crosstalk.Empty), text("r"), text("s")},
		[]crosstalk.Answer{text("q"), text("q"), text("q"), text("s")})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []crosstalk.Value{0, crosstalk.Undefined, 1, 0.5} {
		if o := got[k]; o.Value.Defined() != want.Defined() || want.Defined() && o.Value != want {
			t.Errorf("sample %d: %v, want %v", k, o.Value, want)
		}
	}
	if got[2].Numbers["test"] != 0.3 || got[2].Numbers["control"] != 0.2 {
		t.Errorf("sample 2: %v", got[2].Numbers)
	}
}

func TestScoreRemovesTheItemsWords(t *testing.T) {
	item := koalas
	item.Pair = &crosstalk.Pair{Concept: "Coral", Test: "a", Control: "b", Remove: []string{"Coral"}}
	in := &Instrument{Protocol: Protocol{Post: None, Round: Exact},
		Similarities: []similarity.Similarity{fake("a", map[string]float64{"swam": 1, "ran": 0})}}
	got, err := in.Score(bg, item, 0, []crosstalk.Answer{text("Coral swam"), text("coral")}, []crosstalk.Answer{text("ran"), text("ran")})
	if err != nil || got[0].Value != 1 || got[1].NotScored != NoText {
		t.Errorf("%+v %v", got, err)
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
		{text(" \n"), known, "no text"}, {known, text("…"), "no text"}, {known, text(prompt[len("He likes koalas. "):]), RepeatsPrompt},
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

func TestScoreErrors(t *testing.T) {
	answers := []crosstalk.Answer{text("x")}
	for want, c := range map[string]struct {
		item crosstalk.Item
		sim  similarity.Similarity
	}{
		"broken: item k: it broke":                                        {koalas, broken{}},
		"broken: item k: 1 scores for 2 pairs":                            {koalas, broken{[]float64{1}}},
		"item i has no test and control prompt: it is not a leakage item": {crosstalk.Item{ID: "i"}, broken{}},
	} {
		in := &Instrument{Protocol: Protocols[0], Similarities: []similarity.Similarity{c.sim}}
		if _, err := in.Score(bg, c.item, 0, answers, answers); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// asker answers with the text it was asked, and fails for one of them.
type asker struct {
	fail error
	asks chan crosstalk.Request
}

func (a asker) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	a.asks <- req
	return text("x"), a.fail
}

func TestMeasureKeepsPaidAsks(t *testing.T) {
	in := &Instrument{Protocol: Protocols[0], Samples: 2}
	asktest.Paid(t, in, koalas, 4, func(r crosstalk.Request) bool { return r.Text() == koalas.Pair.Test && r.Sample == 0 })
}

func TestMeasure(t *testing.T) {
	a := asker{asks: make(chan crosstalk.Request, 100)}
	in := &Instrument{Protocol: Protocols[0], Similarities: []similarity.Similarity{fake("a", map[string]float64{"x": 1})},
		Samples: 3, Prompting: crosstalk.PromptConfig{API: crosstalk.Chat, Prefix: "Go on: ", System: "Be brief."}}
	got, err := in.Measure(bg, a, koalas)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	close(a.asks)
	samples := map[string]int{}
	for req := range a.asks {
		if len(req.Messages) != 2 || req.Messages[0] != (crosstalk.Message{Role: "system", Content: "Be brief."}) || req.Messages[1].Role != "user" {
			t.Errorf("request %+v", req)
		}
		samples[req.Messages[1].Content] |= 1 << req.Sample
	}
	if !reflect.DeepEqual(samples, map[string]int{"Go on: " + koalas.Pair.Test: 7, "Go on: " + koalas.Pair.Control: 7}) {
		t.Errorf("asked %v", samples)
	}

	stop := errors.New("out of budget")
	if _, err := in.Measure(bg, asker{stop, make(chan crosstalk.Request, 100)}, koalas); !errors.Is(err, stop) {
		t.Errorf("the asker's error: %v", err)
	}
	if _, err := in.Measure(bg, a, crosstalk.Item{ID: "i"}); err == nil || !strings.Contains(err.Error(), "item i has no test and control prompt") {
		t.Errorf("an item without prompts: %v", err)
	}
}

func TestRequestOfACompletionModel(t *testing.T) {
	got := crosstalk.PromptConfig{API: crosstalk.Completions, Prefix: "> ", System: "unused"}.Request("a", 2)
	if got.Prompt != "> a" || got.Messages != nil || got.Sample != 2 {
		t.Errorf("%+v", got)
	}
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
