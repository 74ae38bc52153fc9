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

// BootstrapOptions are the settings of a bootstrap. The zero value means
// 10,000 draws, level 0.95, seed 0, unbounded.
type BootstrapOptions struct {
	Draws  int
	Level  float64
	Seed   uint64
	Bounds Bounds
}

func (o BootstrapOptions) withDefaults() BootstrapOptions {
	if o.Draws <= 0 {
		o.Draws = DefaultDraws
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Bounds == (Bounds{}) {
		o.Bounds = Unbounded
	}
	checkLevel(o.Level)
	return o
}

// Bootstrap is the outcome of resampling. Value is the statistic of the data,
// Mean and SE the mean and standard deviation of the Draws resampled ones.
type Bootstrap struct {
	Value, Mean, SE float64
	Draws           int
	Skipped         int // draws for which the statistic is undefined
	Interval        Interval
	Warnings        []Warning
}

// quantile of sorted values by linear interpolation (type 7 of Hyndman and
// Fan 1996, the default of numpy and R).
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) {
		return math.NaN()
	}
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
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

// UnitBootstrap resamples n independent units with replacement for any
// statistic of them, as an agreement or a correlation. stat gets the indices
// of the units in a resample (length n, from 0 to n-1, with repeats) and
// returns NaN where it is undefined; it is called at once from several
// goroutines and must not keep the slice. The interval is between quantiles of the
// resampled values (Efron 1979); it undercovers with few units. Resamples without
// a value are left out and counted in a warning. Deterministic in the seed. The
// interval is undefined when the statistic is.
func UnitBootstrap(n int, stat func(units []int) float64, o BootstrapOptions) Bootstrap {
	o = o.withDefaults()
	b := Bootstrap{
		Value: math.NaN(), Mean: math.NaN(), SE: math.NaN(), Draws: o.Draws,
		Interval: undefined(o.Level, "bootstrap-percentile"),
		Warnings: sizeWarnings(n, n),
	}
	if n == 0 {
		return b
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	b.Value = stat(all)
	if n == 1 || math.IsNaN(b.Value) {
		return b
	}
	draws := make([]float64, o.Draws)
	parallelBlocks(o.Draws, o.Seed, func(rng *rand.Rand, lo, hi int) {
		units := make([]int, n)
		for i := lo; i < hi; i++ {
			for j := range units {
				units[j] = rng.IntN(n)
			}
			draws[i] = stat(units)
		}
	})
	b.read(draws, o)
	return b
}

// read fills in b from resampled values.
func (b *Bootstrap) read(draws []float64, o BootstrapOptions) {
	defined := slices.DeleteFunc(draws, math.IsNaN)
	if b.Skipped = o.Draws - len(defined); b.Skipped > 0 {
		b.Warnings = append(b.Warnings, Warning{Code: SkippedDraw, Have: b.Skipped})
	}
	if len(defined) == 0 {
		return
	}
	b.Mean, b.SE = meanSD(defined)
	slices.Sort(defined)
	if defined[0] == defined[len(defined)-1] {
		b.Warnings = append(b.Warnings, Warning{Code: NoVariation})
		return
	}
	b.Interval.Low, b.Interval.High = quantile(defined, (1-o.Level)/2), quantile(defined, (1+o.Level)/2)
	b.Interval = o.Bounds.clip(b.Interval)
}

// block is the number of draws that share a random stream; results do not
// depend on how blocks are spread over processors.
const block = 250

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
