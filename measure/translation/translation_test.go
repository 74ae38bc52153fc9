package translation

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestStreaming(t *testing.T) {
	hyps := []string{"The cat sat on the mat.", "It cost 1,000 dollars.", "a b", ""}
	refs := [][]string{
		{"The cat is on the mat.", "It was 1,000 dollars.", "a b c", "x"},
		{"There is a cat on the mat.", "", "b a", "y z"},
	}
	b := BLEU{}
	var parts [2]BLEUStats
	for i, hyp := range hyps {
		s, err := b.Stats(hyp, refs[0][i], refs[1][i])
		if err != nil {
			t.Fatal(err)
		}
		parts[i%2].Add(s)
	}
	parts[0].Add(parts[1])
	got, err := b.Score(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.Corpus(hyps, refs...)
	if err != nil {
		t.Fatal(err)
	}
	if got.Score != want.Score || got.Score == 0 || got.NRefs != -1 || want.NRefs != -1 || want.Segments != 4 {
		t.Errorf("BLEU: %+v summed, %+v at once", got, want)
	}
	if got := b.Signature(want.NRefs); got != "nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:2" {
		t.Error(got)
	}
}

// TestClosestReference: of two lengths equally far off the shorter counts.
func TestClosestReference(t *testing.T) {
	for _, refs := range [][]string{{"a b c d e f", "a b c d"}, {"a b c d", "a b c d e f"}, {"a", "a b c d e f", "a b c d"}} {
		s, err := BLEU{}.Stats("a b c d e", refs...)
		if err != nil || s.RefLen != 4 {
			t.Errorf("references %q: length %d, want 4 (%v)", refs, s.RefLen, err)
		}
	}
}

func TestNothing(t *testing.T) {
	s, err := BLEU{}.Corpus(nil, nil)
	if err != nil || !math.IsNaN(s.Score) || !math.IsNaN(s.BP) {
		t.Errorf("BLEU over no segment: %v, %v", s, err)
	}
}

func TestErrors(t *testing.T) {
	one := []string{"a"}
	for want, f := range map[string]func() error{
		`unknown tokenizer "14b"; choose one of: 13a, zh, char`: func() error {
			_, err := BLEU{Tokenize: "14b"}.Corpus(one, one)
			return err
		},
		"1 hypotheses but 2 references in set 2":           func() error { _, err := BLEU{}.Corpus(one, one, []string{"a", "b"}); return err },
		"1 hypotheses but 0 references in set 1":           func() error { _, err := BLEU{}.Corpus(one, nil); return err },
		"no references given":                              func() error { _, err := BLEU{}.Corpus(one); return err },
		"segment 2 of 2: no reference, or only empty ones": func() error { _, err := BLEU{}.Corpus([]string{"a", "b"}, []string{"a", ""}); return err },
		"translation: no reference, or only empty ones":    func() error { _, err := BLEU{}.Stats("a", ""); return err },
		"BLEU statistics of order 2, expected 4": func() error {
			_, err := BLEU{}.Score(BLEUStats{Segments: 1, Counts: []int{1, 0}, Totals: []int{1, 0}})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "translation: ") {
			t.Errorf("got error %v, want translation: ... %s", err, want)
		}
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
	near(t, "ROUGE-1", s.ROUGE1.F1, 1, 1e-15)
	near(t, "ROUGE-2", s.ROUGE2.F1, 3.0/5, 1e-15) // die katze, auf der, der matte
	near(t, "ROUGE-L", s.ROUGEL.F1, 3.0/6, 1e-15) // auf der matte
	s = ROUGEUnicode.Score("a a a b", "a b")
	near(t, "precision in bags", s.ROUGE1.Precision, 2.0/4, 0)
	near(t, "recall in bags", s.ROUGE1.Recall, 1, 0)
	s = ROUGEChinese.ScoreWords([]string{"a", "a", "a", "b"}, []string{"a", "b"})
	near(t, "precision in sets", s.ROUGE1.Precision, 1, 0)
	near(t, "F1 with epsilon", s.ROUGE1.F1, 2/(2+1e-8), 1e-15)
	near(t, "ROUGE-L on lists", s.ROUGEL.Precision, 2.0/4, 0)
	if s = ROUGEASCII.Score("我", "你"); s != (ROUGEScore{}) {
		t.Errorf("no words: %+v, want zeros", s)
	}
	s = ROUGEUnicode.Score("", "one")
	if s.ROUGE1.F1 != 0 || !math.IsNaN(s.ROUGE1.Precision) || !math.IsNaN(s.ROUGE2.F1) || s.ROUGEL.Recall != 0 {
		t.Errorf("no hypothesis: %+v", s)
	}
	if got := ROUGEChinese.Signature(); got != "words:chinese|ngrams:sets|stem:no" {
		t.Error(got)
	}
}

// TestLong counts segments that outgrow the first tables, twice in the same scratch space.
func TestLong(t *testing.T) {
	var words [2][]string
	for i := range 6000 {
		words[0] = append(words[0], strings.Repeat("x", 1+i*i%53)+string(rune('a'+i%7)))
		words[1] = append(words[1], strings.Repeat("x", 1+i*i*i%53)+string(rune('a'+i%5)))
	}
	hyp, ref := strings.Join(words[0], " "), strings.Join(words[1], " ")
	for range 2 {
		s, err := BLEU{}.Sentence(hyp, ref)
		if err != nil {
			t.Fatal(err)
		}
		for n, got := range s.Counts {
			if want := counted(words[0], words[1:], n+1); got != want || n < 2 && want == 0 {
				t.Errorf("%d-gram matches: got %d, want %d", n+1, got, want)
			}
		}
	}
}
