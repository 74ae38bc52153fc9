package similarity_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"crosstalk/measure/similarity"
)

// faulty is a cache that has these values for everything, and these errors.
type faulty struct {
	value    []byte
	found    bool
	get, put error
	puts     int
}

func (f *faulty) Get(similarity.Key) ([]byte, bool, error) { return f.value, f.found, f.get }

func (f *faulty) Put(values map[similarity.Key][]byte) error {
	f.puts += len(values)
	return f.put
}

// What a cache cannot give or keep is an error; a value that is no score is computed anew, and only that is kept.
func TestFaultyCaches(t *testing.T) {
	broken := errors.New("broken")
	half := []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f}
	for i, c := range []struct {
		cache       faulty
		fail        error
		want        []float64
		err         error
		calls, puts int
	}{
		{faulty{}, nil, []float64{102, math.NaN(), 301}, nil, 1, 3},
		{faulty{value: half, found: true}, nil, []float64{0.5, 0.5, 0.5}, nil, 0, 0},
		{faulty{value: half}, nil, []float64{102, math.NaN(), 301}, nil, 1, 3},
		{faulty{value: half[:7], found: true}, nil, []float64{102, math.NaN(), 301}, nil, 1, 3},
		{faulty{value: append(half, 1), found: true}, nil, []float64{102, math.NaN(), 301}, nil, 1, 3},
		{faulty{get: broken}, nil, nil, broken, 0, 0},
		{faulty{put: broken}, nil, []float64{102, math.NaN(), 301}, broken, 1, 3},
		{faulty{}, broken, nil, broken, 1, 0},
		{faulty{value: half, found: true}, broken, []float64{0.5, 0.5, 0.5}, nil, 0, 0},
	} {
		counting := &counting{fail: c.fail}
		got, err := similarity.Cached(counting, &c.cache).Scores(t.Context(), ab)
		if !same(got, c.want) || err != c.err || int(counting.calls.Load()) != c.calls || c.cache.puts != c.puts {
			t.Errorf("%d: %v, %v, %d calls, %d kept", i, got, err, counting.calls.Load(), c.cache.puts)
		}
	}
}

// A function's score is of the first text and the second, and undefined where it says so.
func TestFunc(t *testing.T) {
	s := similarity.Func("f@1", func(a, b string) (float64, bool) { return float64(10*len(a) + len(b)), a != "" })
	if got, err := s.Scores(t.Context(), ab); err != nil || !same(got, []float64{12, math.NaN(), 31}) || s.Name() != "f@1" {
		t.Errorf("%v, %v", got, err)
	}
}

// A cache in memory keeps the latest values for which it has room, each once.
func TestMemoryLimit(t *testing.T) {
	key := func(i int) similarity.Key { return similarity.KeyOf(fmt.Sprint(i)) }
	cache := similarity.NewMemoryCache(30)
	kept := func() (list []int) {
		for i := range 10 {
			if value, found, err := cache.Get(key(i)); err != nil || found != (value != nil) {
				t.Errorf("%d: %q, %v, %v", i, value, found, err)
			} else if found {
				list = append(list, i)
			}
		}
		return list
	}
	for _, c := range []struct {
		put  int
		want []int
	}{{1, []int{1}}, {2, []int{1, 2}}, {3, []int{1, 2, 3}}, {1, []int{1, 2, 3}},
		{4, []int{2, 3, 4}}, {3, []int{2, 3, 4}}, {1, []int{1, 3, 4}}} {
		if err := cache.Put(map[similarity.Key][]byte{key(c.put): make([]byte, 10)}); err != nil {
			t.Error(err)
		}
		if got := kept(); !slices.Equal(got, c.want) {
			t.Errorf("after %d: %v, want %v", c.put, got, c.want)
		}
	}
	cache.Put(map[similarity.Key][]byte{key(5): make([]byte, 30)})
	if got := kept(); !slices.Equal(got, []int{5}) {
		t.Errorf("after one that takes all: %v", got)
	}
	cache.Put(map[similarity.Key][]byte{key(6): make([]byte, 31)})
	if got := kept(); got != nil {
		t.Errorf("after one that is too large: %v", got)
	}
}

// A key is the hash of its parts and their lengths, as caches of earlier runs have it.
func TestKeys(t *testing.T) {
	for want, parts := range map[string][]string{
		"e3b0c44298fc1c149afbf4c8996fb924": nil, "9a8acca1b6c6c0befd3fbc756aed625d": {"a", "bc"}, "5b2bc2b19d8490f3ade4a832d8b519f7": {"score", ""},
	} {
		if got := fmt.Sprintf("%x", similarity.KeyOf(parts...)); got != want {
			t.Errorf("%q: %s, want %s", parts, got, want)
		}
	}
}
