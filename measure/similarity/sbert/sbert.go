// Package sbert compares texts by the cosine of their sentence vectors (Reimers and Gurevych 2019, Sentence-BERT), from
// Hugging Face directories that the library sentence-transformers wrote: modules.json, the pooling's config.json and
// sentence_bert_config.json. A directory without modules.json is taken as a plain encoder with mean pooling, as that
// library does.
package sbert

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/internal/pairwise"
)

// Options of a scorer; the zero value reads everything from the directory.
type Options struct {
	Model    string // name at Hugging Face, for the signature
	Revision string // commit, for the signature
}

// Scorer computes and compares sentence vectors. It is safe for concurrent use.
type Scorer struct {
	text *encoder.Text
	layout
	name string
}

var _ similarity.Similarity = (*Scorer)(nil)

// Load reads the model in dir.
func Load(dir string, o Options) (*Scorer, error) {
	l, err := readLayout(dir)
	if err != nil {
		return nil, err
	}
	if o.Model, o.Revision, err = encoder.Named(l.transformer, o.Model, o.Revision); err != nil {
		return nil, err
	}
	text, err := encoder.LoadText(l.transformer)
	if err != nil {
		return nil, err
	}
	if l.most == 0 {
		l.most = text.MaxLength()
	}
	return &Scorer{text, l, fmt.Sprintf("sbert:%s@%s", o.Model, o.Revision)}, nil
}

// Name identifies model and revision: "sbert:all-MiniLM-L6-v2@c9745ed...".
func (s *Scorer) Name() string { return s.name }

// Config is the configuration of the encoder.
func (s *Scorer) Config() encoder.Config { return s.text.Config }

// MaxTokens is the maximum number of ids per text, including special tokens.
func (s *Scorer) MaxTokens() int { return s.text.Limit(s.most) }

// Pooling describes how token vectors become one vector: the modes of the pooling's configuration, such as
// "mean_tokens", and finally "normalized" if it is.
func (s *Scorer) Pooling() []string {
	if s.normalize {
		return append(slices.Clone(s.modes), "normalized")
	}
	return s.modes
}

// Width is the number of values of a sentence vector.
func (s *Scorer) Width() int { return s.text.Hidden * len(s.pooling) }

// Encode calls visit with the sentence vector of each text, which the caller may keep. Calls are concurrent and in any
// order.
func (s *Scorer) Encode(ctx context.Context, texts []string, visit func(i int, v []float32)) error {
	if s.prompt != "" || s.lower {
		texts = slices.Clone(texts)
		for i, text := range texts {
			if texts[i] = s.prompt + text; s.lower {
				texts[i] = strings.ToLower(texts[i])
			}
		}
	}
	return s.text.Encode(ctx, texts, s.text.Layers, s.most, func(i int, _ []int32, hidden []float32) {
		var v []float32
		for _, pool := range s.pooling {
			v = append(v, pool(hidden, s.text.Hidden)...)
		}
		if s.normalize {
			encoder.Normalize(v)
		}
		visit(i, v)
	})
}

// Cosine is the cosine of the angle between a and b, and NaN if one is zero.
func Cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		ab += x * y
		aa += x * x
		bb += y * y
	}
	return ab / math.Sqrt(aa*bb)
}

// Scores returns the cosine of each pair. Each distinct text is encoded once, and only the vectors of the smaller side
// are kept in memory.
func (s *Scorer) Scores(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	return pairwise.Scores(ctx, pairs, pairwise.Coder[[]float32]{
		Encode: s.Encode,
		Keep:   slices.Clone[[]float32],
		Size:   func(string) int { return 4 * s.Width() },
		Score:  Cosine,
	})
}
