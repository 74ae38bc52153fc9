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
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"crosstalk/internal/ordered"
	"crosstalk/measure/encoder/internal/kernel"
	"crosstalk/measure/encoder/safetensors"
	"crosstalk/measure/encoder/tokenizer"
	"crosstalk/measure/pytext"
)

// Model is an encoder with its weights as float32. It is safe for concurrent use; calls share scratch memory.
type Model struct {
	Config
	embeddings
	layers  []layer
	set     *kernel.Set
	scratch chan *scratch // one per core: a batch waits for one
}

// Load reads the model in dir. The error for a missing, damaged or unsupported file names the file and what was
// expected. Memory stays within a small multiple of the files' actual size.
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

// Kernels lists the inner loops that this machine can run, the fastest last: "portable", "avx2", "avx512".
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

// Limit returns the number of ids of a text that may have up to most: at most MaxTokens, and MaxTokens if most is 0.
func (t *Text) Limit(most int) int {
	if most <= 0 {
		return t.MaxTokens()
	}
	return min(most, t.MaxTokens())
}

// Encode tokenises each text, stripped of white space as Python's str.strip does and cut to Limit(most) ids with its
// special tokens. It calls visit with its number, its ids and its hidden states, as Model.Encode does.
func (t *Text) Encode(ctx context.Context, texts []string, layers, most int,
	visit func(i int, ids []int32, hidden []float32)) error {
	const textsAtOnce = 1 << 14 // bounds the memory for token ids
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

// Named returns the given name and revision, completed from Identity where empty.
func Named(dir, model, revision string) (string, string, error) {
	if model != "" && revision != "" {
		return model, revision, nil
	}
	known, commit, err := Identity(dir)
	return cmp.Or(model, known), cmp.Or(revision, commit), err
}

// Identity returns the name and revision of the model in dir for signatures: its name and commit if dir is a snapshot
// in a Hugging Face cache,
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

// Config describes a model; all sizes are positive.
type Config struct {
	Type         string  `json:"model_type"`              // "bert", "distilbert", "roberta", "xlm-roberta", "camembert"
	Layers       int     `json:"num_hidden_layers"`       // transformer blocks
	Hidden       int     `json:"hidden_size"`             // values of a hidden state
	Heads        int     `json:"num_attention_heads"`     // attention heads; divides Hidden
	Intermediate int     `json:"intermediate_size"`       // values inside the feed-forward network
	Vocab        int     `json:"vocab_size"`              // token ids are 0 to Vocab-1
	Positions    int     `json:"max_position_embeddings"` // rows of the position table; see MaxTokens
	Types        int     `json:"type_vocab_size"`         // rows of the token type table; 0 for DistilBERT
	Pad          int     `json:"-"`                       // id of the padding token, from which RoBERTa counts positions
	Epsilon      float32 `json:"layer_norm_eps"`
	Activation   string  `json:"hidden_act"` // "gelu", "gelu_new" or "relu"
}

// MaxTokens returns the length of the longest sequence for which the model has positions, special tokens included.
func (c *Config) MaxTokens() int {
	if c.roberta() {
		return c.Positions - c.Pad - 1
	}
	return c.Positions
}

// roberta reports whether positions are counted from the padding id.
func (c *Config) roberta() bool {
	return c.Type == "roberta" || c.Type == "xlm-roberta" || c.Type == "camembert"
}

// parseConfig reads a config.json.
func parseConfig(b []byte) (Config, error) {
	var f struct {
		Config
		PadID     *int   `json:"pad_token_id"`
		Embedding string `json:"position_embedding_type"`
		Decoder   bool   `json:"is_decoder"`

		DistilLayers       int    `json:"n_layers"`
		DistilHidden       int    `json:"dim"`
		DistilHeads        int    `json:"n_heads"`
		DistilIntermediate int    `json:"hidden_dim"`
		DistilActivation   string `json:"activation"`
	}
	f.Types, f.Epsilon = 2, 1e-12
	if err := json.Unmarshal(b, &f); err != nil {
		return Config{}, err
	}
	c := f.Config
	switch c.Activation = cmp.Or(c.Activation, "gelu"); {
	case c.Type == "distilbert": // no token types, and a fixed epsilon
		c.Layers, c.Hidden, c.Heads, c.Intermediate = f.DistilLayers, f.DistilHidden, f.DistilHeads, f.DistilIntermediate
		c.Types, c.Epsilon, c.Activation = 0, 1e-12, cmp.Or(f.DistilActivation, "gelu")
	case c.roberta():
		c.Pad = 1
	case c.Type != "bert":
		return c, fmt.Errorf("model_type %q is not supported, "+
			"expected bert, distilbert, roberta, xlm-roberta or camembert", c.Type)
	}
	if f.PadID != nil {
		c.Pad = *f.PadID
	}
	if c.Activation == "gelu_pytorch_tanh" {
		c.Activation = "gelu_new" // another name of the same function
	}
	return c, c.check(f.Embedding, f.Decoder)
}

// check refuses configurations that the forward pass does not support.
func (c *Config) check(embedding string, decoder bool) error {
	switch {
	case decoder:
		return fmt.Errorf("is_decoder is true, expected an encoder")
	case embedding != "" && embedding != "absolute":
		return fmt.Errorf("position_embedding_type %q is not supported, expected absolute", embedding)
	case c.Activation != "gelu" && c.Activation != "gelu_new" && c.Activation != "relu":
		return fmt.Errorf("activation %q is not supported, expected gelu, gelu_new or relu", c.Activation)
	case c.Layers < 1 || c.Vocab < 1 || c.Intermediate < kernel.Lanes:
		return fmt.Errorf("%d layers, %d tokens and %d intermediate values, expected at least 1, 1 and %d",
			c.Layers, c.Vocab, c.Intermediate, kernel.Lanes)
	case c.Heads < 1 || c.Hidden%c.Heads != 0 || c.Hidden/c.Heads < kernel.Lanes:
		return fmt.Errorf("hidden size %d with %d heads, expected at least %d values for each head and no rest",
			c.Hidden, c.Heads, kernel.Lanes)
	case c.Types < 0 || c.Pad < 0 || c.Pad >= c.Vocab || c.Epsilon < 0:
		return fmt.Errorf("type_vocab_size %d, pad_token_id %d, layer_norm_eps %v are out of range",
			c.Types, c.Pad, c.Epsilon)
	case c.MaxTokens() < 1:
		return fmt.Errorf("max_position_embeddings %d leaves no position for a token", c.Positions)
	}
	return nil
}

// layer is one transformer block. Each head is padded to headWidth columns, so that a head is a whole number of panels.
type layer struct {
	qkv, out       *linear // hidden -> 3 x heads x headWidth; heads x headWidth -> hidden
	up, down       *linear // hidden -> intermediate -> hidden
	attended, done norm
}

// embeddings are the tables that map ids to the first hidden states, in rows of Hidden values, and their norm.
type embeddings struct {
	word, position []float32
	token          []float32 // only row 0 is used; zeros for DistilBERT
	norm           norm
}

// norm is the gain and the bias of a layer norm, padded with zeros.
type norm struct{ gain, bias []float32 }

// linear is a dense layer y = x W + b, W packed in panels of kernel.Panel columns, each row-major.
type linear struct {
	in, out       int // rows and columns; out is padded
	weights, bias []float32
}

// pad rounds n up to whole panels.
func pad(n int) int { return (n + kernel.Panel - 1) / kernel.Panel * kernel.Panel }

// apply sets y[rows,out] = x[rows,in] W + b; ldy and ldx are row strides.
func (l *linear) apply(s *kernel.Set, y []float32, ldy int, x []float32, ldx, rows int) {
	for j := 0; j < l.out; j += kernel.Panel {
		s.Gemm(y[j:], ldy, x, ldx, l.weights[j*l.in:], kernel.Panel, l.bias[j:], rows, l.in)
	}
}

type blockNames struct{ prefix, query, key, value, out, up, down, attended, done string }

var (
	bertNames = blockNames{"encoder.layer.%d.", "attention.self.query", "attention.self.key", "attention.self.value",
		"attention.output.dense", "intermediate.dense", "output.dense", "attention.output.LayerNorm", "output.LayerNorm"}
	distilNames = blockNames{"transformer.layer.%d.", "attention.q_lin", "attention.k_lin", "attention.v_lin",
		"attention.out_lin", "ffn.lin1", "ffn.lin2", "sa_layer_norm", "output_layer_norm"}
)

// load fills the model from tensors. The names may carry a common prefix such as "bert."; pooler and heads are ignored.
func (m *Model) load(tensors map[string]*safetensors.Tensor) error {
	const root = "embeddings.word_embeddings.weight"
	var prefixes []string
	for name := range tensors {
		if p, ok := strings.CutSuffix(name, root); ok && (p == "" || strings.HasSuffix(p, ".")) {
			prefixes = append(prefixes, p)
		}
	}
	if len(prefixes) != 1 {
		slices.Sort(prefixes)
		return fmt.Errorf("%d tensors are named %s after a prefix (%q), expected one", len(prefixes), root, prefixes)
	}
	l := &loader{tensors: tensors, prefix: prefixes[0]}

	m.word = l.values(root, 0, m.Vocab, m.Hidden)
	m.position = l.values("embeddings.position_embeddings.weight", 0, m.Positions, m.Hidden)
	m.norm = l.norm("embeddings.LayerNorm", m.Hidden)
	if m.Types > 0 {
		m.token = l.values("embeddings.token_type_embeddings.weight", 0, m.Types, m.Hidden)
	} else if l.err == nil {
		m.token = make([]float32, m.Hidden)
	}
	names := bertNames
	if m.Type == "distilbert" {
		names = distilNames
	}
	for i := 0; i < m.Layers && l.err == nil; i++ {
		m.layers = append(m.layers, l.block(&m.Config, names, fmt.Sprintf(names.prefix, i)))
	}
	return l.err
}

// loader finds tensors by name and copies them. It keeps its first error. It allocates nothing for a missing tensor.
type loader struct {
	tensors map[string]*safetensors.Tensor
	prefix  string
	err     error
}

func (l *loader) block(c *Config, n blockNames, prefix string) layer {
	head, width := c.Hidden/c.Heads, c.headWidth()
	inner := c.Heads * width
	same := func(i int) int { return i }
	spread := func(i int) int { return i/head*width + i%head } // a hidden value's column among padded heads
	return layer{
		qkv: l.linear(c.Hidden, 3*inner, same, spread, inner, c.Hidden, c.Hidden,
			prefix+n.query, prefix+n.key, prefix+n.value),
		out:      l.linear(inner, c.Hidden, spread, same, 0, c.Hidden, c.Hidden, prefix+n.out),
		up:       l.linear(c.Hidden, c.Intermediate, same, same, 0, c.Hidden, c.Intermediate, prefix+n.up),
		down:     l.linear(c.Intermediate, c.Hidden, same, same, 0, c.Intermediate, c.Hidden, prefix+n.down),
		attended: l.norm(prefix+n.attended, c.Hidden),
		done:     l.norm(prefix+n.done, c.Hidden),
	}
}

func (c *Config) headWidth() int { return pad(c.Hidden / c.Heads) }

// linear packs the dense layers of the given names side by side, apart columns from each other, into one of rows x
// columns. Each has a weight[out,in] and a bias[out]; its input k becomes row(k), its output j column(j).
func (l *loader) linear(rows, columns int, row, column func(int) int, apart, in, out int, names ...string) *linear {
	for _, name := range names {
		l.find(name+".weight", out, in)
		l.find(name+".bias", out)
	}
	if l.err != nil {
		return nil
	}
	columns = pad(columns)
	w := &linear{rows, columns, make([]float32, rows*columns), make([]float32, columns)}
	for i, name := range names {
		j := i * apart
		l.rows(name+".bias", []int{out}, func(values []float32) {
			for k, v := range values {
				w.bias[j+column(k)] = v
			}
		})
		at := 0
		l.rows(name+".weight", []int{out, in}, func(values []float32) {
			c := j + column(at)
			panel := w.weights[c/kernel.Panel*kernel.Panel*rows+c%kernel.Panel:]
			for k, v := range values {
				panel[row(k)*kernel.Panel] = v
			}
			at++
		})
	}
	return w
}

// norm loads a layer norm under its current or its old tensor names.
func (l *loader) norm(name string, n int) norm {
	gain, bias := ".weight", ".bias"
	if l.tensors[l.prefix+name+gain] == nil && l.tensors[l.prefix+name+".gamma"] != nil {
		gain, bias = ".gamma", ".beta"
	}
	return norm{l.values(name+gain, pad(n), n), l.values(name+bias, pad(n), n)}
}

// values returns a tensor of this shape, with zeros up to atLeast values.
func (l *loader) values(name string, atLeast int, shape ...int) []float32 {
	var values []float32
	l.rows(name, shape, func(row []float32) {
		if values == nil {
			n := 1
			for _, d := range shape {
				n *= d
			}
			values = make([]float32, 0, max(n, atLeast))
		}
		values = append(values, row...)
	})
	return values[:cap(values)]
}

func (l *loader) rows(name string, shape []int, visit func([]float32)) {
	if t := l.find(name, shape...); t != nil {
		l.err = t.Rows(visit)
	}
}

func (l *loader) find(name string, shape ...int) *safetensors.Tensor {
	if l.err != nil {
		return nil
	}
	t := l.tensors[l.prefix+name]
	switch {
	case t == nil:
		l.err = fmt.Errorf("tensor %q is missing", l.prefix+name)
	case !slices.Equal(t.Shape, shape):
		l.err = fmt.Errorf("tensor %q has shape %v, config.json expects %v", t.Name, t.Shape, shape)
	default:
		return t
	}
	return nil
}
