package translation

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// corpus scores hypotheses, one after the other.
func corpus(t Tokenizer, hyps, refs []string) (sum BLEUStats) {
	for i, hyp := range hyps {
		sum.Add(t.Stats(hyp, refs[i]))
	}
	return sum
}

func TestAdd(t *testing.T) {
	sum := corpus(Tokenize13a, []string{"a b c d e", "", "x"}, []string{"a b c d", "y z", "x"})
	want := BLEUStats{Segments: 3, SysLen: 6, RefLen: 7, Counts: [...]int{5, 3, 2, 1}, Totals: [...]int{6, 4, 3, 2}}
	if sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	near(t, "BLEU", sum.Score(), 100*math.Exp(1-7.0/6)*math.Pow(5.0/6*3/4*2/3*1/2, 0.25), 1e-12)
	if got := (BLEUStats{}).Score(); !math.IsNaN(got) {
		t.Errorf("BLEU over no segment: %v", got)
	}
	if got := Tokenize13a.Stats("a b c", "a b c").Score(); got != 0 {
		t.Errorf("BLEU of three words: %v", got)
	}
	if got := TokenizeZh.Signature(); got != "nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp|version:2" {
		t.Error(got)
	}
}

func TestTokenizerFor(t *testing.T) {
	for lang, want := range map[string]Tokenizer{
		"en": Tokenize13a, "": Tokenize13a, "zh": TokenizeZh, "zh-Hant-TW": TokenizeZh, "zh_CN": TokenizeZh, "ZH": TokenizeZh,
		"ja": TokenizeChar, "th": TokenizeChar, "ko": Tokenize13a,
	} {
		if got := TokenizerFor(lang); got != want {
			t.Errorf("TokenizerFor(%q) = %q, want %q", lang, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(string) []string
		in   string
		want []string
	}{
		{"ASCIIWords", ASCIIWords, "Für 3.5% \u212Aelvin_x", []string{"f", "r", "3", "5", "kelvin", "x"}},
		{"ASCIIWords", ASCIIWords, "他在", nil},
		{"ChineseWords", ChineseWords, "冠军 。   \n \n ( Note ) ", []string{"冠军", "。", "", "", "(", "Note", ")"}},
		{"ChineseWords", ChineseWords, " ", nil},
		{"ChineseWords", ChineseWords, "好。” 他", []string{"好。”", "他"}},
		{"UnicodeWords", UnicodeWords, "Für 3.5% don't", []string{"für", "3", "5", "don", "t"}},
		{"UnicodeWords", UnicodeWords, "他在1993年A级。カナー", []string{"他", "在", "1993", "年", "a", "级", "カ", "ナ", "ー"}},
		{"UnicodeWords", UnicodeWords, "ที่นี่ हिन्दी कि", []string{"ที่", "นี่", "हिन्दी", "कि"}},
		{"UnicodeWords", UnicodeWords, "u\u0308ber \u0301x 한국어", []string{"u\u0308ber", "\u0301x", "한국어"}},
	} {
		if got := c.cut(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%s(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestROUGE(t *testing.T) {
	s := ROUGEUnicode.Score("Die Katze saß auf der Matte.", "Auf der Matte saß die Katze")
	near(t, "ROUGE-1", s.ROUGE1, 1, 1e-15)
	near(t, "ROUGE-2", s.ROUGE2, 3.0/5, 1e-15) // die katze, auf der, der matte
	near(t, "ROUGE-L", s.ROUGEL, 3.0/6, 1e-15) // auf der matte
	s = ROUGEUnicode.Score("a a a b", "a b")
	near(t, "ROUGE-1 of bags", s.ROUGE1, 2*0.5*1/1.5, 1e-15)
	s = ROUGEChinese.ScoreWords([]string{"a", "a", "a", "b"}, []string{"a", "b"})
	near(t, "ROUGE-1 of sets, with epsilon", s.ROUGE1, 2/(2+1e-8), 1e-15)
	near(t, "ROUGE-L on lists", s.ROUGEL, 2*0.5*1/(1.5+1e-8), 1e-15)
	if s = ROUGEASCII.Score("我", "你"); s != (ROUGEScore{}) {
		t.Errorf("no words: %+v, want zeros", s)
	}
	s = ROUGEUnicode.Score("", "one")
	if s.ROUGE1 != 0 || !math.IsNaN(s.ROUGE2) || s.ROUGEL != 0 {
		t.Errorf("no hypothesis: %+v", s)
	}
	if got := ROUGEChinese.Signature(); got != "words:chinese|ngrams:sets|stem:no" {
		t.Error(got)
	}
}

// TestLong counts long segments.
func TestLong(t *testing.T) {
	var words [2][]string
	for i := range 6000 {
		words[0] = append(words[0], strings.Repeat("x", 1+i*i%53)+string(rune('a'+i%7)))
		words[1] = append(words[1], strings.Repeat("x", 1+i*i*i%53)+string(rune('a'+i%5)))
	}
	hyp, ref := strings.Join(words[0], " "), strings.Join(words[1], " ")
	for range 2 {
		for n, got := range Tokenize13a.Stats(hyp, ref).Counts {
			if want := counted(words[0], words[1], n+1); got != want || n < 2 && want == 0 {
				t.Errorf("%d-gram matches: got %d, want %d", n+1, got, want)
			}
		}
	}
}
