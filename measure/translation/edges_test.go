package translation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Figures of counts at each edge of the formula.
func TestScoreOfCounts(t *testing.T) {
	for _, c := range []struct {
		s    BLEUStats
		want float64
	}{
		{BLEUStats{Segments: 1}, 0},
		{BLEUStats{Segments: 1, SysLen: 3, RefLen: 3, Counts: [4]int{3, 2, 1, 0}, Totals: [4]int{3, 2, 1, 0}}, 0},
		{BLEUStats{Segments: 1, SysLen: 4, RefLen: 4, Counts: [4]int{4, 3, 2, 1}, Totals: [4]int{4, 3, 2, 1}}, 100},
		{BLEUStats{Segments: 2, SysLen: 5, RefLen: 4, Counts: [4]int{4, 3, 2, 1}, Totals: [4]int{4, 3, 2, 1}}, 100},
		{BLEUStats{Segments: 2, SysLen: 4, RefLen: 6, Counts: [4]int{4, 3, 2, 1}, Totals: [4]int{4, 3, 2, 1}},
			100 * math.Exp(-.5)},
		{BLEUStats{Segments: 1, SysLen: 8, RefLen: 8, Counts: [4]int{8, 0, 0, 0}, Totals: [4]int{8, 7, 6, 5}},
			100 * math.Pow(1./2/7*1/4/6*1/8/5, .25)},
		{BLEUStats{Segments: 1, SysLen: 8, RefLen: 8, Counts: [4]int{4, 2, 0, 0}, Totals: [4]int{8, 7, 6, 5}},
			100 * math.Pow(.5*2/7*1/2/6*1/4/5, .25)},
		{BLEUStats{Segments: 1, SysLen: 4, RefLen: 4, Counts: [4]int{0, 0, 0, 1}, Totals: [4]int{4, 3, 2, 1}},
			100 * math.Pow(1./2/4*1/4/3*1/8/2, .25)},
	} {
		near(t, fmt.Sprintf("%+v", c.s), c.s.Score(), c.want, 1e-9)
	}
}

func TestROUGEEdges(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		of        ROUGE
		hyp, ref  string
		one, two  float64
		l         float64
		signature string
	}{
		{ROUGEASCII, "", "", 0, 0, 0, "words:ascii|ngrams:bags|stem:no"},
		{ROUGEUnicode, "", "", nan, nan, nan, "words:unicode|ngrams:bags|stem:no"},
		{ROUGEChinese, "", "", 0, 0, 0, "words:chinese|ngrams:sets|stem:no"},
		{ROUGEUnicode, "a", "a", 1, nan, 1, "words:unicode|ngrams:bags|stem:no"},
		{ROUGEUnicode, "a b", "b a", 1, 0, .5, "words:unicode|ngrams:bags|stem:no"},
		{ROUGEUnicode, "a b c d", "a c", 2. / 3, 0, 2. / 3, "words:unicode|ngrams:bags|stem:no"},
		{ROUGEASCII, "a a b a a", "a a a", 2 * .6 / 1.6, 2 * (.5 * 1) / 1.5, 2 * .6 / 1.6, "words:ascii|ngrams:bags|stem:no"},
		{ROUGEChinese, "a a b a a", "a a a", 2 * .5 / (1.5 + 1e-8), 2 * (1. / 3) / (4./3 + 1e-8), 2 * .6 / (1.6 + 1e-8), "words:chinese|ngrams:sets|stem:no"},
	} {
		got := c.of.Score(c.hyp, c.ref)
		for i, pair := range [][2]float64{{got.ROUGE1, c.one}, {got.ROUGE2, c.two}, {got.ROUGEL, c.l}} {
			if math.IsNaN(pair[0]) != math.IsNaN(pair[1]) || math.Abs(pair[0]-pair[1]) > 1e-15 {
				t.Errorf("%s of %q and %q, figure %d: %v, want %v", c.signature, c.hyp, c.ref, i, pair[0], pair[1])
			}
		}
		if got := c.of.Signature(); got != c.signature {
			t.Error(got)
		}
		words := c.of.ScoreWords(strings.Fields(c.hyp), strings.Fields(c.ref))
		if fmt.Sprint(words) != fmt.Sprint(got) {
			t.Errorf("%s of words %q and %q: %v, want %v", c.signature, c.hyp, c.ref, words, got)
		}
	}
	if got := ROUGEChinese.ScoreWords([]string{"a。b", " ", "\n"}, []string{"a。", "b"}); got.ROUGE1 != 2/(2+1e-8) {
		t.Errorf("%+v", got) // cut again
	}
}

// Each script without spaces, and each end of a range of letters.
func TestWordEdges(t *testing.T) {
	for _, c := range []struct {
		cut  func(string) []string
		text string
		want string
	}{
		{ASCIIWords, "/09:`az{@AZ[", "09|az|az"},
		{UnicodeWords, "漢字 ひカ ーx ไท ລາວ ខ្មែរ မြန် བོད 〇一 x漢x ½ ①a", "漢|字|ひ|カ|ー|x|ไ|ท|ລ|າ|ວ|ខ្|មែ|រ|မြ|န်|བོ|ད|〇|一|x|漢|x|½|①a"},
		{UnicodeWords, "", ""}, {UnicodeWords, " .,", ""}, {UnicodeWords, "é\u0301漢\u0301\u0301a", "é\u0301|漢\u0301\u0301|a"},
		{ChineseWords, "好。 他说！ 是？ 吗? 对", "好。|他说！|是？|吗?|对"},
		{ChineseWords, "好……  他......  对…” 是！”他，”", "好……|他......|对…”|是！”|他，”"},
		{ChineseWords, "a\n\nb\n \nc\n", "a|b||c"}, {ChineseWords, "", ""},
	} {
		got := c.cut(c.text)
		want := strings.Split(c.want, "|")
		if c.want == "" {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.text, got, want)
		}
	}
	for language, want := range map[string]Tokenizer{"lo": TokenizeChar, "km": TokenizeChar, "MY_mm": TokenizeChar, "bo": TokenizeChar,
		"zha": Tokenize13a, "jam": Tokenize13a} {
		if got := TokenizerFor(language); got != want {
			t.Errorf("%s: %s", language, got)
		}
	}
}
