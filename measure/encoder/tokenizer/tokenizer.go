// Package tokenizer turns text into the token ids of a BERT-family model, id for id as Hugging Face's Rust tokenizers
// do: WordPiece (Wu et al. 2016) for BERT and DistilBERT, Unigram (Kudo 2018) for XLM-RoBERTa, byte-level BPE (Radford
// et al. 2019) for RoBERTa.
//
// It reads tokenizer.json or, for BERT, vocab.txt. An unknown part is an error, never a guess.
package tokenizer

import (
	"cmp"
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

// model splits one word into ids and appends them.
type model interface {
	encode(ids []int32, word string) []int32
}

// Load reads the tokenizer in a model's directory: tokenizer.json, or else vocab.txt of a BERT, and
// tokenizer_config.json if it exists.
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
	if n := config.MaxLength; n >= 1 && n < 1<<30 { // larger values mean none
		t.max = int(n)
	}
	return t, nil
}

// config holds the relevant part of a tokenizer_config.json.
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

// token is a string, or an object with a string as its content.
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

// ReadJSON decodes a file in a model's directory, if it exists.
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

// MaxLength returns the tokenizer's limit of ids for a text (model_max_length), special tokens included; 0: none.
func (t *Tokenizer) MaxLength() int { return t.max }

// Special reports whether id is one of those that Encode puts around a text: [CLS] and [SEP], or <s> and </s>.
func (t *Tokenizer) Special(id int32) bool {
	return slices.Contains(t.before, id) || slices.Contains(t.after, id)
}

// Encode returns the ids of text with the special tokens around it. If there are more than most, it cuts the end of
// the text and keeps the special tokens; most = 0 means no limit.
func (t *Tokenizer) Encode(text string, most int) []int32 {
	limit := math.MaxInt // of the ids before t.after
	if most > 0 {
		limit = max(most-len(t.after), len(t.before))
	}
	ids := slices.Clone(t.before)
	// visit handles one part of the text. Text after the limit cannot change the ids before it.
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

// scored is an entry of a Unigram vocabulary: a text and its log probability.
type scored struct {
	text  string
	score float64
}

func (s *scored) UnmarshalJSON(b []byte) error {
	pair := []any{&s.text, &s.score}
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("an entry of the vocabulary has %d parts, expected 2", len(pair))
	}
	return nil
}

// pair is a merge, written "a b" or ["a", "b"].
type pair [2]string

func (p *pair) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		var ok bool
		if p[0], p[1], ok = strings.Cut(s, " "); !ok {
			return fmt.Errorf("merge %q, expected two symbols", s)
		}
		return nil
	}
	return json.Unmarshal(b, (*[2]string)(p))
}

// decodePart decodes a part of a tokenizer, unless it is missing or null.
func decodePart(part string, raw json.RawMessage, v any) (present bool, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, fmt.Errorf("%s: %w", part, err)
	}
	return true, nil
}

// same is the function in place of a missing part.
func same[T any](v T) T { return v }

// sequence parses the parts of a Sequence, which are applied one after the other.
func sequence[T any](parts []json.RawMessage, parse func(json.RawMessage) (func(T) T, error)) (func(T) T, error) {
	all := same[T]
	for _, raw := range parts {
		before := all
		f, err := parse(raw)
		if err != nil {
			return nil, err
		}
		all = func(v T) T { return f(before(v)) }
	}
	return all, nil
}

// parse reads a tokenizer.json. It ignores truncation and padding, which do not concern the model.
func parse(b []byte, c config) (*Tokenizer, error) {
	var f struct {
		Added      []addedToken `json:"added_tokens"`
		Normalizer json.RawMessage
		Splitter   json.RawMessage `json:"pre_tokenizer"`
		Processor  json.RawMessage `json:"post_processor"`
		Model      json.RawMessage
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	t := &Tokenizer{}
	for _, a := range f.Added {
		switch {
		case a.ID < 0:
			return nil, fmt.Errorf("added token %q has id %d", a.Content, a.ID)
		case a.Content == "":
		case a.Normalized:
			t.addedNorm = append(t.addedNorm, a)
		default:
			t.added = append(t.added, a)
		}
	}
	var errs [4]error
	t.normalize, errs[0] = parseNormalizer(f.Normalizer, c)
	t.split, errs[1] = parseSplitter(f.Splitter)
	errs[2] = t.parseProcessor(f.Processor)
	t.model, errs[3] = parseModel(f.Model)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	kept := t.addedNorm[:0]
	for _, a := range t.addedNorm { // they are searched in normalised form
		if a.Content = t.normalize(a.Content); a.Content != "" {
			kept = append(kept, a)
		}
	}
	t.addedNorm = kept
	sortAdded(t.added)
	sortAdded(t.addedNorm)
	return t, nil
}

// parseProcessor reads the ids to put around a text.
func (t *Tokenizer) parseProcessor(raw json.RawMessage) error {
	var p struct {
		Type     string
		CLS, SEP []any // name and id
		Single   []struct {
			Sequence *struct{}            `json:"Sequence"`
			Special  *struct{ ID string } `json:"SpecialToken"`
		}
		Specials map[string]struct{ IDs []int32 } `json:"special_tokens"`
	}
	if present, err := decodePart("post_processor", raw, &p); err != nil || !present {
		return err
	}
	switch p.Type {
	case "ByteLevel": // changes only offsets
		return nil
	case "BertProcessing", "RobertaProcessing":
		for _, side := range []struct {
			pair []any
			ids  *[]int32
		}{{p.CLS, &t.before}, {p.SEP, &t.after}} {
			if len(side.pair) != 2 {
				return fmt.Errorf("post_processor: %s names no cls or no sep token", p.Type)
			}
			id, ok := side.pair[1].(float64)
			if !ok || id < 0 || id > 1<<30 {
				return fmt.Errorf("post_processor: token id %v", side.pair[1])
			}
			*side.ids = []int32{int32(id)}
		}
		return nil
	case "TemplateProcessing":
		side := &t.before
		for _, part := range p.Single {
			if part.Sequence != nil {
				side = &t.after
			}
			if part.Special == nil {
				continue
			}
			special, ok := p.Specials[part.Special.ID]
			if !ok {
				return fmt.Errorf("post_processor: token %q has no ids", part.Special.ID)
			}
			*side = append(*side, special.IDs...)
		}
		return nil
	}
	return fmt.Errorf("post_processor %q is not supported", p.Type)
}

// parseModel parses the part that splits words.
func parseModel(raw json.RawMessage) (model, error) {
	var m struct {
		Type     string
		Vocab    json.RawMessage
		Merges   []pair
		Unknown  *string `json:"unk_token"`
		UnkID    *int    `json:"unk_id"`
		Prefix   *string `json:"continuing_subword_prefix"`
		Suffix   *string `json:"end_of_word_suffix"`
		MaxChars int     `json:"max_input_chars_per_word"`
		Bytes    bool    `json:"byte_fallback"`
		Ignore   bool    `json:"ignore_merges"`
	}
	m.MaxChars = 100
	if present, err := decodePart("model", raw, &m); err != nil || !present {
		return nil, cmp.Or(err, errors.New("model: missing"))
	}
	if m.Type == "Unigram" {
		var vocab []scored
		if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		switch {
		case m.UnkID == nil:
			return nil, errors.New("model: Unigram without unk_id")
		case m.Bytes:
			return nil, errors.New("model: Unigram with byte_fallback is not supported")
		}
		return newUnigram(vocab, *m.UnkID)
	}
	var vocab map[string]int32
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	for text, id := range vocab {
		if id < 0 {
			return nil, fmt.Errorf("model: token %q has id %d", text, id)
		}
	}
	given := func(s *string) bool { return s != nil && *s != "" }
	unknown := int32(-1)
	if given(m.Unknown) {
		id, ok := vocab[*m.Unknown]
		if !ok {
			return nil, fmt.Errorf("model: unk_token %q is not in the vocabulary", *m.Unknown)
		}
		unknown = id
	}
	switch m.Type {
	case "WordPiece":
		w := &wordPiece{vocab, unknown, "##", m.MaxChars}
		if m.Prefix != nil {
			w.prefix = *m.Prefix
		}
		if unknown < 0 {
			return nil, errors.New("model: WordPiece without unk_token")
		}
		return w, nil
	case "BPE":
		if given(m.Prefix) || given(m.Suffix) || unknown >= 0 || m.Bytes || m.Ignore {
			return nil, errors.New(
				"model: BPE with unk_token, prefixes, suffixes, byte_fallback or ignore_merges is not supported")
		}
		return newBPE(vocab, m.Merges)
	}
	return nil, fmt.Errorf("model %q is not supported, expected WordPiece, Unigram or BPE", m.Type)
}

func newBPE(vocab map[string]int32, merges []pair) (*bpe, error) {
	b := &bpe{vocab, make(map[[2]int32]merge, len(merges))}
	for rank, p := range merges {
		left, ok1 := vocab[p[0]]
		right, ok2 := vocab[p[1]]
		joined, ok3 := vocab[p[0]+p[1]]
		if !ok1 || !ok2 || !ok3 {
			return nil, fmt.Errorf("model: merge %q is not of tokens in the vocabulary", p)
		}
		b.merges[[2]int32{left, right}] = merge{rank, joined}
	}
	return b, nil
}
