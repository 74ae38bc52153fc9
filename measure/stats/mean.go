package stats

import "math"

// Estimate is a mean with its precision. SE is the standard error (CR2), DF its
// degrees of freedom, ICC the intraclass correlation; each is NaN if undefined.
type Estimate struct {
	Value, SE, DF, ICC float64
	N, Clusters        int
	Interval           Interval
	Warnings           []Warning
}

// P is the two-sided p-value of the t-test of the estimate against null, with
// its own standard error and degrees of freedom. NaN without visible variance.
func (e Estimate) P(null float64) float64 {
	return tTwoSided(quotient(e.Value-null, e.SE), e.DF)
}

// MinDetectable is the smallest true value, other than 0, that data with this standard error and these degrees of
// freedom detect at two-sided significance alpha with the stated power: (t_{alpha/2} + t_beta) SE. NaN without
// visible variance, or unless alpha and power are between 0 and 1.
func (e Estimate) MinDetectable(alpha, power float64) float64 {
	if !(e.SE > 0 && e.DF > 0 && alpha > 0 && alpha < 1 && power > 0 && power < 1) {
		return math.NaN()
	}
	beta := tQuantile(math.Max(power, 1-power), e.DF)
	if power < 0.5 {
		beta = -beta
	}
	return (tQuantile(1-alpha/2, e.DF) + beta) * e.SE
}

// The names of intervals in Interval.Method. Those of Mean and Combine begin with "cluster-robust-".
const (
	methodT          = "t"
	methodLogitT     = "logit-t"
	methodWilson     = "wilson"
	methodClopper    = "clopper-pearson"
	methodEffectiveN = "exact-effective-n"
	robust           = "cluster-robust-"
)

// Mean estimates the mean of clustered observations with an interval of the stated level. It is the default of all
// instruments; the package comment has the measured coverage.
//
//   - Bounds finite: the standard error is CR2, the quantile Student's t with the degrees of freedom of Imbens and
//     Kolesár (2016), and the interval is symmetric on the logit scale, so it never leaves the bounds
//     ("cluster-robust-logit-t").
//   - Unbounded: the same on the plain scale ("cluster-robust-t").
//   - Independent 0/1 observations: Wilson, or, below MinItems, Clopper and Pearson.
//   - One cluster, or clusters that all have the same mean: the data show no variance. With finite bounds the
//     interval is as if the observations of a cluster were one, by Kish's effective n = (sum n)^2 / sum n^2: where
//     all values are equal, another value has a share of at most 1-(alpha/2)^(1/n), else Clopper and Pearson's
//     ("exact-effective-n"). Without bounds it is undefined. A warning says so.
//
// Assumptions: clusters are independent draws from the population of interest; their sizes carry no information on
// their values. Undefined figures are NaN with a warning. Mean panics if level is not between 0 and 1.
func Mean(c *Clusters, bounds Bounds, level float64) Estimate {
	checkLevel(level)
	s := c.summary()
	e := Estimate{
		Value: s.mean, SE: s.stdErr(), ICC: s.icc(), DF: math.NaN(),
		N: c.n, Clusters: int(s.clusters),
		Interval: undefined(level, robust+methodT), Warnings: s.warnings,
	}
	if math.IsNaN(e.Value) {
		return e
	}
	if c.lo < bounds.Low || c.hi > bounds.High {
		e.Warnings = append(e.Warnings, Warning{Code: OutOfBounds})
		return e
	}
	e.DF = s.df(e.ICC)
	switch {
	case bounds == Proportion && s.binary():
		x := math.Round(s.mean * s.n)
		if c.n < MinItems {
			e.Interval = ClopperPearson(x, s.n, level)
		} else {
			e.Interval = Wilson(x, s.n, level)
		}
	case e.SE > 0:
		e.Interval = TInterval(e.Value, e.SE, e.DF, bounds, level)
		e.Interval.Method = robust + e.Interval.Method
	default:
		if e.SE == 0 {
			e.Warnings = append(e.Warnings, Warning{Code: NoVariation})
		}
		e.Interval = withoutVariance(e.Value, c.effectiveN(), c.lo == c.hi, bounds, level)
	}
	return e
}

// withoutVariance is the interval of a value without visible variance in the
// data, from n independent observations, all equal or not.
func withoutVariance(value, n float64, equal bool, bounds Bounds, level float64) Interval {
	if !bounds.Finite() {
		return undefined(level, robust+methodT)
	}
	p := bounds.unit(value)
	i := ClopperPearson(n*p, n, level)
	if equal {
		other := 1 - math.Pow((1-level)/2, 1/n)
		i.Low, i.High = p-other*p, p+other*(1-p)
	}
	return bounds.interval(i.Low, i.High, level, methodEffectiveN)
}

// TInterval is value ± t se, with the quantile of Student's t with df degrees of freedom (infinite: the normal).
// With finite bounds it is symmetric on the logit scale of the bounds (delta method; Agresti 2013, section 3.1.7)
// and cannot leave them. Undefined unless se > 0 and the value lies strictly inside the bounds.
func TInterval(value, se, df float64, bounds Bounds, level float64) Interval {
	checkLevel(level)
	method := methodT
	if bounds.Finite() {
		method = methodLogitT
	}
	if !(se > 0 && df > 0) {
		return undefined(level, method)
	}
	r := tQuantile((1+level)/2, df) * se
	if !bounds.Finite() {
		return bounds.clip(Interval{Low: value - r, High: value + r, Level: level, Method: method, DF: df})
	}
	p := bounds.unit(value)
	if !(p > 0 && p < 1) {
		return undefined(level, method)
	}
	l := math.Log(p / (1 - p))
	r /= (bounds.High - bounds.Low) * p * (1 - p)
	i := bounds.interval(logistic(l-r), logistic(l+r), level, method)
	i.DF = df
	return i
}

// AtLevel is the interval of a mean of n observations at another level: recomputed for
// independent observations, else its distances from the value, on the logit scale of
// its range, times the ratio of the quantiles. It does not leave the range.
func AtLevel(i Interval, value float64, n int, level float64) Interval {
	checkLevel(level)
	switch i.Method {
	case methodWilson:
		return Wilson(math.Round(value*float64(n)), float64(n), level)
	case methodClopper:
		return ClopperPearson(math.Round(value*float64(n)), float64(n), level)
	}
	bounds := Bounds{i.Range[0], i.Range[1]}
	if !bounds.Finite() {
		bounds = Unbounded
	}
	p := bounds.unit(value)
	low, high := p-bounds.unit(i.Low), bounds.unit(i.High)-p
	if i.Method == methodEffectiveN && math.Abs(low*(1-p)-high*p) < 1e-9 { // all values are equal
		// One less the width is (1-level)/2 to the power 1/n.
		width := 1 - math.Pow(1-low-high, math.Log((1-level)/2)/math.Log((1-i.Level)/2))
		return bounds.interval(p-width*p, p+width*(1-p), level, i.Method)
	}
	scale := NormalQuantile((1+level)/2) / NormalQuantile((1+i.Level)/2)
	if i.DF > 0 {
		scale = tQuantile((1+level)/2, i.DF) / tQuantile((1+i.Level)/2, i.DF)
	}
	to, back := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if p > 0 && p < 1 {
		to = func(x float64) float64 { x = bounds.unit(x); return math.Log(x / (1 - x)) }
		back = func(x float64) float64 { return bounds.back(logistic(x)) }
	}
	v := to(value)
	i.Low, i.High, i.Level = back(v-scale*(v-to(i.Low))), back(v+scale*(to(i.High)-v)), level
	return bounds.clip(i)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
