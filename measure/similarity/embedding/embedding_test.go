package embedding_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/embedding"
)

// letters embeds a text as its counts of a, b and c.
type letters struct {
	embedded []string
	fail     error
}

func (l *letters) Name() string { return "letters@1" }

func (l *letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	l.embedded = append(l.embedded, texts...)
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = []float32{float32(strings.Count(t, "a")), float32(strings.Count(t, "b")), float32(strings.Count(t, "c"))}
	}
	return vectors, nil
}

type memory map[similarity.Key][]byte

func (m memory) Get(k similarity.Key) ([]byte, bool, error) { v, ok := m[k]; return v, ok, nil }

func (m memory) Put(values map[similarity.Key][]byte) error {
	for k, v := range values {
		m[k] = v
	}
	return nil
}

func TestScores(t *testing.T) {
	pairs := []similarity.Pair{{A: "ab", B: "ab"}, {A: "a", B: "b"}, {A: "a", B: "ab"}, {A: "", B: "a"}, {A: "xyz", B: "a"}, {A: "ab", B: "ba"}}
	want := []float64{1, 0, math.Sqrt2 / 2, math.NaN(), math.NaN(), 1}
	l, keep := &letters{}, memory{}
	for range 2 {
		got, err := embedding.New(l, keep).Scores(context.Background(), pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9 || math.IsNaN(got[i]) != math.IsNaN(want[i]) {
				t.Errorf("pair %d: got %g, want %g", i, got[i], want[i])
			}
		}
	}
	if len(l.embedded) != 5 { // ab a b xyz ba, once each
		t.Errorf("embedded %q; want each distinct text once", l.embedded)
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := embedding.New(&letters{fail: broken}, nil).Scores(context.Background(),
		[]similarity.Pair{{A: "a", B: "b"}}); !errors.Is(err, broken) {
		t.Errorf("got %v; want %v", err, broken)
	}
	if _, err := embedding.Cosine([]float32{1}, []float32{1, 2}); err == nil {
		t.Error("vectors of different dimensions were compared")
	}
}
