package encoder

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk/measure/encoder/internal/kernel"
	"crosstalk/measure/encoder/safetensors"
)

// layer is one transformer block. Each head is padded to headWidth columns, so that a head is a whole number of panels.
type layer struct {
	qkv, out       *linear // hidden -> 3 x heads x headWidth; heads x headWidth -> hidden
	up, down       *linear // hidden -> intermediate -> hidden
	attended, done norm
}

// embeddings are the tables that turn ids into the first hidden states, one row of Hidden values each, and their layer
// norm.
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

// loader finds tensors by name and copies them. Its first error sticks, and nothing is allocated for a tensor that is
// not there in the expected shape.
type loader struct {
	tensors map[string]*safetensors.Tensor
	prefix  string
	err     error
}

func (l *loader) block(c *Config, n blockNames, prefix string) layer {
	head, width := c.Hidden/c.Heads, c.headWidth()
	inner := c.Heads * width
	same := func(i int) int { return i }
	spread := func(i int) int { return i/head*width + i%head } // a hidden value to its column among padded heads
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

// norm loads a layer norm, under its present or its old tensor names.
func (l *loader) norm(name string, n int) norm {
	gain, bias := ".weight", ".bias"
	if l.tensors[l.prefix+name+gain] == nil && l.tensors[l.prefix+name+".gamma"] != nil {
		gain, bias = ".gamma", ".beta"
	}
	return norm{l.values(name+gain, pad(n), n), l.values(name+bias, pad(n), n)}
}

// values returns a tensor of that shape, with zeros up to atLeast values.
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
