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

// TestVectors compares tokens, and figures with one reference, with sacreBLEU on synthetic text.
func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var of vector
	figures := 0
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("vectors.jsonl:%d: %v", line, err)
		}
		set := settings(v.Signature)
		what := fmt.Sprintf("vectors.jsonl:%d", line)
		switch {
		case v.Words != nil:
			if words := v.Tokenize.Tokenize(v.Text); !slices.Equal(words, v.Words) {
				t.Errorf("%s: %s tokens of %q:\n got %q\nwant %q", what, v.Tokenize, v.Text, words, v.Words)
			}
		case v.Hyps != nil:
			of = v
		case v.BLEU != nil && len(of.Refs) == 1 && !slices.Contains(of.Refs[0], "") && set["eff"] != "yes":
			figures++
			tokenizer := Tokenizer(set["tok"])
			sum := corpus(tokenizer, of.Hyps, of.Refs[0])
			near(t, what+" BLEU", sum.Score(), *v.BLEU, 1e-9)
			want := fmt.Sprintf(" hyp_len = %d ref_len = %d)", sum.SysLen, sum.RefLen)
			if !strings.HasSuffix(v.Text, want) {
				t.Errorf("%s: got%s, want %s", what, want, v.Text)
			}
			if signature := tokenizer.Signature(); !strings.HasPrefix(v.Signature, strings.TrimSuffix(signature, "2")) {
				t.Errorf("%s: signature %s, want %s", what, signature, v.Signature)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if figures < 10 {
		t.Errorf("%d figures compared, want at least 10", figures)
	}
}
