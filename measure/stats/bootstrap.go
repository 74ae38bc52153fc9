package stats

import (
	"math"
	"slices"
)

// BootstrapMethod says how an interval is read off the resampled means.
type BootstrapMethod string

const (
	// Percentile takes the quantiles of the resampled means (Efron 1979).
	// It undercovers with few clusters.
	Percentile BootstrapMethod = "percentile"
	// BCa corrects the quantiles for bias and skewness (Efron 1987), with
	// the acceleration from the jackknife over clusters.
	BCa BootstrapMethod = "bca"
)

// DefaultDraws is the number of resamples when none is given.
const DefaultDraws = 10000

// BootstrapOptions are the settings of a bootstrap. The zero value means
// percentile, 10,000 draws, level 0.95, seed 0, unbounded.
type BootstrapOptions struct {
	Method BootstrapMethod
	Draws  int
	Level  float64
	Seed   uint64
	Bounds Bounds
}

func (o BootstrapOptions) withDefaults() BootstrapOptions {
	if o.Method == "" {
		o.Method = Percentile
	}
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

// biasZ is the normal quantile of the share of resampled statistics below the
// observed one, ties counted half, kept off 0 and 1.
func biasZ(sorted []float64, value float64) float64 {
	lo, _ := slices.BinarySearch(sorted, value)
	hi := lo
	for hi < len(sorted) && sorted[hi] == value {
		hi++
	}
	b := float64(len(sorted))
	p := (float64(lo) + float64(hi)) / 2 / b
	return normalQuantile(math.Min(math.Max(p, 0.5/b), 1-0.5/b))
}

// bcaLevel is the corrected level of Efron (1987), equation 6.8.
func bcaLevel(p, z0, a float64) float64 {
	z := z0 + normalQuantile(p)
	return normalCDF(z0 + z/(1-a*z))
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
