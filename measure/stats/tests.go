package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Test is the result of a t-test of a mean or a difference. P is two-sided; Effect is the estimate minus its null
// value in units of the standard deviation of observations (Cohen's d). NaN if undefined.
type Test struct {
	Value, SE, Statistic, DF float64
	P, Effect                float64
}

// Interval is the t interval of the tested value (TInterval).
func (t Test) Interval(bounds Bounds, level float64) Interval {
	return TInterval(t.Value, t.SE, t.DF, bounds, level)
}

// TTest is Student's one-sample t-test of the mean against null. It treats all observations as independent: with
// clustered ones its p-value is too small (Miller 2024, section 2.2). On differences it is the paired t-test. As in
// scipy ttest_1samp and ttest_rel. SE, Statistic and P are NaN with fewer than two observations; without variation
// P is NaN too.
func TTest(c *Clusters, null float64) Test {
	s := c.summary()
	return s.test(null, s.stdDev()/math.Sqrt(s.n), s.n-1)
}

// ClusterTTest is the one-sample t-test of the mean against null with the CR2 standard error and the degrees of
// freedom of Imbens and Kolesár (2016), as in Mean. It assumes independent clusters. NaN with fewer than two
// clusters or if clusters do not vary.
func ClusterTTest(c *Clusters, null float64) Test {
	s := c.summary()
	return s.test(null, s.stdErr(), s.df(s.icc()))
}

func (s summary) test(null, se, df float64) Test {
	t := quotient(s.mean-null, se)
	return Test{Value: s.mean, SE: se, Statistic: t, DF: df, P: tTwoSided(t, df),
		Effect: quotient(s.mean-null, s.stdDev())}
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

// McNemar is the exact two-sided p-value of McNemar's test (1947): b and c count the pairs in which only the first
// or only the second is a success, and given b+c the null distribution of b is binomial(b+c, 1/2). Pairs must be
// independent: with clustered pairs use SignFlip. 1 without discordant pairs; NaN for negative counts. As in
// statsmodels mcnemar(exact=True) and R binom.test(b, b+c).
func McNemar(b, c int) float64 {
	if b < 0 || c < 0 {
		return math.NaN()
	}
	if b == c {
		return 1
	}
	lo, hi := float64(min(b, c)), float64(max(b, c))
	// P(X <= lo) for binomial(lo+hi, 1/2).
	return math.Min(1, 2*mathext.RegIncBeta(hi, lo+1, 0.5))
}

// Holm adjusts the p-values of a declared family of tests (Holm 1979): to reject where the adjusted value is at
// most alpha keeps the chance of any false rejection at most alpha, whatever the dependence. The family is all of
// ps, NaN entries excepted: they were not tested and stay NaN. As in R p.adjust(method="holm"). It panics on a
// p-value outside [0, 1].
func Holm(ps []float64) []float64 {
	out, order := ascending(ps)
	least := 0.0
	for rank, i := range order {
		least = math.Max(least, math.Min(1, float64(len(order)-rank)*ps[i]))
		out[i] = least
	}
	return out
}

// BenjaminiHochberg adjusts p-values so that to reject where the adjusted value is at most
// alpha keeps the expected share of false ones among the rejections at most alpha, if
// tests are independent or positively dependent (Benjamini and Hochberg 1995; Benjamini
// and Yekutieli 2001). NaN and panics as in Holm. As in R p.adjust(method="BH").
func BenjaminiHochberg(ps []float64) []float64 {
	out, order := ascending(ps)
	least := 1.0
	for rank, i := range slices.Backward(order) {
		least = math.Min(least, float64(len(order))/float64(rank+1)*ps[i])
		out[i] = least
	}
	return out
}

// ascending are the indexes of p-values that were tested in their order, and as many NaN.
func ascending(ps []float64) (nan []float64, order []int) {
	for i, p := range ps {
		if p < 0 || p > 1 {
			panic(fmt.Sprintf("stats: p-value %v is not between 0 and 1", p))
		}
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	return slices.Repeat([]float64{math.NaN()}, len(ps)), order
}
