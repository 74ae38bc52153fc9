package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// shape is the size of a model.
type shape struct {
	name                                           string
	layers, hidden, heads, inner, vocab, positions int
}

var shapes = []shape{
	{"minilm", 6, 384, 12, 1536, 30522, 512},
	{"distilbert", 6, 768, 12, 3072, 30522, 512},
}

// weights are tensors by short names: word, position, norm, and in each layer
// q, k, v, out, norm1, up, down, norm2 with .weight ([out, in]) and .bias.
type weights map[string][]float32

func layerName(i int, name string) string { return fmt.Sprintf("layer.%d.%s", i, name) }

// randomWeights draws normal weights of the size that training leaves.
func randomWeights(s shape) weights {
	rng := rand.New(rand.NewPCG(1, uint64(s.hidden)))
	normal := func(n int, mean, sd float32) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = mean + sd*float32(rng.NormFloat64())
		}
		return x
	}
	w := weights{}
	norm := func(name string) {
		w[name+".weight"], w[name+".bias"] = normal(s.hidden, 1, 0.1), normal(s.hidden, 0, 0.05)
	}
	linear := func(name string, in, out int) {
		w[name+".weight"], w[name+".bias"] = normal(in*out, 0, 0.05), normal(out, 0, 0.05)
	}
	w["word"], w["position"] = normal(s.vocab*s.hidden, 0, 0.05), normal(s.positions*s.hidden, 0, 0.05)
	norm("norm")
	for i := range s.layers {
		for _, name := range []string{"q", "k", "v", "out"} {
			linear(layerName(i, name), s.hidden, s.hidden)
		}
		linear(layerName(i, "up"), s.hidden, s.inner)
		linear(layerName(i, "down"), s.inner, s.hidden)
		norm(layerName(i, "norm1"))
		norm(layerName(i, "norm2"))
	}
	return w
}

// writeModel writes w as a DistilBERT in Hugging Face's layout.
func writeModel(dir string, s shape, w weights) error {
	config, err := json.Marshal(map[string]any{
		"model_type": "distilbert", "activation": "gelu", "dim": s.hidden, "hidden_dim": s.inner,
		"n_heads": s.heads, "n_layers": s.layers, "vocab_size": s.vocab, "max_position_embeddings": s.positions,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o644); err != nil {
		return err
	}
	long := map[string]string{"q": "attention.q_lin", "k": "attention.k_lin", "v": "attention.v_lin", "out": "attention.out_lin",
		"up": "ffn.lin1", "down": "ffn.lin2", "norm1": "sa_layer_norm", "norm2": "output_layer_norm"}
	header, data := map[string]any{}, []byte(nil)
	add := func(name, full string, shape ...int) {
		at := len(data)
		for _, v := range w[name] {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		header[full] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{at, len(data)}}
	}
	add("word", "embeddings.word_embeddings.weight", s.vocab, s.hidden)
	add("position", "embeddings.position_embeddings.weight", s.positions, s.hidden)
	add("norm.weight", "embeddings.LayerNorm.weight", s.hidden)
	add("norm.bias", "embeddings.LayerNorm.bias", s.hidden)
	for i := range s.layers {
		for short, name := range long {
			in, out := s.hidden, s.hidden
			switch short {
			case "up":
				out = s.inner
			case "down":
				in = s.inner
			}
			short, name = layerName(i, short), fmt.Sprintf("transformer.layer.%d.%s", i, name)
			if add(short+".bias", name+".bias", out); len(w[short+".weight"]) == out {
				add(short+".weight", name+".weight", out)
			} else {
				add(short+".weight", name+".weight", out, in)
			}
		}
	}
	h, err := json.Marshal(header)
	if err != nil {
		return err
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...)
	return os.WriteFile(filepath.Join(dir, "model.safetensors"), append(file, data...), 0o644)
}

// workload is texts as token ids, lengths uniform from 4 to 40.
func workload(n, vocab int) [][]int32 {
	rng := rand.New(rand.NewPCG(2, 3))
	texts := make([][]int32, n)
	for i := range texts {
		texts[i] = make([]int32, 4+rng.IntN(37))
		for j := range texts[i] {
			texts[i][j] = int32(1000 + rng.IntN(vocab-1000))
		}
	}
	return texts
}
