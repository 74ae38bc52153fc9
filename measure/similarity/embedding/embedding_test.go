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

// faulty is a cache with these errors, and with a vector that is too short if it has one.
type faulty struct {
	get, put error
	short    []float32
}

func (f faulty) Get(similarity.Key) ([]byte, bool, error) {
	return similarity.Bytes(f.short), f.short != nil, f.get
}

func (f faulty) Put(map[similarity.Key][]byte) error { return f.put }

func TestFaultyCaches(t *testing.T) {
	broken := errors.New("broken")
	score := func(l *letters, keep similarity.Cache, pairs ...similarity.Pair) ([]float64, error) {
		return embedding.New(l, keep).Scores(t.Context(), pairs)
	}
	ab := similarity.Pair{A: "ab", B: "abc"}
	for i, keep := range []similarity.Cache{faulty{get: broken}, faulty{put: broken}} {
		if _, err := score(&letters{}, keep, ab); !errors.Is(err, broken) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got, err := score(&letters{fail: broken}, faulty{short: []float32{1, 2}}, ab); err != nil || got[0] != 1 {
		t.Errorf("%v, %v: all was there", got, err)
	}
	if got, err := score(&letters{fail: broken}, nil, similarity.Pair{}); err != nil || !math.IsNaN(got[0]) {
		t.Errorf("%v, %v: there was nothing to embed", got, err)
	}
	cached := memory{}
	score(&letters{}, cached, similarity.Pair{A: "a", B: ""})
	for key := range cached {
		cached[key] = similarity.Bytes([]float32{1})
	}
	if _, err := score(&letters{}, cached, similarity.Pair{A: "a", B: "b"}); err == nil ||
		err.Error() != "letters@1: vectors of 1 and of 3 dimensions cannot be compared" {
		t.Error(err)
	}
	if got, err := score(&letters{}, nil, ab); err != nil || math.Abs(got[0]-2/math.Sqrt(6)) > 1e-15 {
		t.Errorf("%v, %v: without a cache", got, err)
	}
}

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{nil, []float32{1}, math.NaN()}, {[]float32{1}, nil, math.NaN()}, {[]float32{0, 0}, []float32{1, 2}, math.NaN()},
		{[]float32{1, 2}, []float32{0, 0}, math.NaN()}, {[]float32{3, 4}, []float32{-3, -4}, -1},
		{[]float32{3, 4}, []float32{-4, 3}, 0},
		{[]float32{3, 4}, []float32{4, 3}, 0.96}, {[]float32{2, 0}, []float32{9, 0}, 1},
		{[]float32{0.1, 0.7, 0.3}, []float32{0.1, 0.7, 0.3}, 1}, {[]float32{0.1, 0.7, 0.3}, []float32{-0.1, -0.7, -0.3}, -1},
	} {
		got, err := embedding.Cosine(c.a, c.b)
		if err != nil || math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-15 || got > 1 || got < -1 {
			t.Errorf("%v, %v: %v, %v; want %v", c.a, c.b, got, err, c.want)
		}
	}
}
