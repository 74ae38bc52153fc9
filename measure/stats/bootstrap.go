package stats

import (
	"math"
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
