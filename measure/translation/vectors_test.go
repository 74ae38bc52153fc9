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

// vector is a line of testdata/vectors.jsonl: the tokens of a text, or a
// corpus, or a figure of the last corpus.
type vector struct {
	Tokenize    Tokenizer
	Text        string
	Words       []string
	Hyps        []string
	Refs        [][]string
	BLEU        *float64
	BP          float64
	MaxOrder    int     `json:"max_order"`
	SmoothValue float64 `json:"smooth_value"`
	Signature   string
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
			smooth, _, _ := strings.Cut(set["smooth"], "[")
			b := BLEU{Tokenize: Tokenizer(set["tok"]), Smooth: Smoothing(smooth), SmoothValue: v.SmoothValue,
				Lowercase: set["case"] == "lc", MaxOrder: v.MaxOrder, EffectiveOrder: set["eff"] == "yes"}
			s, err := b.Corpus(corpus.Hyps, corpus.Refs...)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			near(t, what+" BLEU", s.Score, *v.BLEU, 1e-9)
			near(t, what+" BP", s.BP, v.BP, 1e-12)
			got, want, signature = s.String(), v.Text, b.Signature(s.NRefs)
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
	if figures < 600 {
		t.Errorf("%d figures compared, want at least 600", figures)
	}
}
