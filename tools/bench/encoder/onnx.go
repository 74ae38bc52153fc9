//go:build unix

package main

import (
	"encoding/binary"
	"math"
	"os"

	"crosstalk/internal/randmodel"
)

// message is a protocol buffer being written. Only what ONNX needs: integers,
// strings, messages and packed floats. Field numbers are those of onnx.proto.
type message []byte

func (m *message) key(field, wire int) { *m = binary.AppendUvarint(*m, uint64(field<<3|wire)) }

func (m *message) int(field int, v int64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, uint64(v))
}

func (m *message) bytes(field int, b []byte) {
	m.key(field, 2)
	*m = append(binary.AppendUvarint(*m, uint64(len(b))), b...)
}

func (m *message) string(field int, s string) { m.bytes(field, []byte(s)) }

// graph is an ONNX graph being written.
type graph struct {
	message
	n int // nodes so far
}

const (
	onnxFloat = 1
	onnxInt32 = 6
	onnxInt64 = 7
)

// tensor adds an initializer, a constant float array.
func (g *graph) tensor(name string, values []float32, shape ...int) string {
	var t message
	for _, d := range shape {
		t.int(1, int64(d))
	}
	t.int(2, onnxFloat)
	t.string(8, name)
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	t.bytes(9, raw)
	g.bytes(5, t)
	return name
}

// attribute is a named int64 or float32 of a node.
type attribute struct {
	name  string
	value any
}

// node adds an operator and returns the name of its one output. Operators of
// domain "com.microsoft" are ONNX Runtime's own, fused ones.
func (g *graph) node(domain, op string, inputs []string, attributes ...attribute) string {
	g.n++
	out := op + "_" + string(rune('0'+g.n/100)) + string(rune('0'+g.n/10%10)) + string(rune('0'+g.n%10))
	var m message
	for _, in := range inputs {
		m.string(1, in)
	}
	m.string(2, out)
	m.string(3, out)
	m.string(4, op)
	for _, a := range attributes {
		var x message
		x.string(1, a.name)
		switch v := a.value.(type) {
		case int:
			x.int(3, int64(v))
			x.int(20, 2)
		case float32:
			x.key(2, 5)
			x = binary.LittleEndian.AppendUint32(x, math.Float32bits(v))
			x.int(20, 1)
		}
		m.bytes(5, x)
	}
	if domain != "" {
		m.string(7, domain)
	}
	g.bytes(1, m)
	return out
}

// value declares an input (field 11) or an output (field 12) of the graph.
func (g *graph) value(field int, name string, kind int64, dims ...string) {
	var shape message
	for _, d := range dims {
		var dim message
		dim.string(2, d)
		shape.bytes(1, dim)
	}
	var tensor, kindOf, v message
	tensor.int(1, kind)
	tensor.bytes(2, shape)
	kindOf.bytes(1, tensor)
	v.string(1, name)
	v.bytes(2, kindOf)
	g.bytes(field, v)
}

// writeONNX writes the model as the graph that ONNX Runtime's own optimiser makes of a
// BERT: fused attention, skip layer norm and GELU, the best case for it.
func writeONNX(path string, s *randmodel.Model) error {
	w := s.Tensors
	g := &graph{}
	g.string(2, "encoder")
	t := func(name string, shape ...int) string { return g.tensor(name, w[name], shape...) }
	ms := "com.microsoft"

	g.value(11, "input_ids", onnxInt64, "batch", "sequence")
	g.value(11, "position_ids", onnxInt64, "one", "sequence")
	g.value(11, "attention_mask", onnxInt32, "batch", "sequence")
	x := g.node("", "Add", []string{
		g.node("", "Gather", []string{t("word", s.Vocab, s.Hidden), "input_ids"}),
		g.node("", "Gather", []string{t("position", s.Positions, s.Hidden), "position_ids"}),
	})
	x = g.node("", "LayerNormalization", []string{x, t("norm.weight", s.Hidden), t("norm.bias", s.Hidden)},
		attribute{"axis", -1}, attribute{"epsilon", float32(1e-12)})
	for i := range s.Layers {
		n := func(name string) string { return randmodel.Name(i, name) }
		matmul := func(x, name string, in, out int) string { // ONNX keeps weights as [in, out]
			return g.node("", "MatMul", []string{x, g.tensor(n(name), transposed(w[n(name+".weight")], out, in), in, out)})
		}
		skip := func(y, bias, norm string) string {
			return g.node(ms, "SkipLayerNormalization", []string{y, x, t(n(norm+".weight"), s.Hidden), t(n(norm+".bias"), s.Hidden), t(n(bias+".bias"), s.Hidden)},
				attribute{"epsilon", float32(1e-12)})
		}
		var qkv, bias []float32
		for _, name := range []string{"q", "k", "v"} {
			qkv = append(qkv, w[n(name+".weight")]...)
			bias = append(bias, w[n(name+".bias")]...)
		}
		a := g.node(ms, "Attention", []string{x,
			g.tensor(n("qkv"), transposed(qkv, 3*s.Hidden, s.Hidden), s.Hidden, 3*s.Hidden),
			g.tensor(n("qkv.bias"), bias, 3*s.Hidden), "attention_mask"}, attribute{"num_heads", s.Heads})
		x = skip(matmul(a, "out", s.Hidden, s.Hidden), "out", "norm1")
		up := g.node(ms, "BiasGelu", []string{matmul(x, "up", s.Hidden, s.Inner), t(n("up.bias"), s.Inner)})
		x = skip(matmul(up, "down", s.Inner, s.Hidden), "down", "norm2")
	}
	x = g.node("", "Identity", []string{x})
	g.value(12, x, onnxFloat, "batch", "sequence", "hidden")

	var model message
	model.int(1, 8) // IR version
	model.bytes(7, g.message)
	for domain, version := range map[string]int64{"": 17, ms: 1} {
		var o message
		o.string(1, domain)
		o.int(2, version)
		model.bytes(8, o)
	}
	return os.WriteFile(path, model, 0o644)
}

func transposed(w []float32, rows, columns int) []float32 {
	t := make([]float32, len(w))
	for i := range rows {
		for j := range columns {
			t[j*rows+i] = w[i*columns+j]
		}
	}
	return t
}
