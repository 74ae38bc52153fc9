package pairwise

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"crosstalk/measure/similarity"
)

// coder codes a text as itself. It counts how often each text is encoded and how many bytes are kept since the last
// call of Encode.
type coder struct {
	mu      sync.Mutex
	encoded map[string]int
	kept    int
	err     error // of Encode
}

func (c *coder) coder() Coder[string] {
	return Coder[string]{
		Encode: func(_ context.Context, texts []string, visit func(int, string)) error {
			c.mu.Lock()
			c.kept = 0
			for _, text := range texts {
				c.encoded[text]++
			}
			c.mu.Unlock()
			var workers sync.WaitGroup
			for i, text := range texts {
				workers.Go(func() { visit(i, text) })
			}
			workers.Wait()
			return c.err
		},
		Keep: func(s string) string {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.kept += len(s)
			return s
		},
		Size:  func(s string) int { return len(s) },
		Score: func(a, b string) float64 { return float64(1000*len(a) + len(b)) },
	}
}

func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(prefix string, n int) string { return prefix + strings.Repeat("x", rng.IntN(n)) }
	for _, few := range []string{"A", "B"} { // the side with less to keep
		var pairs []similarity.Pair
		for range 3000 {
			p := similarity.Pair{A: text("a", 20), B: text("b", 200)}
			if rng.IntN(10) == 0 {
				p.B = p.A // on both sides
			}
			if few == "B" {
				p.A, p.B = p.B, p.A
			}
			pairs = append(pairs, p)
		}
		for _, budget := range []int{1 << 20, 30} {
			c := &coder{encoded: map[string]int{}}
			code := c.coder()
			keep := code.Keep
			code.Keep = func(s string) string {
				s = keep(s)
				if c.mu.Lock(); c.kept > budget {
					t.Errorf("%d bytes kept, budget %d", c.kept, budget)
				}
				c.mu.Unlock()
				return s
			}
			scores, err := scores(context.Background(), pairs, code, budget)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range pairs {
				if want := code.Score(p.A, p.B); scores[i] != want {
					t.Fatalf("few %s budget %d: pair %d is %v, want %v", few, budget, i, scores[i], want)
				}
			}
			for text, n := range c.encoded {
				if budget > 1000 && n != 1 {
					t.Errorf("few %s: %q encoded %d times", few, text, n)
				}
			}
		}
	}
}

func TestScoresError(t *testing.T) {
	c := &coder{encoded: map[string]int{}, err: errors.New("broken")}
	if scores, err := Scores(context.Background(), []similarity.Pair{{A: "a", B: "b"}}, c.coder()); !errors.Is(err,
		c.err) || scores != nil {
		t.Error(scores, err)
	}
	if scores, err := Scores(context.Background(), nil, Coder[string]{}); err != nil || len(scores) != 0 {
		t.Error(scores, err)
	}
}
