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
	// Studentized takes the quantiles of (mean* - mean)/se*, with the CR0
	// standard error of each resample (Davison and Hinkley 1997, section
	// 5.2.1). It can leave the bounds and is then cut.
	Studentized BootstrapMethod = "studentized"
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
	Interval        Interval
	Warnings        []Warning
}

// ClusterBootstrap resamples whole clusters with replacement and recomputes
// the mean of all observations, a ratio of sums. Equal data, options and seed
// give equal results, whatever the order of the data and the number of
// processors. Clusters with equal count and sum are drawn together; more than
// 20,000 clusters of more than 256 kinds are pooled by size and mean into 256
// cells that keep the variance of the mean.
//
// The interval is undefined, with a warning, when there are fewer than two
// clusters or their means are all equal: resampling shows no variance then.
// Use Mean for an interval that covers with few clusters.
func ClusterBootstrap(c *Clusters, o BootstrapOptions) Bootstrap {
	o = o.withDefaults()
	s := c.summary()
	b := Bootstrap{
		Value: s.mean, Mean: math.NaN(), SE: math.NaN(), Draws: o.Draws,
		Interval: undefined(o.Level, "cluster-bootstrap-"+string(o.Method)),
		Warnings: s.warnings,
	}
	se := s.stdErr(CR0)
	if !(se > 0) {
		if se == 0 {
			b.Warnings = append(b.Warnings, Warning{Code: NoVariation})
		}
		return b
	}
	sums := s.resample(o.Draws, o.Seed)
	means := make([]float64, o.Draws)
	for i, r := range sums {
		means[i] = s.mean + r.e/r.n
	}
	if o.Method != Studentized {
		b.read(means, s.acceleration(), o)
		return b
	}
	b.Mean, b.SE = meanSD(means)
	ts := make([]float64, 0, len(sums))
	for i, r := range sums {
		if t := (means[i] - s.mean) / r.stdErr(); !math.IsNaN(t) && !math.IsInf(t, 0) {
			ts = append(ts, t)
		}
	}
	if k := len(sums) - len(ts); k > 0 {
		b.Warnings = append(b.Warnings, Warning{Code: SkippedDraw, Have: k})
	}
	if len(ts) == 0 {
		return b
	}
	slices.Sort(ts)
	tail := (1 - o.Level) / 2
	b.Interval.Low = s.mean - se*quantile(ts, 1-tail)
	b.Interval.High = s.mean - se*quantile(ts, tail)
	b.Interval = o.Bounds.clip(b.Interval)
	return b
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

// acceleration is sum d^3 / (6 (sum d^2)^1.5) over the jackknife differences
// d of leaving out one cluster.
func (s summary) acceleration() float64 {
	// Leaving out cluster g moves the mean by -e_g / (N - n_g).
	d := func(x cell) float64 { return (x.sum - s.mean*x.n) / (s.n - x.n) }
	var mean, d2, d3 float64
	for _, x := range s.cells {
		mean += x.m * d(x) / s.clusters
	}
	for _, x := range s.cells {
		v := d(x) - mean
		d2 += x.m * v * v
		d3 += x.m * v * v * v
	}
	if d2 == 0 {
		return 0
	}
	return d3 / (6 * math.Pow(d2, 1.5))
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
