package consistency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/measure/similarity"
)

// byLetter compares free answers by their first letter: "?" is unknown, "!" an error. It asks once.
type byLetter struct{}

func (byLetter) Name() string { return "by letter" }
func (byLetter) Same(_ context.Context, _ crosstalk.Asker, question, a, b string) (Verdict, []crosstalk.Key, error) {
	switch key := (crosstalk.Key{0xff, byte(len(question))}); {
	case strings.HasPrefix(a+b, "!") || strings.HasPrefix(b, "!"):
		return Unknown, nil, errors.New("it broke")
	case strings.HasPrefix(a, "?") || strings.HasPrefix(b, "?"):
		return Unknown, []crosstalk.Key{key}, nil
	default:
		return VerdictOf(a[:1] == b[:1]), []crosstalk.Key{key}, nil
	}
}

// keyed gives answers keys of their own.
func keyed(answers Answers) Answers {
	n := byte(0)
	for _, form := range []Form{source, both, instr, inputs, mixed} {
		for i := range answers[form] {
			n++
			if answers[form][i].Status != "" {
				answers[form][i].Key = crosstalk.Key{n}
			}
		}
	}
	return answers
}

// Every observation and figure of a few items: answered in all ways, rewritten well and badly, overridden, free, and
// compared with what people wrote.
func TestSheet(t *testing.T) {
	var b bytes.Buffer
	write := func(title string, in *Instrument, score func(func(crosstalk.Item, Answers, map[Sense]Rewritten))) {
		fmt.Fprintf(&b, "== %s\n", title)
		estimators := []crosstalk.Estimator{in.Rules().Estimator(nil), in.Rules().Estimator([]string{ByClass, "category"})}
		score(func(i crosstalk.Item, answers Answers, rewritten map[Sense]Rewritten) {
			list, err := in.Score(t.Context(), nil, i, keyed(answers), rewritten)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range list {
				fmt.Fprintln(&b, golden.Observation(o))
				for _, e := range estimators {
					e.Add(o)
				}
			}
		})
		for k, e := range estimators {
			for _, one := range e.Estimates(crosstalk.SuiteIDs{All: "s@1"}) {
				if k == 0 {
					fmt.Fprintln(&b, golden.Figure(one), one.Signature)
				} else if one.Measure == labelShare || one.Measure == transition || one.By["category"] != crosstalk.All {
					fmt.Fprintf(&b, "%s %v: %.4f of %d, %v\n", one.Measure, one.By, float64(one.Value), one.N, one.Counts)
				}
			}
		}
	}
	quality := similarity.Func("chrf", func(a, b string) (float64, bool) {
		return float64(len(a)) / float64(len(b)), len(a) < 40
	})
	for _, protocol := range []string{"crosstalk-1", "ohmer-2023"} {
		in := instrument(protocol)
		in.Quality = quality
		write(protocol, in, func(score func(crosstalk.Item, Answers, map[Sense]Rewritten)) {
			for i, said := range []Answers{
				{source: said("yes", "no", "yes"), both: said("ja", "nein"), instr: said("ja", "Ja, klar"), inputs: said("yes", "who knows"), mixed: said("nein", "ja")},
				{source: said("no", "no", "hm"), both: said("nein", "empty"), instr: said("refused", "nein"), inputs: said("failed", "no"), mixed: said("missing", "nein")},
				{source: said("hm", "empty"), both: said("missing"), inputs: said("yes")}, {both: said("ja")},
			} {
				one := item(fmt.Sprint(i), []string{"same", "different", "", "same"}[i])
				one.Labels, one.Cluster = map[string]string{"category": fmt.Sprint("c", i%2)}, []string{"", "shared", "shared", ""}[i]
				rewritten := map[Sense]Rewritten{"en>de": {Texts: []string{"die Katze schläft im Garten", "eine Katze liegt im Garten und schläft fest"},
					Outputs: []string{"raw"}, Answers: []crosstalk.Key{{0xaa, byte(i)}}}}
				switch i {
				case 1:
					rewritten["en>de"] = Rewritten{Flags: []string{Language, Lines}, Texts: []string{"the cat", "a cat"}}
				case 2:
					rewritten = map[Sense]Rewritten{"en>de": {Answers: []crosstalk.Key{{0xab}}},
						"en>zh": {Texts: []string{"猫", "猫"}}, "fr>de": {Texts: []string{"x", "y"}}}
				case 3:
					one.Input.Texts["de"] = []string{"die Katze", ""}
				}
				score(one, said, rewritten)
			}
		})
	}
	in := instrument("crosstalk-1")
	in.Overrides = Overrides{{"same", "en>de", "Eher schon"}: {Class: "same", Reviewer: "r", Reason: "it says so"}, {"same", "en", "Yes."}: {Class: ""}}
	write("overrides", in, func(score func(crosstalk.Item, Answers, map[Sense]Rewritten)) {
		score(item("1", "same"), Answers{source: said("yes", "Yes."), both: said("Eher schon"), inputs: said("Yes.")}, nil)
	})
	in = instrument("crosstalk-1")
	in.Tasks[0].Classes, in.Free, in.Condition = nil, byLetter{}, map[string]string{"model": "m", "temperature": "0"}
	write("free", in, func(score func(crosstalk.Item, Answers, map[Sense]Rewritten)) {
		score(item("1", "five"), Answers{source: said(" five", "four", "?"), both: said("fünf", "?"), inputs: said("six", "empty")}, nil)
	})
	golden.Check(t, "testdata/sheet.txt", golden.Rounded(b.String()))
	for _, c := range []struct {
		gold    string
		answers Answers
	}{{"", Answers{source: said("a", "!")}}, {"five", Answers{source: said("!")}}, {"", Answers{source: said("a", "a"), both: said("!")}},
		{"", Answers{source: said("a", "!"), both: said("a")}}, {"", Answers{source: said("!", "a"), both: said("a")}}, {"five", Answers{both: said("!")}}} {
		if _, err := in.Score(t.Context(), nil, item("1", c.gold), c.answers, nil); err == nil {
			t.Errorf("%v: no error", c.answers)
		}
	}
	in.Free = nil
	_, err := in.Score(t.Context(), nil, item("1", "five"), Answers{source: said("five")}, nil)
	if err == nil || !strings.Contains(err.Error(), "has no classes") {
		t.Error(err)
	}
}

// What a reviewed instruction must have.
func TestCheckInstruction(t *testing.T) {
	good := RewrittenInstruction{Task: "same", Sense: "en>de", Words: words("nein", "ja"),
		Parts: []RewrittenPart{{Part: "prefix", Text: "Ist es dasselbe?"}, {Part: "unit", Text: "Text"}, {Part: "suffix", Text: "."}}}
	for want, edit := range map[string]func(*RewrittenInstruction){
		"": func(*RewrittenInstruction) {},
		`has the part "x", which the task does not have`: func(r *RewrittenInstruction) { r.Parts[0].Part = "x" },
		"has no text for unit":                           func(r *RewrittenInstruction) { r.Parts[1].Text = "" },
		"has no suffix":                                  func(r *RewrittenInstruction) { r.Parts = r.Parts[:2] },
		`has a word with the unknown class "x"; choose one of: different, same`: func(r *RewrittenInstruction) { r.Words[1].Class = "x" },
		"has an empty answer word":               func(r *RewrittenInstruction) { r.Words[1].Word = " " },
		`has the duplicate answer word "Nein"`:   func(r *RewrittenInstruction) { r.Words[1].Word = "Nein" },
		"has no answer word for same":            func(r *RewrittenInstruction) { r.Words = r.Words[:1] },
		"has no answer word for different, same": func(r *RewrittenInstruction) { r.Words = nil },
	} {
		r := good
		r.Parts, r.Words = append([]RewrittenPart(nil), good.Parts...), words("nein", "ja")
		edit(&r)
		for _, where := range []string{"", "f.yaml:3"} {
			r.Where = where
			full := strings.TrimPrefix(where+": the instruction of same in en>de "+want, ": ")
			if err := r.Check(question()); want == "" && err != nil || want != "" && (err == nil || err.Error() != full) {
				t.Errorf("%v, want %s", err, full)
			}
		}
	}
	for text, want := range map[string]string{
		`"a" 'b' “c” „d“ ‚e‘ «f» »g« 「h」 『i』 《j》 ` + "`k´": "a b c d e f g h i j k", "it's 'so' isn't": "so", "'a's b' c": "a's b", `" " "x`: "", `"open`: "", "l‘x’ 'y’": "y",
		`"a"b"`: "a",
	} {
		if got := strings.Join(Quoted(text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := (Rewriter{Prompts: map[string]string{"de": "x", "formula": "y"}, Instructions: map[string]string{"formula": "z"}}).ID(); len(got) != 8 {
		t.Errorf("ID %q", got)
	}
}

// says is a model that answers everything with the same text.
type says string

func (s says) Ask(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	return crosstalk.Answer{Status: crosstalk.Text, Text: string(s), Key: crosstalk.Key{1}}, nil
}

// A model that gives nothing but quotation marks has not rewritten a text; one without words is not sent.
func TestNothingRewritten(t *testing.T) {
	in := instrument("crosstalk-1")
	for answer, want := range map[string]int{`""`: 0, " ": 0, `"Hallo"`: 2} {
		r, err := in.input(t.Context(), says(answer), item("1", ""), "en>de")
		if err != nil || len(r.Texts) != want || len(r.Outputs) != 2 || len(r.Answers) != 2 {
			t.Errorf("%q: %+v, %v", answer, r, err)
		}
	}
	a, err := (Rewriter{}).rewrite(t.Context(), nil, Inputs, "en>de", " \n")
	if err != nil || a.Text != " \n" || a.Status != crosstalk.Text {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := in.Measure(t.Context(), says("yes"), crosstalk.Item{ID: "1", Input: &crosstalk.Input{Task: "other"}}); err == nil {
		t.Error("an unknown task: no error")
	}
	in.Senses = Senses{From: []string{"en"}, Mixed: []string{"fr", "en"}}
	if _, err := in.Measure(t.Context(), says("yes"), item("1", "")); err == nil || err.Error() != "the task same has no instruction in fr" {
		t.Error(err)
	}
}

// The source is asked once more than the rest, for the baseline, and that answer is not a sample of its own.
func TestSamplesOfSource(t *testing.T) {
	source, german := Form{"en", "en"}, Form{"en>de", "en>de"}
	for _, c := range []struct{ sources, others, want int }{
		{1, 0, 1}, {2, 0, 1}, {4, 0, 3}, {2, 1, 1}, {4, 3, 3}, {2, 3, 3},
	} {
		s := scoring{answers: Answers{source: make([]crosstalk.Answer, c.sources),
			german: make([]crosstalk.Answer, c.others)}}
		if got := s.samples(); got != c.want {
			t.Errorf("%d of the source, %d others: %d, want %d", c.sources, c.others, got, c.want)
		}
	}
}
