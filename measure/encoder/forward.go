package encoder

import (
	"math"

	"crosstalk/measure/encoder/internal/kernel"
)

// The plan of memory: a batch has its hidden states and its queries, keys and values (four times Hidden for each
// token); everything else is done in blocks of blockRows tokens or queries, so it does not grow with the batch, and the
// scores of attention grow with the length of one sequence, not its square.
const blockRows = 96 // a multiple of the rows of every micro-kernel

// scratch is the memory of one batch in work.
type scratch struct {
	x     []float32 // hidden states [tokens, stride(Hidden)]
	qkv   []float32 // queries, keys, values [tokens, stride(3 heads x headWidth)]; a query gives way to its context
	y     []float32 // output of a block [blockRows, stride(Hidden)]
	up    []float32 // feed-forward of a block [blockRows, stride(Intermediate)]
	key   []float32 // keys of one head, transposed [head, stride(sequence)]
	score []float32 // attention of one head [blockRows, stride(sequence)]
	flat  []float32 // one sequence without padding [sequence, Hidden]
}

// stride is the row stride for n values: whole panels, and no multiple of 1 KiB, for which the rows of a micro-kernel
// would fall into the same cache sets.
func stride(n int) int {
	n = pad(n)
	if n%256 == 0 {
		n += 16
	}
	return n
}

// grow returns *b with n values, whatever they are.
func grow(b *[]float32, n int) []float32 {
	if cap(*b) < n {
		*b = make([]float32, n)
	}
	*b = (*b)[:n]
	return *b
}

// forward runs the first layers blocks over a batch of sequences, laid end to end, and leaves the hidden states in s.x.
func (m *Model) forward(s *scratch, batch [][]int32, layers int) {
	tokens, longest := 0, 0
	for _, ids := range batch {
		tokens += len(ids)
		longest = max(longest, len(ids))
	}
	width := m.headWidth()
	ldx, ldq, ldu := stride(m.Hidden), stride(3*m.Heads*width), stride(m.Intermediate)
	block := min(blockRows, tokens)
	x, qkv := grow(&s.x, tokens*ldx), grow(&s.qkv, tokens*ldq)
	y, up := grow(&s.y, block*ldx), grow(&s.up, block*ldu)
	grow(&s.key, m.Hidden/m.Heads*stride(longest))
	grow(&s.score, min(blockRows, longest)*stride(longest))

	m.embed(x, ldx, batch)
	for i := range layers {
		l := &m.layers[i]
		l.qkv.apply(m.set, qkv, ldq, x, ldx, tokens)
		first := 0
		for _, ids := range batch {
			m.attend(s, qkv[first*ldq:], ldq, len(ids))
			first += len(ids)
		}
		for first := 0; first < tokens; first += block {
			rows := min(block, tokens-first)
			x := x[first*ldx:]
			l.out.apply(m.set, y, ldx, qkv[first*ldq:], ldq, rows)
			m.addNorm(x, y, ldx, rows, l.attended)
			l.up.apply(m.set, up, ldu, x, ldx, rows)
			for r := range rows {
				m.activate(up[r*ldu:][:l.up.out])
			}
			l.down.apply(m.set, y, ldx, up, ldu, rows)
			m.addNorm(x, y, ldx, rows, l.done)
		}
	}
}

// embed writes the layer-normed sums of word, position and type embeddings.
func (m *Model) embed(x []float32, ldx int, batch [][]int32) {
	zeros := make([]float32, ldx)
	for _, ids := range batch {
		position := 0
		if m.roberta() {
			position = m.Pad + 1
		}
		for _, id := range ids {
			p := position
			if m.roberta() && int(id) == m.Pad {
				p = m.Pad // a padding token in the text takes no position
			} else {
				position++
			}
			row := x[:ldx]
			clear(row)
			word, place := m.word[int(id)*m.Hidden:][:m.Hidden], m.position[p*m.Hidden:][:m.Hidden]
			for i := range word {
				row[i] = word[i] + m.token[i] + place[i]
			}
			m.set.AddNorm(row, row, zeros, m.norm.gain, m.norm.bias, m.Hidden, m.Epsilon)
			x = x[ldx:]
		}
	}
}

// attend replaces the queries of a sequence of n tokens by their contexts, softmax(Q K' / sqrt(head)) V, head by head.
func (m *Model) attend(s *scratch, qkv []float32, ldq, n int) {
	head, width, ld := m.Hidden/m.Heads, m.headWidth(), stride(n)
	inner := m.Heads * width
	scale := float32(1 / math.Sqrt(float64(head)))
	for h := range m.Heads {
		q, k, v := qkv[h*width:], qkv[inner+h*width:], qkv[2*inner+h*width:]
		transpose(s.key, ld, k, ldq, n, head)
		for first := 0; first < n; first += blockRows {
			rows := min(blockRows, n-first)
			q := q[first*ldq:]
			for j := 0; j < n; j += kernel.Panel {
				m.set.Gemm(s.score[j:], ld, q, ldq, s.key[j:], ld, zeroBias[:], rows, head)
			}
			for r := range rows {
				m.set.Softmax(s.score[r*ld:], n, scale)
			}
			for j := 0; j < width; j += kernel.Panel {
				m.set.Gemm(q[j:], ldq, s.score, ld, v[j:], ldq, zeroBias[:], rows, n)
			}
		}
	}
}

var zeroBias [kernel.Panel]float32

// transpose writes the n rows of width values of a as columns of t.
func transpose(t []float32, ldt int, a []float32, lda, n, width int) {
	for i := range width {
		column, at := t[i*ldt:][:n], i
		for r := range column {
			column[r] = a[at]
			at += lda
		}
	}
}

// addNorm replaces the rows of x by the layer norm of x + y.
func (m *Model) addNorm(x, y []float32, ld, rows int, n norm) {
	for r := range rows {
		row := x[r*ld:]
		m.set.AddNorm(row, row, y[r*ld:], n.gain, n.bias, m.Hidden, m.Epsilon)
	}
}

func (m *Model) activate(x []float32) {
	switch m.Activation {
	case "gelu":
		m.set.GELU(x)
	case "gelu_new": // the tanh form: x sigmoid(2u)
		for i, v := range x {
			u := math.Sqrt(2/math.Pi) * float64(v+0.044715*v*v*v)
			x[i] = float32(float64(v) / (1 + math.Exp(-2*u)))
		}
	case "relu":
		for i, v := range x {
			x[i] = max(v, 0)
		}
	}
}
