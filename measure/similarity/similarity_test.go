package similarity_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk/measure/similarity"

	"github.com/google/go-cmp/cmp"
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
			if got, err := s.Scores(t.Context(), ab); err != nil || !same(got, want) {
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

// Similarities that share a cache have scores of their own.
func TestCachedScoresBelongToOneSimilarity(t *testing.T) {
	if similarity.KeyOf("score", "a", "bc") == similarity.KeyOf("score", "ab", "c") {
		t.Error("the parts of a key run into each other")
	}
	cache := similarity.NewMemoryCache(1 << 20)
	for _, source := range []string{"", "x"} {
		pairs := []similarity.Pair{{A: "a", B: "b", Source: source}}
		for range 2 {
			for name, want := range map[string]float64{"low@1": 0.25, "high@1": 0.75} {
				s := similarity.Func(name, func(_, _ string) (float64, bool) { return want, true })
				got, err := similarity.Cached(s, cache).Scores(t.Context(), pairs)
				if err != nil || !slices.Equal(got, []float64{want}) {
					t.Errorf("%s, source %q: got %v, %v; want %g", name, source, got, err, want)
				}
			}
		}
	}
}

// Of translations the source counts: the same texts of another are another pair.
func TestCachedScoresOfSources(t *testing.T) {
	c := &counting{}
	s := similarity.Cached(c, similarity.NewMemoryCache(1<<20))
	pairs := []similarity.Pair{{A: "a", B: "b"}, {A: "a", B: "b", Source: "x"}, {A: "a", B: "b", Source: "y"}}
	for round := range 2 {
		for i := range pairs {
			if _, err := s.Scores(t.Context(), pairs[i:i+1]); err != nil {
				t.Fatal(err)
			}
			if n, want := c.pairs.Load(), int64(i+1); round == 0 && n != want || n > 3 {
				t.Errorf("round %d: %d pairs were scored after %v; want %d", round, n, pairs[i], want)
			}
		}
	}
}

// slow takes a second for each call, wants one at a time, and notes how many pairs each was given.
type slow struct {
	counting
	t     *testing.T
	mu    sync.Mutex
	sizes []int
}

func (s *slow) Scores(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	if !s.mu.TryLock() {
		s.t.Error("two calls at the same time")
		return nil, errors.New("busy")
	}
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, len(pairs))
	time.Sleep(time.Second)
	return s.counting.Scores(ctx, pairs)
}

// Callers at the same time share calls that are as full as they may be, those who come during a call share the next
// ones, and each gets its own scores.
func TestBatchJoinsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{t: t}
		batch := similarity.Batch(s, 64)
		var callers sync.WaitGroup
		call := func(pairs ...similarity.Pair) {
			callers.Go(func() {
				want, _ := (&counting{}).Scores(t.Context(), pairs)
				if got, err := batch.Scores(t.Context(), pairs); err != nil || !same(got, want) {
					t.Errorf("%v: got %v, %v; want %v", pairs, got, err, want)
				}
			})
		}
		many := func(n int) {
			for i := range n {
				call(similarity.Pair{A: "aaaa"[:1+i%4], B: "bb"}, similarity.Pair{A: "", B: ""})
			}
		}
		expect := func(what string, sizes ...int) {
			t.Helper()
			callers.Wait()
			if diff := cmp.Diff(sizes, s.sizes); diff != "" {
				t.Errorf("%s: pairs in each call (-want +got):\n%s", what, diff)
			}
			s.sizes = nil
		}
		many(300)
		expect("300 callers with 2 pairs each", 64, 64, 64, 64, 64, 64, 64, 64, 64, 24)

		call(ab[0])
		time.Sleep(time.Second / 2)
		many(40)
		expect("40 callers during a call for one", 1, 64, 16)

		call(slices.Repeat(ab, 30)...)
		synctest.Wait()
		call(ab[1])
		expect("more pairs than fit, and one", 90, 1)
	})
}

func TestBatchHandsOnErrors(t *testing.T) {
	broken := errors.New("broken")
	c := &counting{fail: broken}
	s := similarity.Batch(c, 8)
	for range 2 {
		if _, err := s.Scores(t.Context(), ab); !errors.Is(err, broken) {
			t.Errorf("got %v; want %v", err, broken)
		}
	}
	if got, err := s.Scores(t.Context(), nil); got != nil || err != nil {
		t.Errorf("no pairs: got %v, %v", got, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
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
