package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext"
)

// Test is the result of a t-test of a mean or a difference. P is two-sided; Effect is the estimate minus its null
// value in units of the standard deviation of observations (Cohen's d). NaN if undefined.
type Test struct {
	Value, SE, Statistic, DF float64
	P, Effect                float64
}

// TTest is Student's one-sample t-test of the mean against null. It assumes independent observations: of clustered
// ones p is too small (Miller 2024, section 2.2). On differences it is the paired t-test. As in scipy ttest_1samp
// and ttest_rel. SE, Statistic and P are NaN with fewer than two observations; without variation P is NaN too.
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
// ps but NaN, which stay. As in R p.adjust(method="holm"). It panics on a p-value outside [0, 1].
func Holm(ps []float64) []float64 {
	out, order := ascending(ps)
	least := 0.0
	for rank, i := range order {
		least = math.Max(least, math.Min(1, float64(len(order)-rank)*ps[i]))
		out[i] = least
	}
	return out
}

// BenjaminiHochberg adjusts p-values: to reject where the adjusted value is at most alpha keeps the expected share
// of false rejections at most alpha, if tests are independent or positively dependent (Benjamini and Hochberg 1995;
// Benjamini and Yekutieli 2001). NaN and panics as in Holm. As in R p.adjust(method="BH").
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

// maxExact is the number of varying clusters up to which SignFlip enumerates all 2^16 signs.
const maxExact = 16

// SignFlip is the two-sided p-value of the paired permutation test that a mean difference is zero: under the null
// the two conditions of a cluster can be exchanged, which flips the sign of the cluster's sum of differences
// (Fisher 1935; Good 2005, section 3.2). diffs are the differences; they may be clustered.
//
// With at most 16 clusters of nonzero sum all sign patterns are enumerated and the p-value is exact; else it is
// (c+1)/(draws+1), with c the random patterns at least as extreme as the data (Phipson and Smyth 2010), which never
// understates. draws <= 0 means DefaultDraws. Assumption: within a cluster the conditions are exchangeable under
// the null. 1 when all sums are zero, NaN when the mean is undefined.
func SignFlip(diffs *Clusters, draws int, seed uint64) float64 {
	s := diffs.summary()
	if math.IsNaN(s.mean) {
		return math.NaN()
	}
	var total, scale, varying float64
	cells := slices.DeleteFunc(s.cells, func(x cell) bool { return x.sum == 0 })
	for _, x := range cells {
		total += x.m * x.sum
		scale += x.m * math.Abs(x.sum)
		varying += x.m
	}
	// Patterns whose sums differ by rounding only are equally extreme.
	least := math.Abs(total) - 1e-12*scale
	if varying <= maxExact {
		return flipAll(cells, int(varying), least)
	}
	return permuted(draws, seed, func(rng *rand.Rand, n int) (extreme int) {
		for range n {
			if math.Abs(flip(rng, cells)) >= least {
				extreme++
			}
		}
		return extreme
	})
}

// permuted is (c+1)/(draws+1), with c the number of extreme draws; count returns the number among the next n.
func permuted(draws int, seed uint64, count func(rng *rand.Rand, n int) (extreme int)) float64 {
	if draws <= 0 {
		draws = DefaultDraws
	}
	var extreme atomic.Int64
	parallelBlocks(draws, seed, func(rng *rand.Rand, lo, hi int) { extreme.Add(int64(count(rng, hi-lo))) })
	return float64(extreme.Load()+1) / float64(draws+1)
}

// flip is the total under random signs of all clusters.
func flip(rng *rand.Rand, cells []cell) float64 {
	var total float64
	var bits uint64
	left := 0
	for _, x := range cells {
		if x.m > 1 {
			total += x.sum * (2*float64(binomial(rng, int(x.m), 0.5)) - x.m)
			continue
		}
		if left == 0 {
			bits, left = rng.Uint64(), 64
		}
		// The lowest random bit becomes the sign bit: no branch to mispredict.
		total += math.Float64frombits(math.Float64bits(x.sum) ^ bits<<63)
		bits >>= 1
		left--
	}
	return total
}

// flipAll is the share of all sign patterns with an absolute total of at least least.
func flipAll(cells []cell, clusters int, least float64) float64 {
	var sums []float64
	for _, x := range cells {
		for range int(x.m) {
			sums = append(sums, x.sum)
		}
	}
	hits := 0
	for pattern := range 1 << clusters {
		var total float64
		for g, v := range sums {
			if pattern>>g&1 == 1 {
				v = -v
			}
			total += v
		}
		if math.Abs(total) >= least {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<clusters)
}

// Swap is the paired permutation test that two conditions have the same figure, for a figure that is a function f
// of the means of several parts rather than a plain mean (LCPR). a[k] and b[k] are part k under the two conditions;
// under the null the conditions of a cluster can be exchanged in all parts at once (Good 2005, section 3.2). A part
// can have different observations under the two conditions.
//
// It returns P = (c+1)/(draws+1), where c is the number of random exchanges whose |f(a)-f(b)| is undefined or at
// least the observed one (Phipson and Smyth 2010). draws <= 0 means DefaultDraws. Values added with AddIndependent
// have no counterpart and are not exchanged. P is 1 if no exchange changes anything, and NaN if the figures are
// undefined. For plain means SignFlip is the same test. Random numbers depend on the order of clusters.
func Swap(a, b []*Clusters, order func(a, b Cluster) int, f func(means []float64) float64, draws int,
	seed uint64) float64 {
	first, second := totals(a), totals(b)
	x, y := first.figure(f), second.figure(f)
	if math.IsNaN(x - y) {
		return math.NaN()
	}
	clusters := exchanges(a, b, order)
	if len(clusters) == 0 {
		return 1
	}
	// Exchanges whose figures differ by rounding only are equally extreme.
	least := math.Abs(x-y) - 1e-10*(math.Abs(x)+math.Abs(y))
	return permuted(draws, seed, func(rng *rand.Rand, n int) (extreme int) {
		p, q := slices.Clone(first), slices.Clone(second)
		for range n {
			copy(p, first)
			copy(q, second)
			var bits uint64
			for i, changes := range clusters {
				if i%64 == 0 {
					bits = rng.Uint64()
				}
				if bits>>(i%64)&1 == 1 {
					for _, c := range changes {
						p[c.part].n += c.n
						p[c.part].sum += c.sum
						q[c.part].n -= c.n
						q[c.part].sum -= c.sum
					}
				}
			}
			if d := math.Abs(p.figure(f) - q.figure(f)); d >= least || math.IsNaN(d) {
				extreme++
			}
		}
		return extreme
	})
}

// partTotals are the number and sum of the observations of each part.
type partTotals []struct{ n, sum float64 }

func totals(parts []*Clusters) partTotals {
	t := make(partTotals, len(parts))
	for k, c := range parts {
		s := c.summary()
		t[k].n, t[k].sum = s.n, s.n*s.mean
		if s.n == 0 {
			t[k].sum = 0
		}
	}
	return t
}

func (t partTotals) figure(f func([]float64) float64) float64 {
	means := make([]float64, len(t))
	for k, x := range t {
		means[k] = math.NaN()
		if x.n > 0.5 {
			means[k] = x.sum / x.n
		}
	}
	return f(means)
}

// exchange returns what exchanging a cluster adds to a part of the first condition and subtracts from the second.
type exchange struct {
	part   int
	n, sum float64
}

// exchanges lists, for each cluster in order, what exchanging it changes.
func exchanges(a, b []*Clusters, order func(a, b Cluster) int) [][]exchange {
	known := map[Cluster]int32{}
	for _, c := range slices.Concat(a, b) {
		maps.Copy(known, c.index)
	}
	var clusters [][]exchange
	for _, cluster := range slices.SortedFunc(maps.Keys(known), order) {
		var changes []exchange
		for k := range a {
			x, y := a[k].cluster(cluster), b[k].cluster(cluster)
			if x != y {
				changes = append(changes, exchange{k, float64(y.n - x.n), y.sum - x.sum})
			}
		}
		if changes != nil {
			clusters = append(clusters, changes)
		}
	}
	return clusters
}

func (c *Clusters) cluster(number Cluster) moments {
	if i, ok := c.index[number]; ok {
		return c.groups[i]
	}
	return moments{}
}

// binomial draws from the binomial distribution with n trials: by inversion for a small mean, else by transformed
// rejection (Hörmann 1993, "The generation of binomial random variates", algorithm BTRS).
func binomial(rng *rand.Rand, n int, p float64) int {
	if p > 0.5 {
		return n - binomial(rng, n, 1-p)
	}
	if n <= 0 || p <= 0 {
		return 0
	}
	if float64(n)*p < 10 { // walk up the distribution function; the mean cost is np
		f := math.Exp(float64(n) * math.Log1p(-p)) // P(0); at least e^-14 here
		u := rng.Float64()
		for k := 0; ; k++ {
			if u < f || k == n {
				return k
			}
			u -= f
			f *= p / (1 - p) * float64(n-k) / float64(k+1)
		}
	}
	N := float64(n)
	spq := math.Sqrt(N * p * (1 - p))
	b := 1.15 + 2.53*spq
	a := -0.0873 + 0.0248*b + 0.01*p
	c := N*p + 0.5
	alpha := (2.83 + 5.1/b) * spq
	vr := 0.92 - 4.2/b
	lpq := math.Log(p / (1 - p))
	m := math.Floor((N + 1) * p)
	h := logFactorial(m) + logFactorial(N-m)
	for {
		u := rng.Float64() - 0.5
		v := rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if k < 0 || k > N {
			continue
		}
		if us >= 0.07 && v <= vr {
			return int(k)
		}
		v = math.Log(v * alpha / (a/(us*us) + b))
		if v <= h-logFactorial(k)-logFactorial(N-k)+(k-m)*lpq {
			return int(k)
		}
	}
}

// logFactorial of a whole k >= 0, by Stirling's series where four terms give all digits.
func logFactorial(k float64) float64 {
	if k < 32 {
		return smallFactorials[int(k)]
	}
	return (k+0.5)*math.Log(k) - k + 0.9189385332046727 + (1-(1-2/(7*k*k))/(30*k*k))/(12*k)
}

var smallFactorials = func() (t [32]float64) {
	for k := 2; k < len(t); k++ {
		t[k] = t[k-1] + math.Log(float64(k))
	}
	return t
}()
