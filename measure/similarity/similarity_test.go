package similarity_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"crosstalk/measure/similarity"
)

// counting scores by length and counts what it is asked.
type counting struct {
	calls, pairs atomic.Int64
	fail         error
}

func (c *counting) Name() string { return "counting@1" }

func (c *counting) Scores(_ context.Context, pairs []similarity.Pair) ([]float64, error) {
	c.calls.Add(1)
	c.pairs.Add(int64(len(pairs)))
	if c.fail != nil {
		return nil, c.fail
	}
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		scores[i] = float64(len(p.A)*100 + len(p.B))
		if p.A == "" {
			scores[i] = math.NaN()
		}
	}
	return scores, nil
}

type mapCache map[similarity.Key][]byte

func (m mapCache) Get(k similarity.Key) ([]byte, bool, error) { v, ok := m[k]; return v, ok, nil }

func (m mapCache) Put(values map[similarity.Key][]byte) error {
	for k, v := range values {
		m[k] = v
	}
	return nil
}

var ab = []similarity.Pair{{A: "a", B: "bb"}, {A: "", B: "x"}, {A: "aaa", B: "b"}}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

func TestEachPairIsScoredOnce(t *testing.T) {
	want := []float64{102, math.NaN(), 301}
	for name, wrap := range map[string]func(similarity.Similarity) similarity.Similarity{
		"memory": func(s similarity.Similarity) similarity.Similarity {
			return similarity.Cached(s, similarity.NewMemoryCache(1<<20))
		},
		"map": func(s similarity.Similarity) similarity.Similarity { return similarity.Cached(s, mapCache{}) },
	} {
		c := &counting{}
		s := wrap(c)
		for range 3 {
			if got, err := s.Scores(context.Background(), ab); err != nil || !same(got, want) {
				t.Errorf("%s: got %v, %v; want %v", name, got, err, want)
			}
		}
		if n := c.pairs.Load(); n != 3 {
			t.Errorf("%s: %d pairs were scored; want 3", name, n)
		}
		if s.Name() != "counting@1" {
			t.Errorf("%s: the name is %q", name, s.Name())
		}
	}
}

func TestKeptScoresBelongToOneSimilarity(t *testing.T) {
	if similarity.KeyOf("score", "a", "bc") == similarity.KeyOf("score", "ab", "c") {
		t.Error("parts run into each other")
	}
}

// Of translations the source counts: the same texts of another are another pair.
func TestKeptScoresOfSources(t *testing.T) {
	for name, keep := range map[string]func(similarity.Similarity) similarity.Similarity{
		"kept": func(s similarity.Similarity) similarity.Similarity {
			return similarity.Cached(s, similarity.NewMemoryCache(1<<20))
		}, "memory": func(s similarity.Similarity) similarity.Similarity {
			return similarity.Cached(s, similarity.NewMemoryCache(1<<20))
		},
	} {
		c := &counting{}
		s := keep(c)
		pairs := []similarity.Pair{{A: "a", B: "b"}, {A: "a", B: "b", Source: "x"}, {A: "a", B: "b", Source: "y"}}
		for range 2 {
			if _, err := s.Scores(context.Background(), pairs); err != nil {
				t.Fatal(err)
			}
		}
		if n := c.pairs.Load(); n != 3 {
			t.Errorf("%s: %d pairs were scored; want 3", name, n)
		}
	}
}

func TestBatchJoinsCallers(t *testing.T) {
	c := &counting{}
	s := similarity.Batch(c, 64)
	var callers sync.WaitGroup
	for i := range 300 {
		callers.Go(func() {
			p := similarity.Pair{A: "aaaa"[:1+i%4], B: "bb"}
			got, err := s.Scores(context.Background(), []similarity.Pair{p, {A: "", B: ""}})
			if want := []float64{float64(len(p.A)*100 + 2), math.NaN()}; err != nil || !same(got, want) {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
		})
	}
	callers.Wait()
	if n := c.pairs.Load(); n != 600 {
		t.Errorf("%d pairs were scored; want 600", n)
	}
	if n := c.calls.Load(); n > 200 {
		t.Errorf("%d calls for 300 callers: they were not joined", n)
	}
}

func TestBatchHandsOnErrors(t *testing.T) {
	broken := errors.New("broken")
	c := &counting{fail: broken}
	s := similarity.Batch(c, 8)
	for range 2 {
		if _, err := s.Scores(context.Background(), ab); !errors.Is(err, broken) {
			t.Errorf("got %v; want %v", err, broken)
		}
	}
	if got, err := s.Scores(context.Background(), nil); got != nil || err != nil {
		t.Errorf("no pairs: got %v, %v", got, err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Scores(cancelled, ab); err == nil {
		t.Error("a cancelled caller was answered without an error")
	}
}

func TestVectorsSurviveKeeping(t *testing.T) {
	v := []float32{0, -1.5, 3e-38, float32(math.Inf(1))}
	if got := similarity.Floats(similarity.Bytes(v)); !slices.Equal(got, v) {
		t.Errorf("got %v, want %v", got, v)
	}
}
