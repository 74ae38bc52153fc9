package encoder

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/randmodel"
	"crosstalk/measure/encoder/safetensors"
	"crosstalk/measure/pytext"
)

// What models of each kind say of themselves, and what they have where they say nothing.
func TestParseConfig(t *testing.T) {
	sizes := `"num_hidden_layers":2,"hidden_size":16,"num_attention_heads":2,"intermediate_size":8,"vocab_size":1,"max_position_embeddings":%d%s}`
	of := func(kind string, positions int, more string) string {
		return fmt.Sprintf(`{"model_type":%q,`+sizes, kind, positions, more)
	}
	for text, want := range map[string]string{
		of("bert", 1, ""): "{bert 2 16 2 8 1 1 2 0 1e-12 gelu} 1",
		of("bert", 5, `,"type_vocab_size":0,"layer_norm_eps":0,"hidden_act":"gelu_pytorch_tanh","position_embedding_type":"absolute"`): "{bert 2 16 2 8 1 5 0 0 0 gelu_new} 5",
		of("roberta", 5, `,"pad_token_id":0,"hidden_act":"relu"`):                                                                      "{roberta 2 16 2 8 1 5 2 0 1e-12 relu} 4",
		strings.Replace(of("camembert", 3, ""), `"vocab_size":1`, `"vocab_size":2`, 1):                                                 "{camembert 2 16 2 8 2 3 2 1 1e-12 gelu} 1",
		strings.Replace(of("xlm-roberta", 9, ""), `"vocab_size":1`, `"vocab_size":2`, 1):                                               "{xlm-roberta 2 16 2 8 2 9 2 1 1e-12 gelu} 7",
		tiny: "{distilbert 1 8 1 8 9 5 0 0 1e-12 gelu} 5",
		strings.Replace(tiny, "{", `{"activation":"relu","layer_norm_eps":1,"pad_token_id":8,`, 1): "{distilbert 1 8 1 8 9 5 0 8 1e-12 relu} 5",

		of("camembert", 3, ""):                                                      "type_vocab_size 2, pad_token_id 1, layer_norm_eps 1e-12 are out of range",
		of("bert", 0, ""):                                                           "max_position_embeddings 0 leaves no position for a token",
		of("roberta", 1, `,"pad_token_id":0`):                                       "max_position_embeddings 1 leaves no position for a token",
		of("bert", 1, `,"pad_token_id":1`):                                          "type_vocab_size 2, pad_token_id 1, layer_norm_eps 1e-12 are out of range",
		of("bert", 1, `,"type_vocab_size":-1`):                                      "type_vocab_size -1, pad_token_id 0, layer_norm_eps 1e-12 are out of range",
		of("bert", 1, `,"layer_norm_eps":-1`):                                       "type_vocab_size 2, pad_token_id 0, layer_norm_eps -1 are out of range",
		strings.Replace(of("bert", 1, ""), `"vocab_size":1`, `"vocab_size":0`, 1):   "2 layers, 0 tokens and 8 intermediate values, expected at least 1, 1 and 8",
		strings.Replace(of("bert", 1, ""), `diate_size":8`, `diate_size":7`, 1):     "2 layers, 1 tokens and 7 intermediate values, expected at least 1, 1 and 8",
		strings.Replace(of("bert", 1, ""), `layers":2`, `layers":0`, 1):             "0 layers, 1 tokens and 8 intermediate values, expected at least 1, 1 and 8",
		strings.Replace(of("bert", 1, ""), `hidden_size":16`, `hidden_size":17`, 1): "hidden size 17 with 2 heads, expected at least 8 values for each head and no rest",
		strings.Replace(of("bert", 1, ""), `hidden_size":16`, `hidden_size":14`, 1): "hidden size 14 with 2 heads, expected at least 8 values for each head and no rest",
		of("gpt2", 1, ""): `model_type "gpt2" is not supported, expected bert, distilbert, roberta, xlm-roberta or camembert`,
	} {
		c, err := parseConfig([]byte(text))
		got := fmt.Sprint(c, c.MaxTokens())
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}

// Batches are as full as they may be, in the order of lengths and then of numbers.
func TestPlanned(t *testing.T) {
	for _, c := range []struct {
		cores   int
		lengths []int
		want    string
	}{
		{1, []int{5, 60, 4, 3, 60, 1}, "[[1 4 0 2 3 5]]"},
		{2, []int{5, 60, 4, 3, 60, 1}, "[[1] [4 0] [2 3 5]]"}, // 66 tokens a core
		{9, []int{5, 60, 4, 3, 60, 1}, "[[1] [4] [0 2 3 5]]"}, // 64 at least
		{9, []int{60, 4, 1}, "[[0 1] [2]]"},
		{1, []int{300, 200, 12, 1}, "[[0 1 2] [3]]"}, // 512 at most
		{1, []int{600, 1}, "[[0] [1]]"},
		{3, nil, "[]"},
	} {
		var seqs [][]int32
		for _, n := range c.lengths {
			seqs = append(seqs, make([]int32, n))
		}
		if got := fmt.Sprint(plan(seqs, c.cores)); got != c.want {
			t.Errorf("%d, %v: %s, want %s", c.cores, c.lengths, got, c.want)
		}
	}
}

func TestVectors(t *testing.T) {
	v := []float32{3, 0, -4}
	if Normalize(v); !slices.Equal(v, []float32{0.6, 0, -0.8}) {
		t.Error(v)
	}
	if v = make([]float32, 2); Mean([]float32{1, 2, 3, 4, 5, 9}, 2)[1] != 5 || v[0] != 0 {
		t.Error(v)
	}
	if Normalize(v); !slices.Equal(v, []float32{0, 0}) {
		t.Error(v)
	}
	for r, want := range map[rune]bool{0x1b: false, 0x1c: true, 0x1f: true, ' ': true, '\u00a0': true,
		'!': false, 0x08: false, '\t': true, 0: false} {
		if pytext.IsSpace(r) != want {
			t.Errorf("%U: %v", r, !want)
		}
	}
	for n, want := range map[int]int{1: 32, 32: 32, 33: 64, 224: 224, 256: 272, 255: 272, 512: 528} {
		if got := stride(n); got != want {
			t.Errorf("stride of %d: %d, want %d", n, got, want)
		}
	}
	m := Model{Config: Config{Activation: "gelu_new"}}
	x := []float32{-3, -0.5, 0, 1, 4}
	m.activate(x)
	for i, v := range []float64{-3, -0.5, 0, 1, 4} { // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
		if want := v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))); math.Abs(float64(x[i])-want) > 1e-6 {
			t.Errorf("%v: %v, want %v", v, x[i], want)
		}
	}
	m.Activation = "relu"
	if m.activate(x); x[0] != 0 || x[3] <= 0.8 {
		t.Error(x)
	}
}

// The name and the revision that are given count; the others are read from the directory.
func TestNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tiny")
	mustMkdir(t, dir)
	for _, c := range [][2]string{{"m", "r"}, {"", "r"}, {"m", ""}, {"", ""}} {
		model, revision, err := Named(dir, c[0], c[1])
		if (err == nil) != (c == [2]string{"m", "r"}) || err == nil && model+revision != "mr" {
			t.Errorf("%v: %s %s, %v", c, model, revision, err)
		}
	}
	shape := randmodel.Shape{Layers: 1, Hidden: 8, Heads: 1, Inner: 8, Vocab: 9, Positions: 5}
	if err := randmodel.New(shape, 0).Write(dir); err != nil {
		t.Fatal(err)
	}
	_, hash, _ := Identity(dir)
	for c, want := range map[[2]string]string{{"m", "r"}: "m r", {"", "r"}: "tiny r", {"m", ""}: "m " + hash, {"", ""}: "tiny " + hash} {
		if model, revision, err := Named(dir, c[0], c[1]); err != nil || model+" "+revision != want {
			t.Errorf("%v: %s %s, %v; want %s", c, model, revision, err, want)
		}
	}
	// The vocabulary is read first, then the model.
	for _, name := range []string{"model.safetensors", "vocab.txt"} {
		os.Remove(filepath.Join(dir, name))
		if _, err := LoadText(dir); err == nil || name == "vocab.txt" && strings.Contains(err.Error(), "safetensors") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// Weights of two models in a file are an error that lists them.
func TestSeveralModels(t *testing.T) {
	const root = "embeddings.word_embeddings.weight"
	for names, want := range map[[2]string]string{
		{"b." + root, "a." + root}: `2 tensors are named ` + root + ` after a prefix (["a." "b."]), expected one`,
		{"x" + root, "y"}:          `0 tensors are named ` + root + ` after a prefix ([]), expected one`,
		{root, "x" + root}:         `tensor "` + root + `" has shape [1], config.json expects [9 8]`,
	} {
		tensors := map[string]*safetensors.Tensor{}
		for _, name := range names {
			tensors[name] = &safetensors.Tensor{Name: name, Shape: []int{1}}
		}
		m := Model{Config: Config{Vocab: 9, Hidden: 8}}
		if err := m.load(tensors); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
