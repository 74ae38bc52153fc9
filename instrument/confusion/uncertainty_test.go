package confusion

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// candidates are tokens of these probabilities.
func candidates(probabilities ...float64) (list []crosstalk.CandidateLogprob) {
	for i, p := range probabilities {
		list = append(list, crosstalk.CandidateLogprob{Token: fmt.Sprint("t", i), Logprob: math.Log(p)})
	}
	return list
}

func TestUncertaintyOf(t *testing.T) {
	for _, test := range []struct {
		name          string
		probabilities []float64
		temperature   float64
		p             float64
		want          crosstalk.Token
	}{
		{"a fair coin", []float64{0.5, 0.5}, 1, 0.75, crosstalk.Token{Entropy: 1, Nucleus: 2, Mass: 1}},
		{"p is just reached", []float64{0.5, 0.25, 0.25}, 1, 0.75, crosstalk.Token{Entropy: 1.5, Nucleus: 2, Mass: 1}},
		{"no uncertainty", []float64{1}, 1, 0.75, crosstalk.Token{Entropy: 0, Nucleus: 1, Mass: 1}},
		{"sums above 1 are rounding", []float64{0.7, 0.3000001}, 1, 1, crosstalk.Token{Entropy: 0.8813, Nucleus: 2, Mass: 1}},
		// The other half is two tokens of 1/4.
		{"the rest is like the last", []float64{0.25, 0.25}, 1, 0.75, crosstalk.Token{Entropy: 2, Nucleus: 3, Censored: true, Mass: 0.5}},
		// The rest, 0.3, is 0.25 and 0.05.
		{"the rest has a remainder", []float64{0.45, 0.25}, 1, 0.5, crosstalk.Token{Entropy: 0.5184 + 2*0.5 + 0.2161, Nucleus: 2, Mass: 0.7}},
		{"the rest is less than the last", []float64{0.9}, 1, 0.75, crosstalk.Token{Entropy: 0.4690, Nucleus: 1, Mass: 0.9}},
		// Squares: 16, 4, 4 of 24.
		{"low temperature", []float64{0.5, 0.25, 0.25}, 0.5, 0.75, crosstalk.Token{Entropy: 1.2516, Nucleus: 2, Mass: 1}},
		// 0.5, 0.25 and the rest 0.25: the same, of which the candidates have 20/24.
		{"low temperature with a rest", []float64{0.5, 0.25}, 0.5, 0.9, crosstalk.Token{Entropy: 1.2516, Nucleus: 3, Censored: true, Mass: 20.0 / 24}},
		// Roots: 2, 1, 1 of 4 where the probabilities are 4/6, 1/6, 1/6.
		{"high temperature", []float64{4.0 / 6, 1.0 / 6}, 2, 0.7, crosstalk.Token{Entropy: 1.5, Nucleus: 2, Mass: 0.75}},
		{"very low temperature", []float64{0.5, 0.4, 0.1}, 0.001, 0.75, crosstalk.Token{Entropy: 0, Nucleus: 1, Mass: 1}},
		{"a hundred tokens", []float64{0.01}, 1, 0.75,
			crosstalk.Token{Entropy: crosstalk.Value(math.Log2(100)), Nucleus: 75, Censored: true, Mass: 0.01}},
	} {
		got := uncertaintyOf(candidates(test.probabilities...), test.temperature, test.p)
		if math.Abs(float64(got.Entropy-test.want.Entropy)) > 1e-4 || math.Abs(got.Mass-test.want.Mass) > 1e-6 ||
			got.Nucleus != test.want.Nucleus || got.Censored != test.want.Censored {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// With fewer candidates the entropy and the nucleus are never larger, at
// temperature 1: they are lower bounds.
func TestUncertaintyIsALowerBound(t *testing.T) {
	zipf := make([]float64, 200)
	var sum float64
	for i := range zipf {
		zipf[i] = 1 / float64(i+1)
		sum += zipf[i]
	}
	for i := range zipf {
		zipf[i] /= sum
	}
	all := uncertaintyOf(candidates(zipf...), 1, 0.75)
	for k := len(zipf) - 1; k > 0; k-- {
		of := uncertaintyOf(candidates(zipf[:k]...), 1, 0.75)
		if of.Entropy > all.Entropy+1e-9 || of.Nucleus > all.Nucleus || !of.Censored && of.Nucleus != all.Nucleus ||
			of.Censored != (k < all.Nucleus) {
			t.Errorf("%d of 200 candidates: %+v; all: %+v", k, of, all)
		}
		all.Entropy = of.Entropy // and falls with k
	}
}

// tokens makes the positions of an answer: each token with two candidates, of
// which the first has probability p.
func tokens(p float64, texts ...string) (list []crosstalk.TokenLogprob) {
	for _, text := range texts {
		list = append(list, crosstalk.TokenLogprob{Token: text, Logprob: math.Log(p),
			Top: []crosstalk.CandidateLogprob{{Token: text, Logprob: math.Log(p)}, {Token: "other", Logprob: math.Log(1 - p)}}})
	}
	return list
}

func listening(t testing.TB) *Instrument {
	in := instrument(t, "lcb-paper")
	in.Prompting.Logprobs = 2
	in.Protocol.PerToken = false // tested separately
	return in
}

func TestBegins(t *testing.T) {
	in := listening(t)
	for _, test := range []struct {
		name, language, answer string
		want                   []string // what stands where confusions begin
	}{
		{"none", "ru", "ru 1 2 3 4", nil},
		{"a line of the same script", "fr", "fr 1 2 3 4\n  en 1 2 3 4", []string{"en 1 2"}},
		{"two lines of one language", "fr", "en 1 2 3 4\nen 5 6 7 8\nfr 1 2 3 4\nen 9 1 2 3", []string{"en 1 2", "en 9 1"}},
		{"short lines do not part them", "fr", "en 1 2 3 4\nfr\nen 5 6 7 8", []string{"en 1 2"}},
		{"two languages", "fr", "en 1 2 3 4\nde 5 6 7 8", []string{"en 1 2", "de 5 6"}},
		{"a line of another script that begins well", "fr", "ru Bonjour 5 – вот ответ", []string{"вот отв"}},
		{"without a letter of it", "fr", "ru 1 2 3 4", []string{"ru 1 2"}},
		{"an unknown language", "fr", " qq 1 2 3 4", []string{"qq 1 2"}},
		{"scripts in common", "zh", "ja 図書館で本を読む", []string{"ja 図書"}},
		{"Korean in Chinese", "zh", "ko 中文中文中文中文 한국어", []string{"ko 中"}},
		{"words", "ru", "ru (about) people ты with 1", []string{"about) ", "with 1"}},
		{"words with one that no list has", "zh", "zh 中文中文 about the 3 people 中文", []string{"about the"}},
		{"words with one of the expected script", "ja", "ja 日本 about の people", []string{"about", "people"}},
		{"words after a wrong line", "ru", "ru 1 2 3 people\nen 1 2 3 4", []string{"en 1 2"}},
		{"letters of another script", "fr", "fr 1 2 слово 3", []string{"слово 3"}},
	} {
		var got []string
		check := in.checkLines(test.language, test.answer, in.wordCheck(test.language))
		for _, at := range check.begins(test.language, test.answer) {
			got = append(got, test.answer[at:])
		}
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q begins at %q, want %q", test.name, test.answer, got, test.want)
		}
	}
}

func TestAlign(t *testing.T) {
	part := func(b ...byte) crosstalk.TokenLogprob { return crosstalk.TokenLogprob{Token: "�", Bytes: b} }
	word := func(s string) crosstalk.TokenLogprob { return crosstalk.TokenLogprob{Token: s} }
	for _, test := range []struct {
		name, text string
		tokens     []crosstalk.TokenLogprob
		want       string
	}{
		{"plain", "a bc", []crosstalk.TokenLogprob{word("a"), word(" bc")}, "0-1 1-4"},
		{"bytes", "a é!", []crosstalk.TokenLogprob{word("a "), part(0xc3), part(0xa9), word("!")}, "0-2 2-3 3-4 4-5"},
		{"an end", "ab", []crosstalk.TokenLogprob{word("a"), word("b"), word("<end>")}, "0-1 1-2 -"},
		{"a cut token", "ab", []crosstalk.TokenLogprob{word("a"), word("b\nQ:")}, "0-1 1-2"},
		{"thoughts", "b b", []crosstalk.TokenLogprob{word("b so b b</think>"), word("\n"), word("b"), word(" b")}, "- - 0-1 1-3"},
		{"white space cut off", "ab", []crosstalk.TokenLogprob{word(" "), word(" a"), word("b")}, "- 0-1 1-2"},
		{"vLLM's empty parts", "a é!", []crosstalk.TokenLogprob{word("a"), word(""), word(" é"), word("!")}, "0-1 1-1 1-4 4-5"},
		{"vLLM's broken parts", "a é 中!", []crosstalk.TokenLogprob{word("a"), word(" �"), word("�"), word(" �"), word("�"), word("�"), word("!")},
			"0-1 1-8 1-1 1-1 1-1 1-1 8-9"},
		{"broken parts after white space cut off", "a é!", []crosstalk.TokenLogprob{word("\n a"), word(" �"), word("�"), word("!")},
			"0-1 1-4 1-1 4-5"},
		{"a text that comes twice", "b", []crosstalk.TokenLogprob{word("b"), word("b")}, "0-1 -"},
		{"an empty part of broken ones", "a é!", []crosstalk.TokenLogprob{word("a"), word(" �"), word(""), word("�"), word("!")},
			"0-1 1-4 1-1 1-1 4-5"},
		{"broken parts at the end", "aé", []crosstalk.TokenLogprob{word("a"), word("�"), word("�")}, "0-1 1-3 1-1"},
		{"SGLang's Latin-1", "a é!", []crosstalk.TokenLogprob{word("a"), word(" Ã"), word("©"), word("!")}, "0-1 1-3 3-4 4-5"},
		{"other tokens", "abc", []crosstalk.TokenLogprob{word("a"), word("x"), word("c")}, "0-1 - -"},
		{"no tokens", "abc", nil, ""},
		{"a real U+FFFD", "a�b", []crosstalk.TokenLogprob{word("a"), word("�"), word("b")}, "0-1 1-4 4-5"},
	} {
		var got []string
		for _, p := range align(test.text, test.tokens) {
			if p == nowhere {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprintf("%d-%d", p.start, p.end))
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %q, want %q", test.name, s, test.want)
		}
	}
}

// FuzzUncertainty holds whatever a server says: figures are finite and in range, and
// tokens lie in the answer, in order.
func FuzzUncertainty(f *testing.F) {
	f.Add("ru 1 2 3 4\nen 1 2 3 people", "ru| 1 2|\xff| 3|�|4\nen|x", -0.5, -3.0, 0.3)
	f.Add("en é 中 1 2", "en| �|�| |中| 1 2", -1e-9, -9999.0, 1.5)
	f.Add("zh 图书馆 about", "zh| å|\u009b|¾", 0.0, -700.0, 0.01)
	in := listening(f)
	f.Fuzz(func(t *testing.T, answer, tokens string, first, second, temperature float64) {
		if !(first <= 0 && second <= 0 && temperature > 0) || math.IsInf(temperature, 0) {
			return
		}
		in := *in
		in.Prompting.Decoding.Temperature = &temperature
		a := text(answer)
		for i, token := range strings.Split(tokens, "|") {
			l := crosstalk.TokenLogprob{Token: token, Logprob: second,
				Top: []crosstalk.CandidateLogprob{{Token: "a", Logprob: max(first, second)},
					{Token: token, Logprob: min(first, second)}}}
			if i%3 == 2 {
				l.Bytes = []byte(token)
			}
			a.Logprobs = append(a.Logprobs, l)
		}
		for _, p := range align(answer, a.Logprobs) {
			if p != nowhere && !(0 <= p.start && p.start <= p.end && p.end <= len(answer)) {
				t.Errorf("%q in %q: %v", tokens, answer, p)
			}
		}
		for _, o := range in.Score(item("ru"), 0, a) {
			if isUncertainty(o.Measure) && o.NotScored == "" && !(o.Value >= 0 && o.Value.Defined() && o.Numbers["mass"] > 0 &&
				o.Numbers["mass"] <= 1+1e-9) {
				t.Errorf("%q %q %g %g %g: %s %v %v", answer, tokens, first, second, temperature, o.Measure, o.Value, o.Numbers)
			}
		}
	})
}

func TestLikeliest(t *testing.T) {
	at := func(taken string, probabilities ...float64) crosstalk.TokenLogprob {
		return crosstalk.TokenLogprob{Token: taken, Top: candidates(probabilities...)}
	}
	unlikely := at("x", 0.5, 0.4)
	unlikely.Top = append(unlikely.Top, crosstalk.CandidateLogprob{Token: "t9", Logprob: -99})
	other := at("t2", 0.5, 0.3, 0.01) // the same letters of other bytes
	other.Bytes, other.Top[2].Bytes = []byte{0xc3}, []byte{0xc4}
	impossible := at("x", 0.5, 0.4)
	impossible.Top = append(impossible.Top, crosstalk.CandidateLogprob{Token: "t9", Logprob: -9999})
	for _, test := range []struct {
		name string
		of   crosstalk.TokenLogprob
		k    int
		want int
	}{
		{"all", at("t0", 0.5, 0.3, 0.1), 3, 3},
		{"completions add the token taken", at("t3", 0.5, 0.3, 0.1, 0.01), 3, 3},
		{"vLLM puts it in the last one's place", at("t2", 0.5, 0.3, 0.01), 3, 2},
		{"it is all there is", at("t0", 0.5), 3, 1},
		{"and others may be likelier", at("t0", 0.4), 3, 0},
		{"none", at("t0"), 3, 0},
		{"unlikely, but possible", unlikely, 5, 3},
		{"bytes of another token", other, 3, 3},
		{"outside the server's sampling", impossible, 5, 2},
	} {
		if got := len(likeliest(test.of, test.k)); got != test.want {
			t.Errorf("%s: %d candidates, want %d", test.name, got, test.want)
		}
	}
}
