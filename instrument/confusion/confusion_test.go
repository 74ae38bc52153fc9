package confusion

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/measure/langid"
	"crosstalk/measure/pytext"
	"crosstalk/measure/wordlist"
)

// tagged is an identifier that believes what a line says in its first word:
// its language.
type tagged float32

func (p tagged) Name() string { return "tagged" }
func (p tagged) Identify(text string) langid.Guess {
	return langid.Guess{Language: pytext.Fields(text)[0], Probability: float32(p)}
}

// undefined is what follows the name of a protocol under which cells without data
// are not counted.
const undefined = " without empty cells"

func instrument(t testing.TB, protocol string) *Instrument {
	t.Helper()
	p, err := ProtocolNamed(strings.TrimSuffix(protocol, undefined))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(protocol, undefined) {
		p.EmptyIsOne = false
	}
	words, err := wordlist.Read(strings.NewReader("about\npeople\nParis\nwith\ncat\n"))
	if err != nil {
		t.Fatal(err)
	}
	return &Instrument{Protocol: p, Identifier: tagged(0.9), Judge: guard.Checker{}, Words: words}
}

func item(language string) crosstalk.Item {
	return crosstalk.Item{ID: "i", Prompt: &crosstalk.Prompt{Language: language}}
}

func text(s string) crosstalk.Answer { return crosstalk.Answer{Status: crosstalk.Text, Text: s} }

// observed maps the measures to their values, in words where there is none.
func observed(observations []crosstalk.Observation) map[string]any {
	all := map[string]any{}
	for _, o := range observations {
		all[o.Measure] = float64(o.Value)
		if !o.Value.Defined() {
			all[o.Measure] = o.NotScored
		}
	}
	return all
}

func TestScore(t *testing.T) {
	type values = map[string]any
	for _, test := range []struct {
		rule, protocol, language, answer string
		want                             values
	}{
		{"right", "lcb-script", "ru", "ru один два три четыре", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"all lines wrong", "lcb-script", "ru", "en one two three four", values{"lpr": 0.0, "line_accuracy": 0.0, "wpr": LineError}},
		{"a line wrong", "lcb-script", "ru", "ru 1 2 3 4\nen 1 2 3 4\n\nru 1 2 3 4", values{"lpr": 0.0, "line_accuracy": 2.0 / 3, "wpr": LineError}},
		{"related languages are wrong", "lcb-script", "zh", "yue 我 们 好", values{"lpr": 0.0, "line_accuracy": 0.0, "wpr": LineError}},
		{"four words are too few", "lcb-script", "ru", "en one two three\nru 1 2 3 4", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"nothing checked", "lcb-script", "ru", "en one two three", values{"lpr": Unchecked, "line_accuracy": Unchecked, "wpr": Unchecked}},
		{"nothing checked counts", "lcb-paper", "ru", "en one two three", values{"lpr": 1.0, "line_accuracy": Unchecked, "wpr": 1.0}},
		{"the rest of a template", "lcb-script", "ru", "ru 1 2 3 4\nQ: one\nen one two three four", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"information separators are spaces", "lcb-script", "ru", "ru\x1c1\x1d2\x1e3\x1f4", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"punctuation joins", "lcb-script", "ru", "ru one,two,three,four,five", values{"lpr": Unchecked, "line_accuracy": Unchecked, "wpr": Unchecked}},
		{"an em dash parts", "lcb-script", "ru", "ru 1—2—3—4", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"spaces and marks are Chinese words", "lcb-script", "zh", "zh  ，。", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"Japanese is split", "lcb-script", "ja", "ja 図書館で本を読む", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},

		{"an English word", "lcb-script", "ru", "ru 1 2 3 people", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 0.0}},
		{"an English word with marks", "lcb-script", "ru", "ru 1 2 3 (peo-ple)!", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 0.0}},
		{"an English word in Chinese", "lcb-script", "zh", "zh我爱people", values{"lpr": Unchecked, "line_accuracy": Unchecked, "wpr": Unchecked}},
		{"words in capitals are none", "lcb-script", "ru", "ru 1 Paris PEOPLE About", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"short words are none", "lcb-script", "ru", "ru 1 2 3 cat", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"words of short lines are not looked at", "lcb-script", "ru", "ru 1 2 3 4\nru people", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"English in French is no word error", "lcb-script", "fr", "fr 1 2 3 people", values{"lpr": 1.0, "line_accuracy": 1.0}},
		{"nor in a language that was not studied", "lcb-script", "el", "el 1 2 3 people", values{"lpr": 1.0, "line_accuracy": 1.0}},

		{"other scripts in French", "lcb-paper", "fr", "fr 1 2 3 слово", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 0.0}},
		{"Vietnamese is Latin", "lcb-paper", "vi", "vi Việt Nam đường ﬁ", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"letters of no script", "lcb-paper", "fr", "fr 5 µm ʻokina ª ー", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"marks and digits are no letters", "lcb-paper", "fr", "fr 。 ٣ 😀 ₽", values{"lpr": 1.0, "line_accuracy": 1.0, "wpr": 1.0}},
		{"Greek is not in Latin script", "lcb-paper", "el", "el 1 2 3 слово", values{"lpr": 1.0, "line_accuracy": 1.0}},
	} {
		got := observed(instrument(t, test.protocol).Score(item(test.language), 0, text(test.answer)))
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s (%s): %q gives %v, want %v", test.rule, test.protocol, test.answer, got, test.want)
		}
	}
}

func TestThresholdIsStrict(t *testing.T) {
	in := instrument(t, "lcb-script")
	in.Protocol.Threshold = 0.25
	for p, want := range map[tagged]crosstalk.Value{0.25: 0, 0.2500001: 1, 1.00001: 1} {
		in.Identifier = p
		if got := in.Score(item("ru"), 0, text("ru 1 2 3 4"))[0].Value; got != want {
			t.Errorf("probability %g: LPR %v, want %v", p, got, want)
		}
	}
}

func TestEvidence(t *testing.T) {
	in := instrument(t, "lcb-script")
	const some = "ru 1 2 3 4\n\n  en (one), two — three, four\n"
	lpr := in.Score(item("ru"), 0, text(some))[0]
	if len(lpr.Spans) != 1 || lpr.Finding != SomeLines || lpr.Text(AnswerText) != some {
		t.Fatalf("observed %+v", lpr)
	}
	s := lpr.Spans[0]
	if s.Line != 3 || some[s.Start:s.End] != "  en (one), two — three, four" || s.Text != "  en one two   three four" || s.Language != "en" || s.Probability != 0.9 {
		t.Errorf("the wrong line is %+v", s)
	}
	if n := lpr.Numbers; n["lines_checked"] != 2 || n["lines_wrong"] != 1 {
		t.Errorf("numbers %v", n)
	}
	if got := in.Score(item("ru"), 0, text("en 1 2 3 4\nen 1 2 3"))[0].Finding; got != FullAnswer {
		t.Errorf("all checked lines are wrong: found %q", got)
	}

	const words = "zh (0)\nzh 我们 with \"people\" people, 好\n"
	observations := in.Score(item("zh"), 0, text(words))
	wpr := observations[2]
	var found []string
	for _, s := range wpr.Spans {
		found = append(found, words[s.Start:s.End])
		if s.Line != 2 || s.Text != words[s.Start:s.End] {
			t.Errorf("the wrong word is %+v", s)
		}
	}
	if wpr.Finding != SingleWords || !slices.Equal(found, []string{"with", "people", "people"}) ||
		wpr.Spans[2].Start != strings.LastIndex(words, "people") {
		t.Errorf("found %q %+v", wpr.Finding, wpr.Spans)
	}
	if observations[0].Finding != "" || observations[0].Spans != nil {
		t.Errorf("an answer without a line error has %+v", observations[0])
	}
}

func TestProtocols(t *testing.T) {
	if _, err := ProtocolNamed("gonen-2024"); err == nil || !strings.Contains(err.Error(), "crosstalk-1, lcb-paper, lcb-script") {
		t.Errorf("a leakage protocol: %v", err)
	}
	seen := map[string]string{}
	for _, p := range Protocols {
		rules := fmt.Sprint((&Instrument{Protocol: p, Identifier: tagged(1), Judge: guard.Checker{},
			Words: wordlist.English()}).Rules().fields(true))
		if other, again := seen[rules]; again {
			t.Errorf("%s and %s have the same signature %s", p.Name, other, rules)
		}
		seen[rules] = p.Name
		p.Kana = true
		if kana := fmt.Sprint((&Instrument{Protocol: p, Identifier: tagged(1), Judge: guard.Checker{},
			Words: wordlist.English()}).Rules().fields(true)); (kana == rules) != p.Prose {
			t.Errorf("%s has the signature %s, with kana %s", p.Name, rules, kana)
		}
	}
}

// FuzzScore holds whatever the answer is: values are shares, and spans point
// at what they quote.
func FuzzScore(f *testing.F) {
	for _, seed := range []string{"ru 1 2 3 people", "en 1 2 3 4\nQ:", "zh 图书馆 (about)", "ja 図書館で with 本", "\xff\xfe a b c d", "—،—\n- -"} {
		for _, language := range []string{"ru", "zh", "ja", "fr"} {
			f.Add(language, seed)
		}
	}
	in := instrument(f, "lcb-paper")
	f.Fuzz(func(t *testing.T, language, answer string) {
		if !slices.Contains([]string{"ru", "zh", "ja", "fr"}, language) {
			language = "ru"
		}
		for _, o := range in.Score(item(language), 0, text(answer)) {
			if o.Value.Defined() == (o.NotScored != "") || o.Value < 0 || o.Value > 1 {
				t.Errorf("%q: %+v", answer, o)
			}
			for _, s := range o.Spans {
				if strings.TrimSpace(normalise(answer[s.Start:s.End])) != strings.TrimSpace(s.Text) {
					t.Errorf("%q: %+v quotes %q", answer, s, answer[s.Start:s.End])
				}
			}
		}
	})
}
