package stats

import "math"

// Estimate is a mean with what is needed to judge it. SE is the standard
// error (CR2), DF its degrees of freedom, ICC the intraclass correlation;
// each is NaN where undefined.
type Estimate struct {
	Value, SE, DF, ICC float64
	N, Clusters        int
	Interval           Interval
	Warnings           []Warning
}

// Methods of Mean, as they stand in Interval.Method.
const (
	RobustLogit   = "cluster-robust-logit"
	RobustT       = "cluster-robust-t"
	EffectiveN    = "clopper-pearson-effective-n"
	MethodWilson  = "wilson"
	MethodClopper = "clopper-pearson"
)

// Mean estimates the mean of clustered observations with an interval of the
// stated level. It is the default of all instruments; the package comment has
// the measured coverage.
//
//   - Bounds finite: the standard error is CR2, the quantile Student's t with
//     the degrees of freedom of Imbens and Kolesár (2016), and the interval is
//     symmetric on the logit scale, so it never leaves the bounds
//     ("cluster-robust-logit").
//   - Unbounded: the same on the plain scale ("cluster-robust-t").
//   - Fewer than MinItems independent 0/1 observations: Clopper and Pearson.
//   - One cluster, or clusters that all have the same mean: the data show no
//     variance. With finite bounds the interval is Clopper and Pearson's on
//     Kish's effective n of fully correlated clusters, which no distribution
//     within the bounds and with that effective n undercuts by much; without
//     bounds it is undefined. A warning says so.
//
// Assumptions: clusters are independent draws from the population that the
// figure speaks of; their sizes carry no information on their values.
// Undefined figures are NaN with a warning. Mean panics if level is not
// between 0 and 1.
func Mean(c *Clusters, bounds Bounds, level float64) Estimate {
	checkLevel(level)
	s := c.summary()
	e := Estimate{
		Value: s.mean, SE: s.stdErr(CR2), ICC: s.icc(), DF: math.NaN(),
		N: c.n, Clusters: int(s.clusters),
		Interval: undefined(level, RobustT), Warnings: s.warnings,
	}
	if math.IsNaN(e.Value) {
		return e
	}
	if c.lo < bounds.Low || c.hi > bounds.High {
		e.Warnings = append(e.Warnings, Warning{Code: OutOfBounds, Have: c.n})
		return e
	}
	e.DF = s.df(e.ICC)
	switch {
	case bounds == Proportion && c.n < MinItems && s.binary():
		e.Interval = ClopperPearson(s.mean*s.n, s.n, level)
	case e.SE > 0:
		e.Interval = TInterval(e.Value, e.SE, e.DF, bounds, level)
	default:
		if e.SE == 0 {
			e.Warnings = append(e.Warnings, Warning{Code: NoVariation})
		}
		e.Interval = s.withoutVariance(bounds, level)
	}
	return e
}

func (s summary) withoutVariance(bounds Bounds, level float64) Interval {
	if !bounds.Finite() {
		return undefined(level, RobustT)
	}
	n := s.effectiveN()
	i := ClopperPearson(n*bounds.unit(s.mean), n, level)
	return Interval{bounds.back(i.Low), bounds.back(i.High), level, EffectiveN}
}

// TInterval is value ± t se, with the quantile of Student's t with df degrees
// of freedom (infinite: the normal). With finite bounds it is symmetric on
// the logit scale of the bounds (delta method; Agresti 2013, section 3.1.7)
// and cannot leave them. Undefined unless se > 0 and the value lies strictly
// inside the bounds.
func TInterval(value, se, df float64, bounds Bounds, level float64) Interval {
	checkLevel(level)
	method := RobustT
	if bounds.Finite() {
		method = RobustLogit
	}
	if !(se > 0 && df > 0) {
		return undefined(level, method)
	}
	r := tQuantile((1+level)/2, df) * se
	if !bounds.Finite() {
		return bounds.clip(Interval{value - r, value + r, level, method})
	}
	p := bounds.unit(value)
	if !(p > 0 && p < 1) {
		return undefined(level, method)
	}
	l := math.Log(p / (1 - p))
	r /= (bounds.High - bounds.Low) * p * (1 - p)
	return Interval{bounds.back(logistic(l - r)), bounds.back(logistic(l + r)), level, method}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
