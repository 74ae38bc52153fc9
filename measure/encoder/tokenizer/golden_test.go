package tokenizer

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"crosstalk/internal/testing/shared"
)

// expected is a text's ids by the Rust library; Why tells why other tokenizers disagree, where they do.
type expected struct {
	ID   int
	Text string
	IDs  []int32
	Why  []string
	Max  int `json:"max_length"`
}

// excused reports whether a newer Unicode than the Rust library's may differ.
func (e expected) excused() bool { return slices.Contains(e.Why, "unicode-tables") }

func texts(t *testing.T) map[int]string {
	all := map[int]string{}
	for _, e := range shared.Lines[expected](t, "encoder/tokenizer/uncased.jsonl") {
		all[e.ID] = e.Text
	}
	return all
}

func variant(t *testing.T, name string) *Tokenizer {
	t.Helper()
	root := "encoder/tokenizer"
	c := shared.JSON[struct {
		Vocab string
		config
	}](t, path.Join(root, name+".config.json"))
	vocab, err := io.ReadAll(shared.Open(t, path.Join(root, c.Vocab)))
	if err != nil {
		t.Fatal(err)
	}
	tok, err := newBERT(string(vocab), c.config)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestGoldenVariants(t *testing.T) {
	all := texts(t)
	for _, name := range []string{"uncased", "cased", "cased_strip", "cased_lower", "cased_lower_nostrip", "cased_nocjk", "uncased_small"} {
		t.Run(name, func(t *testing.T) {
			tok := variant(t, name)
			rows, excused := shared.Lines[expected](t, fmt.Sprintf("encoder/tokenizer/%s.jsonl", name)), 0
			for _, e := range rows {
				got := tok.Encode(all[e.ID], 0)
				if slices.Equal(got, e.IDs) {
					continue
				}
				if excused++; !e.excused() {
					t.Errorf("%d %q: %v, want %v", e.ID, all[e.ID], got, e.IDs)
				}
			}
			t.Logf("%d texts, %d excused", len(rows), excused)
		})
	}
}

func TestGoldenTruncation(t *testing.T) {
	all, tok := texts(t), variant(t, "uncased")
	for _, e := range shared.Lines[expected](t, "encoder/tokenizer/truncation.jsonl") {
		if got := tok.Encode(all[e.ID], e.Max); !slices.Equal(got, e.IDs) {
			t.Errorf("%d at most %d: %v, want %v", e.ID, e.Max, got, e.IDs)
		}
	}
}

// The models' own files: tokenizer.json with a truncation that must be ignored, or vocab.txt alone.
func TestGoldenModels(t *testing.T) {
	n := 0
	for _, name := range shared.Names(t, "encoder/models") {
		if name[:4] == "xlmr" { // they come without a tokenizer
			continue
		}
		tok, err := Load(filepath.Join(shared.File(t, "encoder/models"), name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, e := range shared.Lines[struct {
			Text string
			IDs  []int32
			Full int `json:"n_full"`
		}](t, path.Join("encoder/encoder", name, "texts.jsonl")) {
			if got := tok.Encode(e.Text, 0); len(got) != e.Full {
				t.Errorf("%s: %q has %d ids, want %d", name, e.Text, len(got), e.Full)
			}
			if got := tok.Encode(e.Text, len(e.IDs)); !slices.Equal(got, e.IDs) {
				t.Errorf("%s: %q: %v, want %v", name, e.Text, got, e.IDs)
			}
			n++
		}
	}
	t.Logf("%d texts", n)
}
