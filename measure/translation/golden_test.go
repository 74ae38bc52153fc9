package translation

import (
	"crosstalk/internal/testing/shared"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.17g, want %.17g", what, got, want)
	}
}

// TestSentences compares tokens, counts and figures of single sentences with those of sacreBLEU and the ROUGE packages.
func TestSentences(t *testing.T) {
	rows := shared.Lines[struct {
		N                      int
		Tok                    Tokenizer
		Lang                   string
		Hyp, Ref               string
		HypTok                 string `json:"hyp_tok"`
		RefTok                 string `json:"ref_tok"`
		BLEU                   float64
		Counts, Totals         []int
		SysLen                 int `json:"sys_len"`
		RefLen                 int `json:"ref_len"`
		ROUGE1, ROUGE2, ROUGEL float64
		JiebaHyp               string `json:"jieba_hyp"`
		JiebaRef               string `json:"jieba_ref"`
	}](t, "multisense/sentences.paws-x.jsonl.gz")
	if len(rows) < 700 {
		t.Fatalf("%d rows, want at least 700", len(rows))
	}
	for _, r := range rows {
		for text, want := range map[string]string{r.Hyp: r.HypTok, r.Ref: r.RefTok} {
			if got := strings.Join(r.Tok.Tokenize(text), " "); got != want {
				t.Errorf("row %d: %s tokens of %q:\n got %s\nwant %s", r.N, r.Tok, text, got, want)
			}
		}
		s := r.Tok.Stats(r.Hyp, r.Ref)
		near(t, "BLEU", s.Score(), r.BLEU, 1e-9)
		if !slices.Equal(s.Counts[:], r.Counts) || !slices.Equal(s.Totals[:], r.Totals) || s.SysLen != r.SysLen ||
			s.RefLen != r.RefLen {
			t.Errorf("row %d: got %+v, want %v %v %d %d", r.N, s, r.Counts, r.Totals, r.SysLen, r.RefLen)
		}
		rouge := ROUGEASCII.Score(r.Hyp, r.Ref)
		if r.Lang == "zh" {
			rouge = ROUGEChinese.ScoreWords(jieba(r.Hyp, r.JiebaHyp), jieba(r.Ref, r.JiebaRef))
		}
		near(t, "ROUGE-1", rouge.ROUGE1, r.ROUGE1, 1e-9)
		near(t, "ROUGE-2", rouge.ROUGE2, r.ROUGE2, 1e-9)
		near(t, "ROUGE-L", rouge.ROUGEL, r.ROUGEL, 1e-9)
	}
}

// jieba restores the output of jieba, to which each white space character is a word, from the text and the other words.
func jieba(text, recorded string) (words []string) {
	next := strings.Fields(recorded)
	for text != "" {
		if len(next) > 0 && strings.HasPrefix(text, next[0]) {
			words, text, next = append(words, next[0]), text[len(next[0]):], next[1:]
			continue
		}
		_, n := utf8.DecodeRuneInString(text)
		words, text = append(words, text[:n]), text[n:]
	}
	return words
}

// pawsx is the reference data's PAWS-X part: texts of item i in a language and the model's translations of them, each a
// pair of sentences.
type pawsx struct {
	source []struct{ Src map[string][2]string }
	own    []struct {
		Tr map[string]struct{ Clean [2]string }
	}
}

func readPAWSX(t *testing.T) (p pawsx) {
	p.source = shared.Lines[struct{ Src map[string][2]string }](t, "multisense/paws-x.source.jsonl.gz")
	p.own = shared.Lines[struct {
		Tr map[string]struct{ Clean [2]string }
	}](t, "multisense/paws-x.translations.jsonl.gz")
	if len(p.source) != 2000 || len(p.own) != 2000 {
		t.Fatalf("%d sources and %d translations, want 2000 of each", len(p.source), len(p.own))
	}
	return p
}

// corpus returns all first texts, then all second texts.
func (p pawsx) corpus(pair string) (hyps, refs []string) {
	_, lang, _ := strings.Cut(pair, ">")
	for k := range 2 {
		for i := range p.own {
			hyps = append(hyps, p.own[i].Tr[pair].Clean[k])
			refs = append(refs, p.source[i].Src[lang][k])
		}
	}
	return hyps, refs
}

func tokenizerOf(pair string) Tokenizer {
	_, lang, _ := strings.Cut(pair, ">")
	return TokenizerFor(lang)
}

// TestItems compares the figures of every sentence of every translation pair.
func TestItems(t *testing.T) {
	p := readPAWSX(t)
	rows := shared.Lines[struct {
		I                            int
		Pair                         string
		BLEU, ROUGE1, ROUGE2, ROUGEL [2]float64
	}](t, "multisense/paws-x.scores.jsonl.gz")
	if len(rows) != 12000 {
		t.Fatalf("%d rows, want 12000", len(rows))
	}
	for _, r := range rows {
		_, lang, _ := strings.Cut(r.Pair, ">")
		for k := range 2 {
			hyp, ref := p.own[r.I].Tr[r.Pair].Clean[k], p.source[r.I].Src[lang][k]
			near(t, r.Pair+" BLEU", tokenizerOf(r.Pair).Stats(hyp, ref).Score(), r.BLEU[k], 1e-9)
			if lang == "zh" {
				continue // needs jieba's words; TestSentences has some
			}
			rouge := ROUGEASCII.Score(hyp, ref)
			near(t, r.Pair+" ROUGE-1", rouge.ROUGE1, r.ROUGE1[k], 1e-9)
			near(t, r.Pair+" ROUGE-2", rouge.ROUGE2, r.ROUGE2[k], 1e-9)
			near(t, r.Pair+" ROUGE-L", rouge.ROUGEL, r.ROUGEL[k], 1e-9)
		}
	}
}

// TestCorpora compares the corpus figures of the four pairs in the tables.
func TestCorpora(t *testing.T) {
	p := readPAWSX(t)
	golden := shared.JSON[struct {
		Cells []struct {
			Cell       []string
			Recomputed float64
			Stored     float64
			Counts     []int
			Totals     []int
			SysLen     int `json:"sys_len"`
			RefLen     int `json:"ref_len"`
		}
	}](t, "multisense/golden_tables.paws-x.json")
	checked := 0
	for _, c := range golden.Cells {
		if len(c.Cell) != 3 || c.Stored == 0 {
			continue
		}
		pair, measure := c.Cell[1], c.Cell[2]
		hyps, refs := p.corpus(pair)
		if strings.HasPrefix(measure, "rouge") && !strings.HasSuffix(pair, "zh") {
			got := 0.0
			for i := range hyps {
				s := ROUGEASCII.Score(hyps[i], refs[i])
				got += map[string]float64{"rouge1": s.ROUGE1, "rouge2": s.ROUGE2, "rougeL": s.ROUGEL}[measure] / float64(len(hyps))
			}
			near(t, pair+" "+measure, got, c.Recomputed, 1e-9)
			near(t, pair+" "+measure+" in the authors' data", got, c.Stored, 5e-4)
			checked++
		}
		if measure != "BLEU" {
			continue
		}
		s := corpus(tokenizerOf(pair), hyps, refs)
		near(t, pair+" BLEU", s.Score(), c.Recomputed, 1e-9)
		if !slices.Equal(s.Counts[:], c.Counts) || !slices.Equal(s.Totals[:], c.Totals) || s.SysLen != c.SysLen ||
			s.RefLen != c.RefLen {
			t.Errorf("%s: got %+v, want %+v", pair, s, c)
		}
		checked++
	}
	if checked != 4+9 {
		t.Errorf("%d cells compared, want 13", checked)
	}
}
