package translation

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// The tokenizers as sacreBLEU writes them down, in regular expressions.
var (
	punctuateRules = []rule{
		{regexp.MustCompile(`([{-~\[-` + "`" + ` -&(-+:-@/])`), " $1 "},
		{regexp.MustCompile(`([^0-9])([.,])`), "$1 $2 "},
		{regexp.MustCompile(`([.,])([^0-9])`), " $1 $2"},
		{regexp.MustCompile(`([0-9])(-)`), "$1 $2 "},
	}
	zhRules = append([]rule{{regexp.MustCompile(`([\x{2001}-\x{2A6D}\x{2E80}-\x{2EFF}\x{2F00}-\x{2FDF}\x{2FF0}-\x{303F}` +
		`\x{3100}-\x{312F}\x{31A0}-\x{31BF}\x{31C0}-\x{31EF}\x{3200}-\x{4DB5}\x{4E00}-\x{9FBB}\x{F900}-\x{FA2D}` +
		`\x{FA30}-\x{FA6A}\x{FA70}-\x{FAD9}\x{FE10}-\x{FE1F}\x{FE30}-\x{FE4F}\x{FF00}-\x{FFEF}])`), " $1 "}}, punctuateRules...)
)

type rule struct {
	find    *regexp.Regexp
	replace string
}

func apply(rules []rule, text string) []string {
	for _, r := range rules {
		text = r.find.ReplaceAllString(text, r.replace)
	}
	return pytext.Fields(text)
}

func byRules(tok Tokenizer, line string) []string {
	line = pytext.TrimRightSpace(line)
	switch tok {
	case Tokenize13a:
		for _, r := range [][2]string{{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}} {
			line = strings.ReplaceAll(line, r[0], r[1])
		}
		return apply(punctuateRules, " "+line+" ")
	case TokenizeZh:
		return apply(zhRules, pytext.TrimSpace(line))
	case TokenizeChar:
		return pytext.Fields(strings.Join(strings.Split(line, ""), " "))
	}
	return pytext.Fields(line)
}

func FuzzTokenizers(f *testing.F) {
	for _, s := range []string{
		"", "The cat, 3.5-4 of U.S.A. (in 2005).", "a..b,,c.", "&amp;lt;<skipped>-\n\n&quot;", "5-", ".5", "a..5 a,.5 1--2", "他在1993年——“A级”。",
		"“x”,5. ½-٣٫٤ $", "\x1c\u0085\u00a0\u3000", "\xff.\xe4\xb8,", "🙂.🙂",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !utf8.ValidString(line) {
			line = line[:min(len(line), 1000)] // only: no panic, no white space in a word
		}
		for _, tok := range []Tokenizer{Tokenize13a, TokenizeZh, TokenizeChar} {
			words := tok.Tokenize(line)
			for _, w := range words {
				if w == "" || len(pytext.Fields(w)) != 1 {
					t.Errorf("%s: word %q of %q", tok, w, line)
				}
			}
			if !utf8.ValidString(line) {
				continue
			}
			if want := byRules(tok, line); !slices.Equal(words, want) {
				t.Errorf("%s of %q:\n got %q\nwant %q", tok, line, words, want)
			}
			if tok == TokenizeChar {
				if again := tok.Tokenize(strings.Join(words, " ")); !slices.Equal(again, words) {
					t.Errorf("%s is not idempotent on %q: %q", tok, line, again)
				}
			}
		}
		for _, cut := range []func(string) []string{ASCIIWords, UnicodeWords} {
			words := cut(line)
			if again := cut(strings.Join(words, " ")); !slices.Equal(again, words) {
				t.Errorf("words of %q: %q, cut again %q", line, words, again)
			}
		}
	})
}

// counted is BLEU's modified precision with maps.
func counted(hyp, ref []string, n int) (matches int) {
	occurrences := func(words []string) map[string]int {
		m := map[string]int{}
		for i := range len(words) - n + 1 {
			m[strings.Join(words[i:i+n], " ")]++
		}
		return m
	}
	allowed := occurrences(ref)
	for gram, count := range occurrences(hyp) {
		matches += min(count, allowed[gram])
	}
	return matches
}

func FuzzScores(f *testing.F) {
	f.Add("a a a b", "a b a")
	f.Add("The cat sat.", "The cat sat on the mat.")
	f.Add("他在1993年", "在1993年。")
	f.Add("\xff", "(\xff")
	f.Fuzz(func(t *testing.T, hyp, ref string) {
		for _, tokenizer := range []Tokenizer{Tokenize13a, TokenizeChar} {
			s := tokenizer.Stats(hyp, ref)
			if score := s.Score(); !(score >= 0 && score <= 100+1e-9) {
				t.Errorf("BLEU %v of %+v", score, s)
			}
			words, reference := tokenizer.Tokenize(hyp), tokenizer.Tokenize(ref)
			for n, got := range s.Counts {
				if want := counted(words, reference, n+1); got != want {
					t.Errorf("%d-gram matches of %q with %q: got %d, want %d", n+1, words, reference, got, want)
				}
			}
		}
		for _, r := range []ROUGE{ROUGEASCII, ROUGEChinese, ROUGEUnicode} {
			s := r.Score(hyp, ref)
			for _, f1 := range []float64{s.ROUGE1, s.ROUGE2, s.ROUGEL} {
				if !(f1 >= 0 && f1 <= 1) && !math.IsNaN(f1) {
					t.Errorf("ROUGE %+v", s)
				}
			}
		}
	})
}

// TestChinese derives what the zh tokenizer takes for Chinese as sacreBLEU
// does, by comparing strings with bounds, two of which are misspelt.
func TestChinese(t *testing.T) {
	bounds := [][2]string{
		{"\u3400", "\u4db5"}, {"\u4e00", "\u9fa5"}, {"\u9fa6", "\u9fbb"}, {"\uf900", "\ufa2d"}, {"\ufa30", "\ufa6a"},
		{"\ufa70", "\ufad9"}, {"\u2000" + "0", "\u2a6d" + "6"}, {"\u2f80" + "0", "\u2fa1" + "d"}, {"\uff00", "\uffef"},
		{"\u2e80", "\u2eff"}, {"\u3000", "\u303f"}, {"\u31c0", "\u31ef"}, {"\u2f00", "\u2fdf"}, {"\u2ff0", "\u2fff"},
		{"\u3100", "\u312f"}, {"\u31a0", "\u31bf"}, {"\ufe10", "\ufe1f"}, {"\ufe30", "\ufe4f"}, {"\u2600", "\u26ff"},
		{"\u2700", "\u27bf"}, {"\u3200", "\u32ff"}, {"\u3300", "\u33ff"},
	}
	for c := range rune(0x30000) {
		if !utf8.ValidRune(c) {
			continue
		}
		s := string(c)
		want := slices.ContainsFunc(bounds, func(b [2]string) bool { return b[0] <= s && s <= b[1] })
		if got := isChinese(c); got != want {
			t.Errorf("%U: %v, want %v", c, got, want)
		}
	}
}
