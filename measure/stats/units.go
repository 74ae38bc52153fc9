package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

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
