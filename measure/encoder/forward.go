package encoder

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"crosstalk/measure/encoder/internal/kernel"

	"golang.org/x/sync/errgroup"
)

// Bounds of the tokens in a batch. More tokens amortise reading the weights; fewer keep the cores evenly busy and the
// batch in the cache. A longer sequence is a batch by itself.
const minBatch, maxBatch = 64, 512

// Encode runs the first layers blocks of the model over each sequence of token ids and calls visit once for each, with
// its number and its hidden states: one row of Hidden values for each token, row-major, layers = 0 being the output of
// the embeddings. The slice is only lent for the call. Calls come from several goroutines at once and in no order, and
// must not call Encode.
//
// It is an error if a sequence is empty or longer than MaxTokens, or if an id is not in the vocabulary. When ctx
// ends, Encode finishes the current batches and returns ctx's error; some sequences are then not visited.
func (m *Model) Encode(ctx context.Context, seqs [][]int32, layers int, visit func(i int, hidden []float32)) error {
	if layers < 0 || layers > m.Layers {
		return fmt.Errorf("layer %d of a model with layers 0 to %d", layers, m.Layers)
	}
	for i, ids := range seqs {
		if len(ids) == 0 || len(ids) > m.MaxTokens() {
			return fmt.Errorf("sequence %d has %d tokens, expected 1 to %d", i, len(ids), m.MaxTokens())
		}
		for _, id := range ids {
			if id < 0 || int(id) >= m.Vocab {
				return fmt.Errorf("sequence %d has token id %d, expected 0 to %d", i, id, m.Vocab-1)
			}
		}
	}
	cores := runtime.GOMAXPROCS(0)
	var workers errgroup.Group
	workers.SetLimit(cores)
	for _, numbers := range plan(seqs, cores) {
		workers.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			batch := make([][]int32, len(numbers))
			for b, i := range numbers {
				batch[b] = seqs[i]
			}
			s := <-m.scratch
			m.forward(s, batch, layers)
			ld, x := stride(m.Hidden), s.x
			for b, ids := range batch { // rows of the sequences without padding
				flat := grow(&s.flat, len(ids)*m.Hidden)
				for t := range ids {
					copy(flat[t*m.Hidden:][:m.Hidden], x[t*ld:])
				}
				visit(numbers[b], flat)
				x = x[len(ids)*ld:]
			}
			m.scratch <- s
			return nil
		})
	}
	workers.Wait()
	return ctx.Err()
}

// plan groups the numbers of sequences into batches of similar lengths, the longest first: the last are short.
func plan(seqs [][]int32, cores int) [][]int {
	order, tokens := make([]int, len(seqs)), 0
	for i, ids := range seqs {
		order[i] = i
		tokens += len(ids)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(seqs[b]), len(seqs[a])) })
	budget := min(max(tokens/cores, minBatch), maxBatch)
	var batches [][]int
	for len(order) > 0 {
		n, sum := 1, len(seqs[order[0]])
		for n < len(order) && sum+len(seqs[order[n]]) <= budget {
			sum += len(seqs[order[n]])
			n++
		}
		batches = append(batches, order[:n])
		order = order[n:]
	}
	return batches
}

// Mean returns the mean over tokens of hidden states of this width (Reimers and Gurevych 2019, section 3), in
// float64.
func Mean(hidden []float32, width int) []float32 {
	sum := make([]float64, width)
	for row := hidden; len(row) > 0; row = row[width:] {
		for i, v := range row[:width] {
			sum[i] += float64(v)
		}
	}
	mean := make([]float32, width)
	n := float64(len(hidden) / width)
	for i, v := range sum {
		mean[i] = float32(v / n)
	}
	return mean
}

// Normalize divides v by its Euclidean length; a zero vector is returned unchanged.
func Normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}

// The plan of memory: a batch has its hidden states and its queries, keys and values (four times Hidden for each
// token); everything else is done in blocks of blockRows tokens or queries, so it does not grow with the batch, and the
// scores of attention grow with the length of one sequence, not its square.
const blockRows = 96 // a multiple of the rows of every micro-kernel

// scratch is the memory for one batch.
type scratch struct {
	x     []float32 // hidden states [tokens, stride(Hidden)]
	qkv   []float32 // queries, keys, values [tokens, stride(3 heads x headWidth)]; a query gives way to its context
	y     []float32 // output of a block [blockRows, stride(Hidden)]
	up    []float32 // feed-forward of a block [blockRows, stride(Intermediate)]
	key   []float32 // keys of one head, transposed [head, stride(sequence)]
	score []float32 // attention of one head [blockRows, stride(sequence)]
	flat  []float32 // one sequence without padding [sequence, Hidden]
}

// stride returns the row stride for n values: whole panels, but not a multiple of 1 KiB, which would put the rows of
// a micro-kernel into the same cache sets.
func stride(n int) int {
	n = pad(n)
	if n%256 == 0 {
		n += 16
	}
	return n
}

// grow returns *b with n arbitrary values.
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
				p = m.Pad // a padding token in the text has no position
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

// attend replaces the queries of a sequence of n tokens by their contexts softmax(Q K' / sqrt(head)) V, head by head.
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

// transpose writes the n rows of a, of width values each, as columns of t.
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
