package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// DefaultDraws is the number of resamples when none is given.
const DefaultDraws = 10000

// Bootstrap is the outcome of resampling. Value is the statistic of the data,
// Mean and SE the mean and standard deviation of the resampled ones.
type Bootstrap struct {
	Value, Mean, SE float64
	Skipped         int // draws for which the statistic is undefined
	Interval        Interval
	Warnings        []Warning
}

// UnitBootstrap resamples n independent units with replacement for any statistic of them, as an agreement or a
// correlation. stat gets the indices of the units in a resample (length n, from 0 to n-1, with repeats) and returns
// NaN where it is undefined; it is called at once from several goroutines and must not keep the slice. The interval
// is between quantiles of the resampled values (Efron 1979); it undercovers with few units. Resamples without a
// value are left out and counted in a warning. Deterministic in the seed. The interval is undefined when the
// statistic is. draws <= 0 means DefaultDraws.
func UnitBootstrap(n int, stat func(units []int) float64, draws int, level float64, seed uint64) Bootstrap {
	checkLevel(level)
	b := Bootstrap{Value: math.NaN(), Mean: math.NaN(), SE: math.NaN(),
		Interval: undefined(level, "bootstrap-percentile"), Warnings: sizeWarnings(n, n)}
	if n == 0 {
		return b
	}
	if draws <= 0 {
		draws = DefaultDraws
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if b.Value = stat(all); n == 1 || math.IsNaN(b.Value) {
		return b
	}
	values := make([]float64, draws)
	parallelBlocks(draws, seed, func(rng *rand.Rand, lo, hi int) {
		units := make([]int, n)
		for i := lo; i < hi; i++ {
			for j := range units {
				units[j] = rng.IntN(n)
			}
			values[i] = stat(units)
		}
	})
	values = slices.DeleteFunc(values, math.IsNaN)
	if b.Skipped = draws - len(values); b.Skipped > 0 {
		b.Warnings = append(b.Warnings, Warning{Code: SkippedDraw, Have: b.Skipped})
	}
	if len(values) == 0 {
		return b
	}
	b.Mean, b.SE = meanSD(values)
	slices.Sort(values)
	if values[0] == values[len(values)-1] {
		b.Warnings = append(b.Warnings, Warning{Code: NoVariation})
		return b
	}
	b.Interval.Low, b.Interval.High = quantile(values, (1-level)/2), quantile(values, (1+level)/2)
	return b
}

// quantile of several sorted values, with p in (0, 1), by linear interpolation (type 7 of Hyndman and
// Fan 1996, the default of numpy and R).
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// meanSD is the mean and the standard deviation (divisor n-1).
func meanSD(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	var q float64
	for _, x := range xs {
		q += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(q / float64(len(xs)-1))
}

// block is the number of draws that share a random stream; results do not
// depend on how blocks are spread over processors.
const block = 250

// parallelBlocks calls f for every block of draws with the block's own generator, on all processors.
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
