// Package similarity defines the interface between measures that compare texts and the implementations in its
// subfolders.
package similarity

import (
	"context"
	"math"
)

var nan = math.NaN()

// Pair is two texts to compare. For leakage A is the concept and B the answer; measures that are not symmetric take A
// as the candidate and B as the reference (Gonen et al. 2024).
type Pair struct {
	A, B   string
	Source string // the original of A and B, for scorers of translations such as COMET; otherwise empty
}

// Similarity scores how close two texts are in meaning. Scores of different similarities are not comparable.
type Similarity interface {
	// Name identifies the similarity, its model and its version in signatures: "gloss@1".
	Name() string
	// Scores returns one score per pair, higher for closer texts, and NaN if the score is undefined, as for a text
	// without any known word. The range depends on the similarity. Equal pairs get equal scores, to the last bit. An
	// error (a broken file, a server that fails) means no score at all. Safe for concurrent use.
	Scores(ctx context.Context, pairs []Pair) ([]float64, error)
}

// Func builds a Similarity from a function that scores one pair; ok is false if the score is undefined.
func Func(name string, score func(a, b string) (score float64, ok bool)) Similarity {
	return function{name, score}
}

type function struct {
	name  string
	score func(a, b string) (float64, bool)
}

func (f function) Name() string { return f.name }

func (f function) Scores(_ context.Context, pairs []Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		var ok bool
		if scores[i], ok = f.score(p.A, p.B); !ok {
			scores[i] = nan
		}
	}
	return scores, nil
}
