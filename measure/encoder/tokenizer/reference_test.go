package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The files in testdata are made by testdata/make.mjs, which names its tools.
func TestReference(t *testing.T) {
	texts := decode[[]string](t, "texts.json")
	for _, name := range []string{"unigram", "unigram_words", "bpe", "mixed"} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			tok, err := parse(b, config{})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range decode[[][]int32](t, name+".ids.json") {
				if got := tok.Encode(texts[i], 0); !slices.Equal(got, want) {
					t.Errorf("%q: %v, want %v", texts[i], got, want)
				}
				for most := 2; most <= len(want); most++ {
					cut := append(slices.Clone(want[:most-1]), want[len(want)-1])
					if got := tok.Encode(texts[i], most); !slices.Equal(got, cut) {
						t.Fatalf("%q at most %d: %v, want %v", texts[i], most, got, cut)
					}
				}
			}
		})
	}
}

func decode[T any](t *testing.T, name string) (v T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}
