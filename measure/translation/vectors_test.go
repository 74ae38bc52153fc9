package translation

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// vector is a line of testdata/vectors.jsonl: the tokens of a text, or a corpus, or a figure of the last corpus.
type vector struct {
	Tokenize  Tokenizer
	Text      string
	Words     []string
	Hyps      []string
	Refs      [][]string
	BLEU      *float64
	BP        float64
	Signature string
}

// settings turns a signature into a map, without its version.
func settings(signature string) map[string]string {
	m := map[string]string{}
	for part := range strings.SplitSeq(signature, "|") {
		key, value, _ := strings.Cut(part, ":")
		m[key] = value
	}
	delete(m, "version")
	return m
}

// format shows a score as sacreBLEU prints it.
func format(s BLEUScore) string {
	prec := make([]string, len(s.Precisions))
	for i, p := range s.Precisions {
		prec[i] = fmt.Sprintf("%.1f", p)
	}
	ratio := 0.0
	if s.RefLen > 0 {
		ratio = float64(s.SysLen) / float64(s.RefLen)
	}
	return fmt.Sprintf("BLEU = %.2f %s (BP = %.3f ratio = %.3f hyp_len = %d ref_len = %d)",
		s.Score, strings.Join(prec, "/"), s.BP, ratio, s.SysLen, s.RefLen)
}

// TestVectors compares every option with sacreBLEU on synthetic text.
func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var corpus vector
	figures := 0
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("vectors.jsonl:%d: %v", line, err)
		}
		set := settings(v.Signature)
		what := fmt.Sprintf("vectors.jsonl:%d", line)
		var got, want, signature string
		switch {
		case v.Words != nil:
			words, err := v.Tokenize.Tokenize(v.Text)
			if err != nil || !slices.Equal(words, v.Words) {
				t.Errorf("%s: %s tokens of %q:\n got %q\nwant %q (%v)", what, v.Tokenize, v.Text, words, v.Words, err)
			}
			continue
		case v.Hyps != nil:
			corpus = v
			continue
		case v.BLEU != nil:
			b := BLEU{Tokenize: Tokenizer(set["tok"]), EffectiveOrder: set["eff"] == "yes"}
			s, err := b.Corpus(corpus.Hyps, corpus.Refs...)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			near(t, what+" BLEU", s.Score, *v.BLEU, 1e-9)
			near(t, what+" BP", s.BP, v.BP, 1e-12)
			got, want, signature = format(s), v.Text, b.Signature(s.NRefs)
		default:
			continue // the header
		}
		figures++
		if got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
		if !strings.HasPrefix(v.Signature, strings.TrimSuffix(signature, "2")) {
			t.Errorf("%s: signature %s, want %s", what, signature, v.Signature)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if figures < 100 {
		t.Errorf("%d figures compared, want at least 100", figures)
	}
}
