package run

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"crosstalk/measure/similarity"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Scores are computed once in the life of a run, for each similarity, pair and
// source. Undefined ones are cached too.
func TestSimilarityCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	if err := create(t, path, plan()).Close(); err != nil {
		t.Fatal(err)
	}
	pairs := []similarity.Pair{{A: "a", B: "b"}, {A: "a", B: "b", Source: "s"}, {A: "b", B: "a"}, {A: "a", B: "?"}}
	for opened := range 3 {
		dir := create(t, path, plan())
		cache, err := dir.OpenSimilarityCache()
		if err != nil {
			t.Fatal(err)
		}
		for name, score := range map[string]float64{"low@1": 0.25, "high@1": 0.75} {
			asked := 0
			s := similarity.Func(name, func(a, b string) (float64, bool) {
				asked++
				return score, b != "?"
			})
			var got []float64
			for i := range pairs { // one by one: each may be answered with what was cached for another
				scores, err := similarity.Cached(s, cache).Scores(t.Context(), pairs[i:i+1])
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, scores...)
			}
			if diff := cmp.Diff([]float64{score, score, score, math.NaN()}, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%s, opened %d times before: scores (-want +got):\n%s", name, opened, diff)
			}
			want := 0
			if opened == 0 {
				want = len(pairs)
			}
			if asked != want {
				t.Errorf("%s, opened %d times before: %d pairs were scored; want %d", name, opened, asked, want)
			}
		}
		if err := errors.Join(cache.Close(), dir.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
