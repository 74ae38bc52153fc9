// Package pairwise scores pairs of texts by their vectors with bounded memory: the vectors of one side are kept; those
// of the other are scored as they arrive and then dropped.
package pairwise

import (
	"context"

	"crosstalk/measure/similarity"
)

// Coder computes vectors V of texts and scores two of them.
type Coder[V any] struct {
	// Encode calls visit for each text, concurrently. The vectors are valid only during the call.
	Encode func(ctx context.Context, texts []string, visit func(i int, v V)) error
	// Keep copies vectors.
	Keep func(V) V
	// Size estimates the bytes of the vectors of a text.
	Size func(text string) int
	// Score compares vectors of Pair.A with vectors of Pair.B.
	Score func(a, b V) float64
}

// budget limits the size of the vectors that are kept, in bytes.
const budget = 128 << 20

// Scores returns the score of each pair. Each distinct text is encoded once; only if the vectors of the smaller side
// exceed the budget are texts of the other side encoded once for each part of it that they meet.
func Scores[V any](ctx context.Context, pairs []similarity.Pair, c Coder[V]) ([]float64, error) {
	return scores(ctx, pairs, c, budget)
}

func scores[V any](ctx context.Context, pairs []similarity.Pair, c Coder[V], budget int) ([]float64, error) {
	texts := func(p similarity.Pair) (kept, passing string) { return p.A, p.B }
	score, swapped := c.Score, func(p similarity.Pair) (kept, passing string) { return p.B, p.A }
	if size(pairs, c.Size, swapped) < size(pairs, c.Size, texts) {
		texts, score = swapped, func(a, b V) float64 { return c.Score(b, a) }
	}
	// pairsOf lists the pairs of each text to keep, in order of appearance.
	pairsOf, order := map[string][]int{}, []string(nil)
	for i, p := range pairs {
		kept, _ := texts(p)
		if pairsOf[kept] == nil {
			order = append(order, kept)
		}
		pairsOf[kept] = append(pairsOf[kept], i)
	}
	result := make([]float64, len(pairs))
	for len(order) > 0 {
		n, sum := 0, 0
		for n < len(order) && (n == 0 || sum+c.Size(order[n]) <= budget) {
			sum += c.Size(order[n])
			n++
		}
		part := order[:n]
		order = order[n:]

		kept, number := make([]V, n), make(map[string]int, n)
		for i, text := range part {
			number[text] = i
		}
		if err := c.Encode(ctx, part, func(i int, v V) { kept[i] = c.Keep(v) }); err != nil {
			return nil, err
		}
		var passing []string
		waiting := map[string][]int{} // pairs of each text to come
		for _, text := range part {
			for _, i := range pairsOf[text] {
				_, other := texts(pairs[i])
				if k, ok := number[other]; ok {
					result[i] = score(kept[number[text]], kept[k])
					continue
				}
				if waiting[other] == nil {
					passing = append(passing, other)
				}
				waiting[other] = append(waiting[other], i)
			}
		}
		err := c.Encode(ctx, passing, func(i int, v V) {
			for _, i := range waiting[passing[i]] {
				text, _ := texts(pairs[i])
				result[i] = score(kept[number[text]], v)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

// size sums the sizes of the distinct texts that are kept.
func size(pairs []similarity.Pair, of func(string) int, texts func(similarity.Pair) (kept, passing string)) int {
	seen, sum := map[string]bool{}, 0
	for _, p := range pairs {
		if text, _ := texts(p); !seen[text] {
			seen[text] = true
			sum += of(text)
		}
	}
	return sum
}
