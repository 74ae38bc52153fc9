package run

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/measure/similarity"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A cache that lost its table is an error; on writing, the error names the file.
func TestBrokenSimilarityCache(t *testing.T) {
	dir := create(t, filepath.Join(t.TempDir(), "run"), plan())
	cache, err := dir.OpenSimilarityCache()
	if err != nil {
		t.Fatal(err)
	}
	key := similarity.Key{1}
	if value, found, err := cache.Get(key); value != nil || found || err != nil {
		t.Errorf("%v %v %v", value, found, err)
	}
	if err := cache.Put(map[similarity.Key][]byte{key: {2}}); err != nil {
		t.Error(err)
	}
	if value, found, err := cache.Get(key); len(value) != 1 || value[0] != 2 || !found || err != nil {
		t.Errorf("%v %v %v", value, found, err)
	}
	if err := cache.conn.Exec("DROP TABLE kept"); err != nil {
		t.Fatal(err)
	}
	const says = "no such table: kept"
	if _, found, err := cache.Get(key); found || err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v %v", found, err)
	}
	err = cache.Put(map[similarity.Key][]byte{key: {3}})
	if err == nil || !strings.HasPrefix(err.Error(), cache.path+": ") || !strings.Contains(err.Error(), says) {
		t.Error(err)
	}
	if err := errors.Join(cache.conn.Exec("CREATE TABLE " + keptTable + "; BEGIN IMMEDIATE")); err != nil {
		t.Fatal(err)
	}
	if err := cache.Put(nil); err == nil || !strings.HasPrefix(err.Error(), cache.path+": ") {
		t.Error(err)
	}
	if err := errors.Join(cache.conn.Exec("ROLLBACK"), cache.Close(), dir.Close()); err != nil {
		t.Error(err)
	}
}

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
