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
// goroutines and must not keep the slice. The method is Percentile or BCa,
// the latter with n more calls for the jackknife. Resamples without a value
// are left out and counted in a warning. Deterministic in the seed. The
// interval is undefined when the statistic is.
func UnitBootstrap(n int, stat func(units []int) float64, o BootstrapOptions) Bootstrap {
	o = o.withDefaults()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	b := Bootstrap{
		Value: math.NaN(), Mean: math.NaN(), SE: math.NaN(), Draws: o.Draws,
		Interval: undefined(o.Level, "bootstrap-"+string(o.Method)),
		Warnings: sizeWarnings(n, n),
	}
	if n == 0 {
		return b
	}
	b.Value = stat(slices.Clone(all))
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
	acceleration := 0.0
	if o.Method == BCa {
		left := make([]float64, n)
		for i := range left {
			left[i] = stat(slices.Delete(slices.Clone(all), i, i+1))
		}
		acceleration = jackknifeAcceleration(left)
	}
	b.read(draws, acceleration, o)
	return b
}

// read fills in b from resampled values by percentile or BCa.
func (b *Bootstrap) read(draws []float64, acceleration float64, o BootstrapOptions) {
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
	lo, hi := (1-o.Level)/2, (1+o.Level)/2
	switch o.Method {
	case Percentile:
	case BCa:
		z0 := biasZ(defined, b.Value)
		lo, hi = bcaLevel(lo, z0, acceleration), bcaLevel(hi, z0, acceleration)
	default:
		panic("stats: no " + string(o.Method) + " bootstrap of this statistic")
	}
	b.Interval.Low, b.Interval.High = quantile(defined, lo), quantile(defined, hi)
	b.Interval = o.Bounds.clip(b.Interval)
}

// jackknifeAcceleration is Efron's (1987) acceleration from the statistics
// that leave out one unit each.
func jackknifeAcceleration(left []float64) float64 {
	mean, _ := meanSD(left)
	var d2, d3 float64
	for _, x := range left {
		d := mean - x
		d2 += d * d
		d3 += d * d * d
	}
	if d2 == 0 {
		return 0
	}
	return d3 / (6 * math.Pow(d2, 1.5))
}
