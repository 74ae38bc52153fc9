package stats

import "math"

// stdErr is the cluster-robust standard error of the mean, taken as a ratio of sums (an intercept-only regression):
// CR2, which divides each squared cluster residual by 1 - n_g/N and so is unbiased for independent observations
// (Bell and McCaffrey 2002). It assumes that clusters are independent. NaN with fewer than two clusters.
func (s summary) stdErr() float64 {
	if s.clusters < 2 || math.IsNaN(s.mean) {
		return math.NaN()
	}
	var v float64
	for _, x := range s.cells {
		e := s.residual(x.n, x.sum) / math.Sqrt(1-x.n/s.n)
		v += x.m * e * e
	}
	return math.Sqrt(v) / s.n
}

// residual is the sum of a cluster minus what the mean expects of its size; 0
// where only rounding differs, so that equal clusters have no variance.
func (s summary) residual(n, sum float64) float64 {
	e := sum - s.mean*n
	if math.Abs(e) <= 1e-14*(math.Abs(sum)+math.Abs(s.mean)*n) {
		return 0
	}
	return e
}

// icc is the intraclass correlation: the mean product of two residuals of one cluster over the variance, cut to [0,
// 1] (Imbens and Kolesár 2016, section 4). NaN when no cluster has two observations or nothing varies.
func (s summary) icc() float64 {
	var within, pairs, total float64
	for _, x := range s.cells {
		e := s.residual(x.n, x.sum)
		q := x.about(s.mean)
		within += x.m * (e*e - q)
		pairs += x.m * x.n * (x.n - 1)
		total += x.m * q
	}
	if pairs == 0 || !(total > 0) {
		return math.NaN()
	}
	return math.Min(math.Max(within/pairs/(total/s.n), 0), 1)
}

// df are Satterthwaite degrees of freedom of the CR2 variance (Bell and McCaffrey 2002) when two observations of a
// cluster have correlation rho (Imbens and Kolesár 2016); rho 0 is Bell and McCaffrey's own choice. For N clusters
// of one observation they are N-1. NaN with fewer than two clusters.
func (s summary) df(rho float64) float64 {
	if s.clusters < 2 {
		return math.NaN()
	}
	if math.IsNaN(rho) {
		rho = 0
	}
	// The cluster sums have variance D = diag(v). Their residuals have M = (I - h 1') D (I - 1 h') = D - h u' - u
	// h', with u = v - h T/2 and T = sum v. With A = diag(1/(1-h)), df = tr(AM)^2 / tr(AMAM).
	v := func(x cell) float64 { return x.n * (1 + (x.n-1)*rho) }
	var t float64
	for _, x := range s.cells {
		t += x.m * v(x)
	}
	var trace, dd, dhu, hu, hh, uu float64
	for _, x := range s.cells {
		h := x.n / s.n
		a, d := 1/(1-h), v(x)
		u := d - h*t/2
		trace += x.m * a * (d - 2*h*u)
		dd += x.m * a * a * d * d
		dhu += x.m * a * a * d * h * u
		hu += x.m * a * h * u
		hh += x.m * a * h * h
		uu += x.m * a * u * u
	}
	return trace * trace / (dd - 4*dhu + 2*hu*hu + 2*hh*uu)
}

// Combine estimates f of the means of several parts, a smooth function such as the mean over languages or the
// harmonic mean of two rates, by the delta method over clusters; f is also evaluated 0.2 % beside the means.
// Clusters with the same number in different parts are the same cluster, so figures over shared items are handled;
// clusters added with AddIndependent are not shared.
//
// The influence of a cluster is the sum over the parts of df/dmean times its CR2-adjusted residual over N; the
// variance is the sum of squared influences. Within one part this is CR2, as in Mean. The degrees of freedom are
// Satterthwaite's over the parts, at most the number of clusters less one where parts share clusters. With finite
// bounds, which apply to every mean and to f, the interval is on the logit scale. Where no variance shows, it
// is as in Mean, on the effective n that f's weights give; so it is, with a warning, where a part has one cluster.
// Parts that are each constant but differ are not equal values: that a part of few clusters is constant says little
// about it, and a mean of rates that differ varies at most as one of equal rates does (Hoeffding 1956).
// The ICC is NaN. A part without a mean makes the result undefined.
func Combine(parts []*Clusters, f func(means []float64) float64, bounds Bounds, level float64) Estimate {
	checkLevel(level)
	e := Estimate{Value: math.NaN(), SE: math.NaN(), DF: math.NaN(), ICC: math.NaN(),
		Interval: undefined(level, robust+methodT)}
	sums := make([]summary, len(parts))
	means := make([]float64, len(parts))
	bad := 0
	outside, equal := false, true
	for k, c := range parts {
		sums[k] = c.summary()
		means[k] = sums[k].mean
		e.N += c.n
		bad += c.bad
		equal = equal && c.lo == c.hi && c.lo == parts[0].lo
		outside = outside || c.n > 0 && (c.lo < bounds.Low || c.hi > bounds.High)
	}
	var shared bool
	e.Clusters, shared = countClusters(parts)
	e.Warnings = sizeWarnings(e.N, e.Clusters)
	if bad > 0 {
		e.Warnings = append(e.Warnings, Warning{Code: NotFinite, Have: bad})
	}
	if k := countNaN(means); k > 0 {
		e.Warnings = append(e.Warnings, Warning{Code: UndefinedPart, Have: k})
		return e
	}
	if len(parts) == 0 {
		return e
	}
	e.Value = f(means)
	if outside {
		e.Warnings = append(e.Warnings, Warning{Code: OutOfBounds})
		return e
	}
	slope := gradient(f, means)
	e.SE = influenceSE(parts, sums, slope)
	var total, pooled, weight, inverse float64
	lone := 0
	for k, s := range sums {
		if s.clusters == 1 {
			lone++
		}
		v := slope[k] * s.stdErr()
		total += v * v
		if v != 0 {
			pooled += v * v * v * v / s.df(s.icc())
		}
		weight += math.Abs(slope[k])
		inverse += slope[k] * slope[k] / parts[k].effectiveN()
	}
	e.DF = quotient(total*total, pooled)
	if shared {
		e.DF = math.Min(e.DF, float64(e.Clusters-1))
	}
	if e.SE > 0 {
		e.Interval = TInterval(e.Value, e.SE, e.DF, bounds, level)
		e.Interval.Method = robust + e.Interval.Method
		return e
	}
	if e.SE == 0 {
		e.Warnings = append(e.Warnings, Warning{Code: NoVariation})
	}
	if lone > 0 && len(parts) > 1 {
		e.Warnings = append(e.Warnings, Warning{Code: LonePart, Have: lone})
	}
	e.Interval = withoutVariance(e.Value, quotient(weight*weight, inverse), equal, bounds, level)
	return e
}

// countClusters counts distinct clusters and reports whether parts share any.
func countClusters(parts []*Clusters) (n int, shared bool) {
	low, high := numbers(parts)
	known := make([]bool, high-low+1)
	for _, c := range parts {
		for cluster := range c.index {
			if known[cluster-low] {
				shared = true
			} else {
				known[cluster-low] = true
				n++
			}
		}
		n += c.Len() - len(c.groups)
	}
	return n, shared
}

// numbers are the lowest and the highest number of a cluster, or 0.
func numbers(parts []*Clusters) (low, high Cluster) {
	for _, c := range parts {
		for cluster := range c.index {
			low, high = min(low, cluster), max(high, cluster)
		}
	}
	return low, high
}

func influenceSE(parts []*Clusters, sums []summary, slope []float64) float64 {
	low, high := numbers(parts)
	clusters := make([]float64, high-low+1)
	var squares []float64
	for k, c := range parts {
		s := sums[k]
		if s.clusters < 2 {
			return math.NaN()
		}
		influence := func(n, sum float64) float64 {
			return slope[k] * s.residual(n, sum) / math.Sqrt(1-n/s.n) / s.n
		}
		for cluster, i := range c.index {
			g := c.groups[i]
			clusters[cluster-low] += influence(float64(g.n), g.sum)
		}
		for value, m := range c.single {
			u := influence(1, value)
			squares = append(squares, float64(m)*u*u)
		}
		for _, g := range c.rest {
			u := influence(float64(g.n), g.sum)
			squares = append(squares, u*u)
		}
	}
	for _, u := range clusters {
		if u != 0 {
			squares = append(squares, u*u)
		}
	}
	return math.Sqrt(sortedSum(squares))
}

// gradient of f by five-point differences, exact to about 1e-12 for smooth f.
func gradient(f func([]float64) float64, at []float64) []float64 {
	x := append([]float64(nil), at...)
	out := make([]float64, len(x))
	for k := range x {
		h := 1e-3 * math.Max(math.Abs(at[k]), 1e-3)
		value := func(steps float64) float64 {
			x[k] = at[k] + steps*h
			return f(x)
		}
		out[k] = (8*(value(1)-value(-1)) - (value(2) - value(-2))) / (12 * h)
		x[k] = at[k]
	}
	return out
}

func countNaN(xs []float64) (n int) {
	for _, x := range xs {
		if math.IsNaN(x) {
			n++
		}
	}
	return n
}
