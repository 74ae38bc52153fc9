// Package tokenizer turns text into the token ids of a BERT-family model, id for id as Hugging Face's Rust tokenizers
// do: WordPiece (Wu et al. 2016) for BERT and DistilBERT, Unigram (Kudo 2018) for XLM-RoBERTa, byte-level BPE (Radford
// et al. 2019) for RoBERTa.
//
// It reads tokenizer.json or, for BERT, vocab.txt. A part of a tokenizer that it does not know is an error, never a
// guess.
package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tokenizer is immutable and safe for concurrent use.
type Tokenizer struct {
	added     []addedToken // matched in the raw text
	addedNorm []addedToken // matched after normalisation
	normalize func(string) string
	split     func([]string) []string
	model     model
	before    []int32 // ids put around a text
	after     []int32
	max       int
}

// model splits one word into ids, which it appends.
type model interface {
	encode(ids []int32, word string) []int32
}

// Load reads the tokenizer of the model directory dir: tokenizer.json, or else vocab.txt of a BERT, and
// tokenizer_config.json where there is one.
func Load(dir string) (*Tokenizer, error) {
	var config config
	if _, err := ReadJSON(filepath.Join(dir, "tokenizer_config.json"), &config); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "tokenizer.json")
	b, err := os.ReadFile(path)
	var t *Tokenizer
	switch {
	case err == nil:
		t, err = parse(b, config)
	case errors.Is(err, fs.ErrNotExist):
		path = filepath.Join(dir, "vocab.txt")
		if b, err = os.ReadFile(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no tokenizer.json and no vocab.txt", dir)
		} else if err == nil {
			t, err = newBERT(string(b), config)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if n := config.MaxLength; n >= 1 && n < 1<<30 { // larger means: none
		t.max = int(n)
	}
	return t, nil
}

// config is the part of a tokenizer_config.json that matters here.
type config struct {
	Lower     *bool   `json:"do_lower_case"`
	Strip     *bool   `json:"strip_accents"`
	Chinese   *bool   `json:"tokenize_chinese_chars"`
	MaxLength float64 `json:"model_max_length"`

	// The special tokens of a BERT.
	CLS  token `json:"cls_token"`
	SEP  token `json:"sep_token"`
	PAD  token `json:"pad_token"`
	UNK  token `json:"unk_token"`
	Mask token `json:"mask_token"`
}

// token is a string, or an object that has it as content.
type token string

func (t *token) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = token(s)
		return nil
	}
	var o struct{ Content string }
	err := json.Unmarshal(b, &o)
	*t = token(o.Content)
	return err
}

// ReadJSON decodes a file of a model's directory, if it exists.
func ReadJSON(path string, v any) (found bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}

// MaxLength is the tokenizer's own limit of ids for a text (model_max_length), special tokens included, and 0 if it has
// none.
func (t *Tokenizer) MaxLength() int { return t.max }

// Special reports whether id is one of those that Encode puts around a text: [CLS] and [SEP], or <s> and </s>.
func (t *Tokenizer) Special(id int32) bool {
	return slices.Contains(t.before, id) || slices.Contains(t.after, id)
}

// Encode returns the ids of text with the special tokens around it. If there are more than most, the text is cut at its
// end and the special tokens stay; most = 0 is no limit.
func (t *Tokenizer) Encode(text string, most int) []int32 {
	limit := math.MaxInt // of the ids before t.after
	if most > 0 {
		limit = max(most-len(t.after), len(t.before))
	}
	ids := slices.Clone(t.before)
	// visit handles one part of the text; text after the limit cannot change the ids before it.
	visit := func(part string, id int32, isAdded bool) bool {
		if isAdded {
			ids = append(ids, id)
			return len(ids) < limit
		}
		for _, word := range t.split([]string{part}) {
			if len(ids) < limit {
				ids = t.model.encode(ids, word)
			}
		}
		return len(ids) < limit
	}
	splitAdded(strings.ToValidUTF8(text, "\uFFFD"), t.added, func(part string, id int32, isAdded bool) bool {
		if isAdded {
			return visit(part, id, true)
		}
		return splitAdded(t.normalize(part), t.addedNorm, visit)
	})
	return append(ids[:min(len(ids), limit)], t.after...)
}
