package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// sums are the totals of one resample of clusters: of n, of the residual
// e = sum - mean*n about the mean of the data, and of their products.
type sums struct{ n, e, ee, en, nn float64 }

// stdErr is the CR0 standard error of the resampled mean.
func (r sums) stdErr() float64 {
	m := r.e / r.n // mean of the resample minus mean of the data
	return math.Sqrt(math.Max(r.ee-2*m*r.en+m*m*r.nn, 0)) / r.n
}

// A stratum of clusters that the sampler treats as equal. sd is the standard
// deviation of the residuals pooled in it.
type stratum struct{ n, e, sd, m float64 }

func (t stratum) add(r *sums, w, e float64) {
	r.n += w * t.n
	r.e += e
	r.ee += w * (t.e*t.e + t.sd*t.sd)
	r.en += w * t.n * t.e
	r.nn += w * t.n * t.n
}

// block is the number of draws that share a random stream; results do not
// depend on how blocks are spread over processors.
const block = 250

// maxSingle is the largest number of distinct clusters drawn one by one.
const maxSingle = 20000

// resample draws the clusters of s with replacement, draws times.
func (s summary) resample(draws int, seed uint64) []sums {
	strata := s.strata()
	// Drawing clusters one by one costs G; a multinomial over the strata
	// costs about ten times the number of strata.
	draw := drawCounts(strata, int(s.clusters))
	if 10*len(strata) > int(s.clusters) {
		draw = drawSingly(strata, int(s.clusters))
	}
	out := make([]sums, draws)
	parallelBlocks(draws, seed, func(rng *rand.Rand, lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = draw(rng)
		}
	})
	return out
}

// parallelBlocks calls f for every block of draws with the block's own
// generator, on all processors.
func parallelBlocks(draws int, seed uint64, f func(rng *rand.Rand, lo, hi int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for lo := 0; lo < draws; lo += block {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(rand.New(rand.NewPCG(seed, uint64(lo/block))), lo, min(lo+block, draws))
		})
	}
	wg.Wait()
}

func drawSingly(strata []stratum, clusters int) func(*rand.Rand) sums {
	all := make([]stratum, 0, clusters)
	for _, t := range strata {
		for range int(t.m) {
			all = append(all, t)
		}
	}
	return func(rng *rand.Rand) (r sums) {
		for range all {
			t := &all[rng.Uint64N(uint64(len(all)))]
			r.n += t.n
			r.e += t.e
			r.ee += t.e * t.e
			r.en += t.n * t.e
			r.nn += t.n * t.n
		}
		return r
	}
}

func drawCounts(strata []stratum, clusters int) func(*rand.Rand) sums {
	return func(rng *rand.Rand) (r sums) {
		left, mass := clusters, float64(clusters)
		for _, t := range strata {
			if left == 0 {
				break
			}
			w := float64(binomial(rng, left, math.Min(t.m/mass, 1)))
			left -= int(w)
			mass -= t.m
			e := w * t.e
			if t.sd > 0 && w > 0 {
				e += math.Sqrt(w) * t.sd * rng.NormFloat64()
			}
			t.add(&r, w, e)
		}
		return r
	}
}

// strata are the distinct clusters or, if these are too many, a grid of cells
// with about the same number of distinct clusters, by size and residual. A cell
// represents its clusters by their mean size and residual; the sampler adds the
// variance within it, so the resampled mean keeps its variance.
func (s summary) strata() []stratum {
	const side = 16
	convert := func(cells []cell) []stratum {
		ts := make([]stratum, len(cells))
		for i, x := range cells {
			ts[i] = stratum{n: x.n, e: s.residual(x.n, x.sum), m: x.m}
		}
		return ts
	}
	if len(s.cells) <= side*side || s.clusters <= maxSingle {
		return convert(s.cells)
	}
	var out []stratum
	for row := range slices.Chunk(s.cells, split(len(s.cells), side)) { // sorted by size
		ts := convert(row)
		slices.SortStableFunc(ts, func(a, b stratum) int { return compare(a.e, b.e) })
		for cell := range slices.Chunk(ts, split(len(ts), side)) {
			out = append(out, pool(cell))
		}
	}
	return out
}

// split is the length of a run that cuts n entries into at most k.
func split(n, k int) int { return (n + k - 1) / k }

func pool(ts []stratum) stratum {
	var p stratum
	for _, t := range ts {
		p.m += t.m
		p.n += t.m * t.n
		p.e += t.m * t.e
	}
	p.n /= p.m
	p.e /= p.m
	var q float64
	for _, t := range ts {
		q += t.m * (t.e - p.e) * (t.e - p.e)
	}
	p.sd = math.Sqrt(q / p.m)
	return p
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
