// Package randmodel makes encoders with random weights, for tests: DistilBERTs of any size, in Hugging Face's format.
package randmodel

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Shape is the size of a model.
type Shape struct{ Layers, Hidden, Heads, Inner, Vocab, Positions int }

// Model holds its tensors by short names: word, position, norm, and in each layer i (see Name) q, k, v, out, up,
// down, norm1, norm2; all but the first two have a .weight ([out, in] for the linear ones) and a .bias.
type Model struct {
	Shape
	Tensors map[string][]float32
}

// Name returns the name of a tensor of layer i.
func Name(i int, name string) string { return fmt.Sprintf("layer.%d.%s", i, name) }

// New draws normal weights on the scale of trained ones.
func New(s Shape, seed uint64) *Model {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &Model{s, map[string][]float32{}}
	normal := func(name string, n int, mean, sd float32) {
		x := make([]float32, n)
		for i := range x {
			x[i] = mean + sd*float32(rng.NormFloat64())
		}
		m.Tensors[name] = x
	}
	norm := func(name string) {
		normal(name+".weight", s.Hidden, 1, 0.1)
		normal(name+".bias", s.Hidden, 0, 0.05)
	}
	linear := func(name string, in, out int) {
		normal(name+".weight", in*out, 0, 0.05)
		normal(name+".bias", out, 0, 0.05)
	}
	normal("word", s.Vocab*s.Hidden, 0, 0.05)
	normal("position", s.Positions*s.Hidden, 0, 0.05)
	norm("norm")
	for i := range s.Layers {
		for _, name := range []string{"q", "k", "v", "out"} {
			linear(Name(i, name), s.Hidden, s.Hidden)
		}
		linear(Name(i, "up"), s.Hidden, s.Inner)
		linear(Name(i, "down"), s.Inner, s.Hidden)
		norm(Name(i, "norm1"))
		norm(Name(i, "norm2"))
	}
	return m
}

// long maps short names to DistilBERT's.
var long = strings.NewReplacer("word", "embeddings.word_embeddings.weight",
	"position", "embeddings.position_embeddings.weight", "norm1", "sa_layer_norm", "norm2", "output_layer_norm",
	"norm.", "embeddings.LayerNorm.", "layer.", "transformer.layer.", ".q.", ".attention.q_lin.",
	".k.", ".attention.k_lin.", ".v.", ".attention.v_lin.", ".out.", ".attention.out_lin.",
	"up.", "ffn.lin1.", "down.", "ffn.lin2.")

// Write writes config.json, a vocab.txt of [PAD], [UNK], [CLS], [SEP], [MASK], w5, w6, ..., and weights in F32.
func (m *Model) Write(dir string) error {
	config, err := json.Marshal(map[string]any{
		"model_type": "distilbert", "activation": "gelu", "dim": m.Hidden, "hidden_dim": m.Inner,
		"n_heads": m.Heads, "n_layers": m.Layers, "vocab_size": m.Vocab, "max_position_embeddings": m.Positions,
	})
	if err != nil {
		return err
	}
	vocab := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
	for i := 5; i < m.Vocab; i++ {
		vocab += fmt.Sprintf("w%d\n", i)
	}
	weights, err := m.safetensors()
	if err != nil {
		return err
	}
	files := map[string][]byte{"config.json": config, "vocab.txt": []byte(vocab), "model.safetensors": weights}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) safetensors() ([]byte, error) {
	header, data := map[string]any{}, []byte(nil)
	for _, name := range slices.Sorted(maps.Keys(m.Tensors)) {
		values, at := m.Tensors[name], len(data)
		for _, v := range values {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		header[long.Replace(name)] = map[string]any{
			"dtype": "F32", "shape": m.shape(name), "data_offsets": []int{at, len(data)}}
	}
	b, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b...), data...), nil
}

func (m *Model) shape(name string) []int {
	n := len(m.Tensors[name])
	switch {
	case strings.HasSuffix(name, "down.weight"):
		return []int{m.Hidden, m.Inner}
	case strings.HasSuffix(name, ".bias") || strings.Contains(name, "norm"):
		return []int{n}
	}
	return []int{n / m.Hidden, m.Hidden}
}
