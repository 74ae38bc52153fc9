package stats

import (
	"math"
)

// Test is the result of a test of a mean or a difference. P is two-sided;
// Effect is the estimate minus its null value in units of the standard
// deviation of observations (Cohen's d). NaN if undefined.
type Test struct {
	Value, Null       float64
	SE, Statistic, DF float64
	P, Effect         float64
	N, Clusters       int
	Warnings          []Warning
}

// Interval is the t interval of the tested value (TInterval).
func (t Test) Interval(bounds Bounds, level float64) Interval {
	return TInterval(t.Value, t.SE, t.DF, bounds, level)
}

// TTest is Student's one-sample t-test of the mean against null. It treats all
// observations as independent: with clustered ones its p-value is too small
// (Miller 2024, section 2.2). On differences it is the paired t-test. As in
// scipy ttest_1samp and ttest_rel. SE, Statistic and P are NaN with fewer than
// two observations; without variation P is NaN too.
func TTest(c *Clusters, null float64) Test {
	s := c.summary()
	t := s.test(c, null)
	t.SE = s.stdDev() / math.Sqrt(s.n)
	t.DF = s.n - 1
	return t.finish()
}

// ClusterTTest is the one-sample t-test of the mean against null with the CR2
// standard error and the degrees of freedom of Imbens and Kolesár (2016), as in
// Mean. It assumes independent clusters. NaN with fewer than two clusters or if
// clusters do not vary.
func ClusterTTest(c *Clusters, null float64) Test {
	s := c.summary()
	t := s.test(c, null)
	t.SE = s.stdErr()
	t.DF = s.df(s.icc())
	return t.finish()
}

func (s summary) test(c *Clusters, null float64) Test {
	return Test{
		Value: s.mean, Null: null, N: c.n, Clusters: int(s.clusters),
		Effect: quotient(s.mean-null, s.stdDev()), Warnings: s.warnings,
	}
}

func (t Test) finish() Test {
	t.Statistic = quotient(t.Value-t.Null, t.SE)
	t.P = tTwoSided(t.Statistic, t.DF)
	if t.SE == 0 {
		t.Warnings = append(t.Warnings, Warning{Code: NoVariation})
	}
	return t
}

// stdDev is the standard deviation of the observations with divisor N-1.
func (s summary) stdDev() float64 {
	if s.n < 2 || math.IsNaN(s.mean) {
		return math.NaN()
	}
	var q float64
	for _, x := range s.cells {
		q += x.m * x.about(s.mean)
	}
	sd := math.Sqrt(q / (s.n - 1))
	if sd <= 1e-14*math.Abs(s.mean) {
		return 0 // rounding
	}
	return sd
}

// quotient is a/b, NaN when b is 0: an undefined figure is never infinite.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
