// Package bertscore compares texts by greedy matching of contextual token vectors (Zhang et al. 2020, BERTScore,
// equations 1 to 3), with the semantics of the reference implementation bert_score 0.3.13: no idf weights, no rescaling
// with a baseline, pair by pair.
//
//   - Texts are stripped of white space and cut at the tokenizer's own limit.
//   - [CLS] and [SEP] (<s> and </s>), also where the text spells them out, count
//     for nothing themselves but can be matched by other tokens.
//   - An empty text, which has no other tokens, gives P = R = F = 0.
//   - A text with only literal special tokens gives NaN for its side and F = 0.
//
// The reference pads batches, which turns negative similarities into 0; here no score depends on other pairs.
package bertscore

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
)

// Options of a scorer; the zero value reads everything from the directory.
type Options struct {
	Model    string // name at Hugging Face, for the layer table and the signature
	Revision string // commit, for the signature
	Layer    int    // 1 to the number of layers; 0: by the table; Embeddings
}

// Embeddings is the layer below the first, the output of the embeddings.
const Embeddings = -1

// Scorer scores by the hidden states of one layer. It is safe for concurrent use.
type Scorer struct {
	text  *encoder.Text
	layer int
	most  int // maximum ids per text
	kept  int // see maxKept
	name  string
}

var _ similarity.Similarity = (*Scorer)(nil)

const maxKept = 128 << 20 // bounds the token vectors of candidates that are kept, in bytes

// Load reads the model in dir, a Hugging Face directory.
func Load(dir string, o Options) (*Scorer, error) {
	var err error
	if o.Model, o.Revision, err = encoder.Named(dir, o.Model, o.Revision); err != nil {
		return nil, err
	}
	switch layer, recommended := Layer(o.Model); {
	case o.Layer == Embeddings:
		o.Layer = 0
	case o.Layer == 0 && !recommended:
		return nil, fmt.Errorf("bertscore: no layer is recommended for model %q; name one, as in bertscore:MODEL/L5", o.Model)
	case o.Layer == 0:
		o.Layer = layer
	}
	text, err := encoder.LoadText(dir)
	if err != nil {
		return nil, err
	}
	if o.Layer < 0 || o.Layer > text.Layers {
		return nil, fmt.Errorf("bertscore: %s has no layer %d; expected at most %d", o.Model, o.Layer, text.Layers)
	}
	name := fmt.Sprintf("bertscore:%s@%s/L%d", o.Model, o.Revision, o.Layer)
	return &Scorer{text, o.Layer, text.MaxLength(), maxKept, name}, nil
}

// Name identifies model, revision and layer: "bertscore:distilbert-base-uncased@12040ac.../L5".
func (s *Scorer) Name() string { return s.name }

// Config is the configuration of the encoder.
func (s *Scorer) Config() encoder.Config { return s.text.Config }

// MaxTokens is the maximum number of ids per text, including special tokens.
func (s *Scorer) MaxTokens() int { return s.text.Limit(s.most) }

// Layer is the layer whose hidden states are compared; 0 is the embeddings.
func (s *Scorer) Layer() int { return s.layer }

// Tokens is a text as scored.
type Tokens struct {
	Width   int
	Vectors []float32 // one row of Width values per token, of length 1
	Special []bool    // the tokens that do not count
}

// Score is the result for a candidate and a reference, each in [-1, 1].
type Score struct {
	P float64 // precision: the candidate's tokens matched in the reference
	R float64 // recall: the reference's tokens matched in the candidate
	F float64 // their harmonic mean
}

// Encode calls visit with the tokens of each text, concurrently and in any order. They are valid during the call.
func (s *Scorer) Encode(ctx context.Context, texts []string, visit func(i int, t Tokens)) error {
	return s.text.Encode(ctx, texts, s.layer, s.most, func(i int, ids []int32, hidden []float32) {
		special := make([]bool, len(ids))
		for t, id := range ids {
			special[t] = s.text.Special(id)
			encoder.Normalize(hidden[t*s.text.Hidden:][:s.text.Hidden])
		}
		visit(i, Tokens{s.text.Hidden, hidden, special})
	})
}

// Keep returns a copy of t that outlives the call of visit.
func (t Tokens) Keep() Tokens {
	t.Vectors = slices.Clone(t.Vectors)
	return t
}

// Compare scores candidate against reference.
func Compare(candidate, reference Tokens) Score {
	if len(candidate.Special) <= 2 || len(reference.Special) <= 2 { // only [CLS] and [SEP]
		return Score{}
	}
	worst := float32(math.Inf(-1))
	forth := slices.Repeat([]float32{worst}, len(candidate.Special))
	back := slices.Repeat([]float32{worst}, len(reference.Special))
	w := candidate.Width
	for i := range forth {
		for j := range back {
			d := dot(candidate.Vectors[i*w:][:w], reference.Vectors[j*w:][:w])
			forth[i] = max(forth[i], d)
			back[j] = max(back[j], d)
		}
	}
	p, r := mean(forth, candidate.Special), mean(back, reference.Special)
	f := 2 * p * r / (p + r)
	if math.IsNaN(f) {
		f = 0
	}
	return Score{p, r, f}
}

// mean is the mean of the best matches of the tokens that count.
func mean(best []float32, special []bool) float64 {
	var sum, n float64
	for i, v := range best {
		if !special[i] {
			sum += float64(v)
			n++
		}
	}
	return sum / n
}

// dot sums in eight places at once, which keeps the processor busy and the error small.
func dot(a, b []float32) float32 {
	var s [8]float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s[0] += a[0] * b[0]
		s[1] += a[1] * b[1]
		s[2] += a[2] * b[2]
		s[3] += a[3] * b[3]
		s[4] += a[4] * b[4]
		s[5] += a[5] * b[5]
		s[6] += a[6] * b[6]
		s[7] += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i, v := range a {
		s[i] += v * b[i]
	}
	return (s[0] + s[4]) + (s[1] + s[5]) + ((s[2] + s[6]) + (s[3] + s[7]))
}

// Scores returns F of each pair, with A as the candidate and B as the reference. Each distinct text is encoded once, as
// long as the vectors of the candidates, which alone are kept, do not exceed maxKept: else once for each part.
func (s *Scorer) Scores(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	for from, to := 0, 0; from < len(pairs); from = to {
		candidates, references := map[string][]int{}, map[string][]int{} // pairs by their texts
		for size := 0; to < len(pairs) && size <= s.kept; to++ {
			p := pairs[to]
			if candidates[p.A] == nil {
				size += (len(p.A)/3 + 3) * s.text.Hidden * 4
			}
			candidates[p.A], references[p.B] = append(candidates[p.A], to), append(references[p.B], to)
		}
		kept := make([]Tokens, to-from)
		texts := slices.Collect(maps.Keys(candidates))
		err := s.Encode(ctx, texts, func(i int, t Tokens) {
			t = t.Keep()
			for _, pair := range candidates[texts[i]] {
				kept[pair-from] = t
			}
		})
		if err != nil {
			return nil, err
		}
		others := slices.Collect(maps.Keys(references))
		err = s.Encode(ctx, others, func(i int, t Tokens) {
			for _, pair := range references[others[i]] {
				scores[pair] = Compare(kept[pair-from], t).F
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// layers are models and the layers that bert_score recommends for them, by correlation with human judgement on WMT16
// (Zhang et al. 2020, appendix B, and the table in the reference implementation), as far as measure/encoder runs them.
//
//go:embed layers.txt
var layers string

// Layer is the recommended layer of a model of Hugging Face. Models once published without an owner have both names.
func Layer(model string) (layer int, ok bool) {
	switch owner, name, _ := strings.Cut(model, "/"); owner {
	case "google-bert", "distilbert", "FacebookAI", "openai-community":
		model = name
	}
	for line := range strings.Lines(layers) {
		if known, number, _ := strings.Cut(strings.TrimSpace(line), " "); known == model {
			layer, err := strconv.Atoi(number)
			return layer, err == nil
		}
	}
	return 0, false
}

// ModelFor is the model of the leakage protocols for a language, by ISO 639-1; cross-lingual prompts use English's.
func ModelFor(language string) string {
	switch language {
	case "en":
		return "distilbert-base-uncased"
	case "zh":
		return "bert-base-chinese"
	}
	return "bert-base-multilingual-cased"
}
