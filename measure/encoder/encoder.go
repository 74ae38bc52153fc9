// Package encoder runs transformer encoders of the BERT family (BERT, DistilBERT, RoBERTa, XLM-RoBERTa) from Hugging
// Face directories on the CPU: config.json and weights in F32, F16 or BF16 as safetensors. Arithmetic is
// float32.
//
// Sequences are laid end to end, so that no work goes into padding, and batched by length; each core computes whole
// batches. The result for a sequence does not depend, bit by bit, on the other sequences or on the number of cores.
//
// Sources: Devlin et al. 2019 (BERT), Sanh et al. 2019 (DistilBERT), Liu et al. 2019 (RoBERTa), Conneau et al. 2020
// (XLM-R), Vaswani et al. 2017 (attention).
package encoder

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"crosstalk/internal/ordered"
	"crosstalk/measure/encoder/internal/kernel"
	"crosstalk/measure/encoder/safetensors"
	"crosstalk/measure/encoder/tokenizer"
	"crosstalk/measure/pytext"
)

// Model is an encoder with its weights in memory, as float32. It is safe for concurrent use; calls share one scratch
// memory for each core.
type Model struct {
	Config
	embeddings
	layers  []layer
	set     *kernel.Set
	scratch chan *scratch // as many as cores: a batch waits for one
}

// Load reads the model in dir. The error of a missing, damaged or unsupported file names the file and what was expected
// of it. Memory stays within a small multiple of the size of the files, whatever they claim.
func Load(dir string) (*Model, error) {
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config, err := parseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	weights, err := safetensors.Open(dir)
	if err != nil {
		return nil, err
	}
	defer weights.Close()
	m := &Model{Config: config, set: kernel.Best()}
	if err := m.load(weights.Tensors); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	cores := runtime.GOMAXPROCS(0)
	m.scratch = make(chan *scratch, cores)
	for range cores {
		m.scratch <- new(scratch)
	}
	return m, nil
}

// Kernels returns the names of the implementations of the inner loops that this machine can run, the fastest last:
// "portable", "avx2", "avx512".
func Kernels() []string {
	return ordered.Distinct(kernel.Sets(), func(s *kernel.Set) string { return s.Name })
}

// Text is a model with its tokenizer. It is safe for concurrent use.
type Text struct {
	*Model
	*tokenizer.Tokenizer
}

// LoadText reads the model and the tokenizer in dir.
func LoadText(dir string) (*Text, error) {
	t, err := tokenizer.Load(dir)
	if err != nil {
		return nil, err
	}
	m, err := Load(dir)
	if err != nil {
		return nil, err
	}
	return &Text{m, t}, nil
}

const textsAtOnce = 1 << 14 // bounds the memory for token ids

// Limit is the number of ids of a text that may have up to most: at most MaxTokens, and MaxTokens if most is 0.
func (t *Text) Limit(most int) int {
	if most <= 0 {
		return t.MaxTokens()
	}
	return min(most, t.MaxTokens())
}

// Encode tokenises each text, stripped of white space as Python's str.strip does and cut to Limit(most) ids with its
// special tokens. It calls visit with its number, its ids and its hidden states after the first layers blocks, as
// Model.Encode does.
func (t *Text) Encode(
	ctx context.Context, texts []string, layers, most int, visit func(i int, ids []int32, hidden []float32),
) error {
	most = t.Limit(most)
	for first := 0; first < len(texts); first += textsAtOnce {
		part := texts[first:min(first+textsAtOnce, len(texts))]
		ids := make([][]int32, len(part))
		for i, text := range part {
			ids[i] = t.Tokenizer.Encode(pytext.TrimSpace(text), most)
		}
		err := t.Model.Encode(ctx, ids, layers, func(i int, hidden []float32) { visit(first+i, ids[i], hidden) })
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// snapshot matches a directory of the Hugging Face cache.
var snapshot = regexp.MustCompile(`(?:^|/)models--((?:[^/]+--)?[^/]+)/snapshots/([0-9a-f]{7,64})$`)

// Named returns the name and the revision or, of those that are empty, Identity's.
func Named(dir, model, revision string) (string, string, error) {
	if model != "" && revision != "" {
		return model, revision, nil
	}
	known, commit, err := Identity(dir)
	return cmp.Or(model, known), cmp.Or(revision, commit), err
}

// Identity names the model in dir for signatures: its name and commit if dir is a snapshot in a Hugging Face cache,
// otherwise the name of the folder and "sha256-" with the first twelve digits of the hash of the weights.
func Identity(dir string) (model, revision string, err error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	if m := snapshot.FindStringSubmatch(filepath.ToSlash(path)); m != nil {
		return strings.ReplaceAll(m[1], "--", "/"), m[2], nil
	}
	weights, err := safetensors.Open(dir)
	if err != nil {
		return "", "", err
	}
	defer weights.Close()
	hash, err := weights.Hash()
	if err != nil {
		return "", "", err
	}
	return filepath.Base(path), "sha256-" + hash[:12], nil
}
