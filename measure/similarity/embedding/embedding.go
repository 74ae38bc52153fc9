// Package embedding compares texts by the cosine of vectors from elsewhere, such as an embeddings endpoint.
package embedding

import (
	"context"
	"fmt"
	"math"

	"crosstalk/measure/similarity"
)

// Embedder turns texts into vectors. Safe for concurrent use.
type Embedder interface {
	// Name identifies provider and model in signatures.
	Name() string
	// Embed returns a nonzero vector for each text, all with as many dimensions. Texts are distinct, none is empty.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// New returns the cosine similarity of an embedder's vectors, in [-1, 1], and NaN for an empty text. Each distinct text
// of a call is embedded once, unless keep contains its vector; keep may be nil.
func New(e Embedder, keep similarity.Cache) similarity.Similarity { return cosine{e, keep} }

type cosine struct {
	Embedder
	keep similarity.Cache
}

func (c cosine) Scores(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	vectors, err := c.vectors(ctx, pairs)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		if scores[i], err = Cosine(vectors[p.A], vectors[p.B]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	return scores, nil
}

// vectors finds or computes the vector of each distinct text, except empty ones.
func (c cosine) vectors(ctx context.Context, pairs []similarity.Pair) (map[string][]float32, error) {
	vectors := make(map[string][]float32, len(pairs))
	var missing []string
	for _, p := range pairs {
		for _, text := range []string{p.A, p.B} {
			if _, known := vectors[text]; known || text == "" {
				continue
			}
			vectors[text] = nil
			if c.keep != nil {
				value, found, err := c.keep.Get(c.key(text))
				if err != nil {
					return nil, err
				}
				if found {
					vectors[text] = similarity.Floats(value)
					continue
				}
			}
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return vectors, nil
	}
	made, err := c.Embed(ctx, missing)
	if err != nil {
		return nil, err
	}
	kept := make(map[similarity.Key][]byte, len(missing))
	for i, text := range missing {
		vectors[text] = made[i]
		kept[c.key(text)] = similarity.Bytes(made[i])
	}
	if c.keep == nil {
		return vectors, nil
	}
	return vectors, c.keep.Put(kept)
}

func (c cosine) key(text string) similarity.Key { return similarity.KeyOf("vector", c.Name(), text) }

// Cosine is the cosine of two vectors: NaN if one is missing or zero, an error if their dimensions differ.
func Cosine(a, b []float32) (float64, error) {
	if a == nil || b == nil {
		return math.NaN(), nil
	}
	if len(a) != len(b) {
		return 0, fmt.Errorf("vectors of %d and of %d dimensions cannot be compared", len(a), len(b))
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+float64(x*y), aa+float64(x*x), bb+float64(y*y)
	}
	return max(-1, min(1, dot/math.Sqrt(aa)/math.Sqrt(bb))), nil
}
