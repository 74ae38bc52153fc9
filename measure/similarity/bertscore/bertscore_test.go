package bertscore

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"crosstalk/internal/testing/randmodel"
	"crosstalk/measure/similarity"
)

func tokens(special string, rows ...[]float32) Tokens {
	t := Tokens{Width: 2}
	for i, row := range rows {
		t.Vectors = append(t.Vectors, row...)
		t.Special = append(t.Special, special[i] == 's')
	}
	return t
}

func TestCompare(t *testing.T) {
	east, north, west, half := []float32{1, 0}, []float32{0, 1}, []float32{-1, 0}, []float32{0.6, 0.8}
	nan := math.NaN()
	for name, c := range map[string]struct {
		a, b Tokens
		want Score
	}{
		"same":              {tokens("s.s", north, east, north), tokens("s.s", north, east, north), Score{1, 1, 1}},
		"precision, recall": {tokens("s..s", west, east, half, west), tokens("s.s", west, east, west), Score{(1 + 0.6) / 2, 1, 2 * 0.8 / 1.8}},
		// The candidate's token finds its match in a special token of the reference.
		"special matched": {tokens("s.s", west, east, west), tokens("s.s", east, north, east), Score{1, 0, 0}},
		"empty":           {tokens("ss", east, east), tokens("s.s", east, east, east), Score{}},
		"both empty":      {tokens("ss", east, east), tokens("ss", east, east), Score{}},
		"spelt out":       {tokens("sss", east, east, east), tokens("s.s", east, east, east), Score{nan, 1, 0}},
		"opposite":        {tokens("s.s", west, east, west), tokens("s.s", north, west, north), Score{0, 1, 0}},
	} {
		got := Compare(c.a, c.b)
		for i, v := range []float64{got.P, got.R, got.F} {
			w := []float64{c.want.P, c.want.R, c.want.F}[i]
			if math.Abs(v-w) > 1e-6 || math.IsNaN(v) != math.IsNaN(w) {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
				break
			}
		}
	}
}

func TestDot(t *testing.T) {
	for n := range 40 {
		a, b, want := make([]float32, n), make([]float32, n), 0.0
		for i := range a {
			a[i], b[i] = float32(i+1), float32(n-2*i)
			want += float64(a[i]) * float64(b[i])
		}
		if got := dot(a, b); float64(got) != want {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
}

func write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := randmodel.New(randmodel.Shape{Layers: 2, Hidden: 16, Heads: 2, Inner: 20, Vocab: 40, Positions: 12},
		3).Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoad(t *testing.T) {
	dir := write(t)
	for want, o := range map[string]Options{
		`no layer is recommended for model "tiny"`:                   {},
		"distilbert-base-uncased has no layer 5; expected at most 2": {Model: "distilbert-base-uncased"},
		"tiny has no layer 3":                                        {Layer: 3},
		"tiny has no layer -2":                                       {Layer: -2},
	} {
		if _, err := Load(dir, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for want, o := range map[string]Options{
		"bertscore:a/b@c/L2":  {Model: "a/b", Revision: "c", Layer: 2},
		"bertscore:a/b@c/L0":  {Model: "a/b", Revision: "c", Layer: Embeddings},
		"bertscore:tiny@c/L1": {Revision: "c", Layer: 1},
	} {
		if s, err := Load(dir, o); err != nil || s.Name() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, o := range []Options{{Model: "bert-base-chinese"}, {Revision: "c", Layer: 1}} { // checkpoints with known weights
		if _, err := Load(t.TempDir(), o); err == nil || strings.Contains(err.Error(), "tokenizer") {
			t.Error(err)
		}
	}
	s, err := Load(dir, Options{Layer: Embeddings, Revision: "c"})
	if err != nil || s.Layer() != 0 || s.MaxTokens() != 12 || s.Config().Layers != 2 || s.Config().Hidden != 16 ||
		s.kept != 128<<20 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Load(t.TempDir(), Options{Model: "bert-base-chinese", Revision: "c"}); err == nil || !strings.Contains(err.Error(), "no tokenizer.json") {
		t.Error(err)
	}
}

func TestScores(t *testing.T) {
	s, err := Load(write(t), Options{Layer: 2})
	if err != nil {
		t.Fatal(err)
	}
	pairs := []similarity.Pair{{A: "w5", B: "w5"}, {A: " w5 w6\n", B: "w6 w7"}, {A: "w5", B: ""}, {A: "\u200b", B: "w5"}, {A: "[SEP]", B: "w5"}, {A: "w5 w6", B: "w6 w7"}}
	scores, err := s.Scores(context.Background(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(scores[0]-1) > 1e-6 || scores[2] != 0 || scores[3] != 0 || scores[4] != 0 || scores[1] != scores[5] ||
		scores[1] <= 0 || scores[1] >= 1 {
		t.Errorf("%v", scores)
	}
	s.kept = 1 // each candidate is a part of its own
	if parts, err := s.Scores(context.Background(), pairs); err != nil || !slices.Equal(parts, scores) {
		t.Errorf("%v, %v; want %v", parts, err, scores)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Scores(ctx, pairs); err == nil {
		t.Error("cancelled without an error")
	}
}

// ending is a context that ends when it is asked for the nth time.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) <= 0 {
		return context.Canceled
	}
	return nil
}

// Whenever the context ends, there are no scores.
func TestScoresEnd(t *testing.T) {
	s, err := Load(write(t), Options{Layer: 1})
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); ; n++ {
		ctx := &ending{Context: t.Context()}
		ctx.left.Store(n)
		_, err := s.Scores(ctx, []similarity.Pair{{A: "w5", B: "w6"}})
		if ended := ctx.left.Load() <= 0; ended != (err != nil) {
			t.Errorf("ended %v at look %d: %v", ended, n, err)
		} else if !ended {
			break
		}
	}
}

func TestLayer(t *testing.T) {
	for model, want := range map[string]int{"distilbert-base-uncased": 5, "distilbert/distilbert-base-uncased": 5, "google-bert/bert-base-chinese": 8,
		"FacebookAI/xlm-roberta-large": 17, "openai-community/roberta-base-openai-detector": 7,
		"allenai/scibert_scivocab_cased": 9, "me/roberta-base": 0, "gpt2": 0,
		"distilbert": 0, "google-bert": 0, "": 0, "roberta-large": 17, "google-bert/": 0, "bert-base-uncased/": 0} {
		if layer, ok := Layer(model); layer != want || ok != (want > 0) {
			t.Errorf("%s: %d, want %d", model, layer, want)
		}
	}
	for _, language := range []string{"en", "zh", "he", "de"} {
		if _, ok := Layer(ModelFor(language)); !ok {
			t.Errorf("%s has no layer", ModelFor(language))
		}
	}
}
