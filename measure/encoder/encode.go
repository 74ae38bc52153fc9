package encoder

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Bounds of the tokens of a batch. More amortises the reading of the weights, fewer keep the cores evenly busy and the
// batch in the cache. A sequence that is longer is a batch by itself.
const minBatch, maxBatch = 64, 512

// Encode runs the first layers blocks of the model over each sequence of token ids and calls visit once for each, with
// its number and its hidden states: one row of Hidden values for each token, row-major, layers = 0 being the output of
// the embeddings. The slice is only lent for the call. Calls come from several goroutines at once and in no order, and
// must not call Encode.
//
// It is an error if a sequence is empty or longer than MaxTokens or if an id is not in the vocabulary. When ctx is
// done, Encode stops after the batches in work and returns its error; some sequences are then not visited.
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
			for b, ids := range batch { // their rows without padding
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

// plan groups the numbers of the sequences into batches of similar lengths, the longest first so that the last ones to
// run are short.
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

// Mean returns the mean over tokens of hidden states of the given width (Reimers and Gurevych 2019, section 3), summed
// in float64.
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

// Normalize divides v by its Euclidean length; a zero vector stays as it is.
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
