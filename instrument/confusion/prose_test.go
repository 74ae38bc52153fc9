package confusion

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/wordlist"
)

func inProse() *Instrument {
	return &Instrument{Protocol: Protocols[0], Identifier: embedded.Identifier(), Judge: guard.Checker{},
		Words: wordlist.English()}
}

const (
	german  = "Der Zug fährt morgen um acht Uhr vom Bahnhof ab."
	english = "The train leaves the station tomorrow at eight."
	mixed   = "Der Zug fährt завтра um acht Uhr vom Bahnhof ab."
)

func TestProse(t *testing.T) {
	type values = map[string]any
	all := func(lpr, accuracy, wpr any) values {
		return values{LPR: lpr, LineAccuracy: accuracy, WPR: wpr}
	}
	for _, test := range []struct {
		rule, language, answer string
		want                   values
	}{
		{"right", "de", german, all(1.0, 1.0, 1.0)},
		{"wrong", "de", english, all(0.0, 0.0, LineError)},
		{"a line wrong", "de", german + "\n" + english + "\n\n" + german, all(0.0, 2.0/3, LineError)},
		{"a word of another script", "de", mixed, all(1.0, 1.0, 0.0)},
		{"a word of the same script", "de", "Der Zug fährt morgen, however, um acht Uhr vom Bahnhof ab.", all(1.0, 1.0, 0.0)},
		{"code is no prose", "de", german + "\n```\nfor each line print the first word of it\n```", all(1.0, 1.0, 1.0)},
		{"nor are quotations", "de", "Klicken Sie auf „Check for updates“ und warten Sie kurz.", all(1.0, 1.0, 1.0)},
		{"short and wrong", "tr", "Thank you!", all(0.0, 0.0, LineError)},
		{"short and right", "fr", "Merci beaucoup !", all(1.0, 1.0, 1.0)},
		{"too little", "de", "Hotel", all(cannotTell, cannotTell, cannotTell)},
		{"nothing but code", "ru", "```\nprint(1)\n```", all(cannotTell, cannotTell, cannotTell)},
		{"the rest of a template", "de", german + "\nQ: Why?\nA: " + english, all(1.0, 1.0, 1.0)},
		{"the other script of Chinese", "zh-TW", "请将商品连同发票一起寄回。", all(0.0, 0.0, LineError)},
		{"a language that cannot be judged", "tlh", german, all(NoLanguage, NoLanguage, NoLanguage)},
	} {
		got := observed(inProse().Score(item(test.language), 0, text(test.answer)))
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %q gives %v, want %v", test.rule, test.answer, got, test.want)
		}
	}
}

func TestProseEvidence(t *testing.T) {
	answer := "\n" + german + " Siehe `ls -l` dort.\n\n  " + english + "\n" + english
	in := inProse()
	o := in.Score(item("de"), 0, text(answer))
	lpr := o[0]
	if len(lpr.Spans) != 2 || lpr.Finding != SomeLines || lpr.Text(AnswerText) != answer {
		t.Fatalf("%+v", lpr)
	}
	for i, s := range lpr.Spans {
		if s.Line != 4+i || answer[s.Start:s.End] != english || s.Text != english || s.Language != "en" ||
			s.Probability < 0.9 || s.Reason != guard.Line {
			t.Errorf("%+v", s)
		}
	}
	if n := lpr.Numbers; n[linesChecked] != 3 || n[linesWrong] != 2 || n[linesUnclear] != 0 ||
		!(n[Margin] > 0.3 && n[Margin] <= 0.5) {
		t.Errorf("numbers %v", n)
	}
	code := 0
	for _, m := range lpr.Masked {
		if m.Reason == "code" && m.Line == 2 && answer[m.Start:m.End] == "`ls -l`" {
			code++
		}
	}
	if code != 1 || o[1].Masked != nil {
		t.Errorf("masked %+v", lpr.Masked)
	}
	c, _ := in.check(crosstalk.Prompt{Language: "de"}, answer)
	if got := c.begins("de", answer); len(got) != 1 || got[0] != strings.Index(answer, english) {
		t.Errorf("begins at %v", got)
	}
	wpr := in.Score(item("de"), 0, text(mixed))[2]
	if len(wpr.Spans) != 1 || wpr.Spans[0].Text != "завтра" || wpr.Spans[0].Language != "ru" ||
		wpr.Spans[0].Reason != guard.Word || wpr.Finding != SingleWords {
		t.Errorf("%+v", wpr)
	}
	lines := in.Rules().Lines(guard.Checker{}, "de", answer)
	if len(lines) != 3 || lines[1].Line != 4 || lines[1].Text != english {
		t.Errorf("lines %+v", lines)
	}
}

func TestReasoning(t *testing.T) {
	in := inProse()
	in.Part = Reasoning
	answer := func(status crosstalk.Status, reasoning string) crosstalk.Answer {
		return crosstalk.Answer{Status: status, Text: "…", Reasoning: reasoning}
	}
	for _, test := range []struct {
		answer crosstalk.Answer
		want   map[string]any
	}{
		{answer(crosstalk.Text, german), map[string]any{LPR: 1.0, LineAccuracy: 1.0, WPR: 1.0, wordAccuracy: 1.0,
			firstLine: 1.0, switches: 0.0}},
		{answer(crosstalk.Empty, english), map[string]any{LPR: 0.0, LineAccuracy: 0.0, WPR: LineError, wordAccuracy: 0.0,
			firstLine: 0.0, switches: 0.0}},
		{answer(crosstalk.Text, english+"\n"+german), map[string]any{LPR: 0.0, LineAccuracy: 0.5, WPR: LineError,
			wordAccuracy: 10.0 / 18, firstLine: 0.0, switches: 1000.0 / 18}},
		{answer(crosstalk.Text, mixed), map[string]any{LPR: 1.0, LineAccuracy: 1.0, WPR: 0.0, wordAccuracy: 9.0 / 10,
			firstLine: 1.0, switches: 200.0}},
		{answer(crosstalk.Text, "12"), map[string]any{LPR: cannotTell, LineAccuracy: cannotTell, WPR: cannotTell,
			wordAccuracy: cannotTell, firstLine: cannotTell, switches: cannotTell}},
		{answer(crosstalk.Text, ""), map[string]any{LPR: noReasoning, LineAccuracy: noReasoning, WPR: noReasoning,
			wordAccuracy: noReasoning, firstLine: noReasoning, switches: noReasoning}},
		{answer(crosstalk.Failed, ""), map[string]any{LPR: "failed", LineAccuracy: "failed", WPR: "failed", wordAccuracy: "failed", firstLine: "failed", switches: "failed"}},
	} {
		o := in.Score(item("de"), 0, test.answer)
		if got := observed(o); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q gives %v, want %v", test.answer.Reasoning, got, test.want)
		}
		if o[0].NotScored == "" && o[0].Text(AnswerText) != test.answer.Reasoning {
			t.Errorf("%+v", o[0])
		}
	}
	if o := in.Score(item("de"), 0, answer(crosstalk.Text, english)); o[4].Text(firstLanguage) != "en" {
		t.Errorf("%+v", o[4])
	}
	in.Prompting.Logprobs = 5
	if o := in.Score(item("de"), 0, answer(crosstalk.Text, german)); len(o) != 6 {
		t.Errorf("log probabilities are of the answer: %+v", o)
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"part: unknown part \"all\"":                        {Part: "all"},
		"threshold has no effect on the protocol lcb-paper": {Threshold: "warn", Protocols: []string{"lcb-paper"}},
	} {
		if _, err := o.Resolve(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", o, err, want)
		}
	}
	list, err := Options{Protocols: []string{"crosstalk-1", "lcb-paper"}, Threshold: "observe"}.Resolve()
	if err != nil || list[0].Risk != crosstalk.Observe || list[1] != Protocols[1] {
		t.Errorf("%+v %v", list, err)
	}
}

// Any answer has spans within it, and shares.
func FuzzProse(f *testing.F) {
	for _, seed := range []string{german, english + "\n- Thank you\n- Danke", mixed + "\nQ: x", "\xff\xfe\n\n```\nx", "请将商品连同发票一起寄回。\n請將"} {
		f.Add("de", seed)
		f.Add("zh-TW", seed)
	}
	in := inProse()
	in.Part = Reasoning
	f.Fuzz(func(t *testing.T, tag, answer string) {
		for _, o := range in.Score(item(tag), 0, crosstalk.Answer{Status: crosstalk.Text, Reasoning: answer}) {
			if o.Value.Defined() == (o.NotScored != "") || o.Value < 0 || o.Measure != switches && o.Value > 1 ||
				o.Value > 1000 || math.IsInf(float64(o.Value), 0) {
				t.Errorf("%q: %+v", answer, o)
			}
			for _, s := range append(o.Spans, o.Masked...) {
				if s.Start < 0 || s.End > len(answer) || s.Start > s.End || s.Line != 1+strings.Count(answer[:s.Start], "\n") {
					t.Errorf("%q: %+v", answer, s)
				}
			}
		}
	})
}

// An answer of more than 2 MiB is not judged: that would take gigabytes.
func TestLongest(t *testing.T) {
	t.Parallel()
	in := &Instrument{Protocol: Protocols[0], Judge: guard.Checker{}}
	answer := "The weather in the small town by the sea was fine."
	answer += strings.Repeat(" ", 2<<20-len(answer))
	item := crosstalk.Item{ID: "a", Prompt: &crosstalk.Prompt{Language: "en"}}
	for text, want := range map[string]string{answer: "", answer + " ": cannotTell} {
		for _, o := range in.Score(item, 0, crosstalk.Answer{Status: crosstalk.Text, Text: text}) {
			if o.NotScored != want || o.Value.Defined() != (want == "") {
				t.Errorf("%d bytes: %s %v %q", len(text), o.Measure, o.Value, o.NotScored)
			}
		}
	}
}
