package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"sync"
)

// CohenKappa is the chance-corrected agreement of two raters on nominal labels (Cohen 1960), in [-1, 1]. NaN
// without items or when both use one label only. As in statsmodels cohens_kappa. It panics if the lengths differ.
func CohenKappa[L comparable](a, b []L) float64 {
	checkPairs(len(a), len(b))
	ofA, ofB, both := map[L]int{}, map[L]int{}, map[L]int{}
	var labels []L // by first use: the order of sums
	for i := range a {
		for _, label := range []L{a[i], b[i]} {
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
		ofA[a[i]]++
		ofB[b[i]]++
		if a[i] == b[i] {
			both[a[i]]++
		}
	}
	if len(labels) < 2 {
		return math.NaN()
	}
	n := float64(len(a))
	var observed, expected float64
	for _, label := range labels {
		observed += float64(both[label]) / n
		expected += float64(ofA[label]) / n * (float64(ofB[label]) / n)
	}
	return (observed - expected) / (1 - expected)
}

// NominalAlpha prepares Krippendorff's alpha of nominal labels (Krippendorff 2011, "Computing Krippendorff's
// Alpha-Reliability") for resamples of units: the function returns the agreement of the units at these indexes. It
// is at most 1, and 0 for agreement as if by chance. units[u] has the numbers of the labels that raters gave unit
// u, from 0. Any number of raters may rate each unit; units with fewer than two labels are left out. NaN when no
// unit has two, or when all labels are equal.
func NominalAlpha(units [][]int) func(at []int) float64 {
	labels, disagreement := 0, make([]float64, len(units))
	for u, rated := range units {
		pairs := 0 // ordered, of different labels
		for _, label := range rated {
			labels = max(labels, label+1)
			for _, other := range rated {
				if other != label {
					pairs++
				}
			}
		}
		disagreement[u] = float64(pairs) / float64(len(rated)-1)
	}
	return func(at []int) float64 {
		counts, n, observed := make([]int, labels), 0, 0.0
		for _, u := range at {
			if len(units[u]) < 2 {
				continue
			}
			for _, label := range units[u] {
				counts[label]++
			}
			n += len(units[u])
			observed += disagreement[u]
		}
		pairs := n * n // of different labels
		for _, c := range counts {
			pairs -= c * c
		}
		return 1 - quotient(observed/float64(n), float64(pairs)/float64(n*(n-1)))
	}
}

// KendallTauB is Kendall's tau-b (Kendall 1945) of x and y, in [-1, 1]: concordant minus discordant pairs over the
// geometric mean of the pairs not tied in x and not tied in y. Two values are tied when they differ by at most the
// slack of their side; slack 0 is plain tau-b, as in scipy kendalltau. Leakage work takes 0.03.
//
// Differences that exceed a positive slack by rounding only (a share of 1e-9) count as ties. Such a slack is no
// equivalence (a~b and b~c do not give a~c). NaN with fewer than two values, a NaN, a negative slack, or a side
// where all are tied. It panics if the lengths differ. Time is of order n log n: values are taken in ascending
// order of y, and a Fenwick tree counts by x those that are below by more than the slack.
func KendallTauB(x, y []float64, slackX, slackY float64) float64 {
	checkPairs(len(x), len(y))
	if !(slackX >= 0 && slackY >= 0) || countNaN(x)+countNaN(y) > 0 {
		return math.NaN()
	}
	slackX *= 1 + 1e-9
	slackY *= 1 + 1e-9
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	below := make(fenwick, len(x)+1)
	var score, inX, inY int // inX and inY: pairs that are not tied
	next := 0               // of order, to be counted in below
	for _, i := range order {
		for ; y[i]-y[order[next]] > slackY; next++ {
			first, _ := slices.BinarySearch(sorted, x[order[next]])
			below.add(first)
		}
		low := sort.Search(len(sorted), func(k int) bool { return !(x[i]-sorted[k] > slackX) })
		high := low + sort.Search(len(sorted)-low, func(k int) bool { return sorted[low+k]-x[i] > slackX })
		score += below.before(low) - (next - below.before(high))
		inX += low
		inY += next
	}
	return quotient(float64(score), math.Sqrt(float64(inX))*math.Sqrt(float64(inY)))
}

// fenwick counts numbers from 0 to its length less two (Fenwick 1994).
type fenwick []int

func (f fenwick) add(number int) {
	for i := number + 1; i < len(f); i += i & -i {
		f[i]++
	}
}

// before returns the number of counted values below a number.
func (f fenwick) before(number int) (n int) {
	for i := number; i > 0; i -= i & -i {
		n += f[i]
	}
	return n
}

// checkPairs panics when paired slices differ in length: a programmer's error.
func checkPairs(n, m int) {
	if n != m {
		panic(fmt.Sprintf("stats: %d values paired with %d", n, m))
	}
}

// Correlation is a coefficient in [-1, 1] over N pairs, with the two-sided
// p-value of the null of no association and an interval; NaN where undefined.
type Correlation struct {
	Value, P float64
	N        int
	Interval Interval
}

// Pearson is the product-moment correlation of x and y. P is from Student's t with N-2 degrees of freedom, the
// interval from Fisher's z (Fisher 1921); both assume independent pairs, normal ones for exactness. Undefined with
// fewer than two pairs, a NaN, or a side that does not vary; P needs three pairs and the interval four. As in scipy
// pearsonr. It panics if the lengths differ.
func Pearson(x, y []float64, level float64) Correlation {
	checkLevel(level)
	checkPairs(len(x), len(y))
	n := float64(len(x))
	c := Correlation{Value: math.NaN(), P: math.NaN(), N: len(x), Interval: undefined(level, "fisher-z")}
	mx, _ := meanSD(x)
	my, _ := meanSD(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	if !(xx > 1e-28*n*mx*mx && yy > 1e-28*n*my*my) {
		return c // a side does not vary but for rounding, or has a NaN
	}
	r := math.Max(-1, math.Min(1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
	c.Value, c.P = r, tTwoSided(r*math.Sqrt((n-2)/((1-r)*(1+r))), n-2)
	if n > 3 {
		z, half := math.Atanh(r), NormalQuantile((1+level)/2)/math.Sqrt(n-3)
		c.Interval.Low, c.Interval.High, c.Interval.Range = math.Tanh(z-half), math.Tanh(z+half), [2]float64{-1, 1}
	}
	return c
}

// DefaultDraws is the number of resamples when none is given.
const DefaultDraws = 10000

// Bootstrap is the outcome of resampling. Value is the statistic of the data,
// Mean and SE the mean and standard deviation of the resampled ones.
type Bootstrap struct {
	Value, Mean, SE float64
	Skipped         int // draws for which the statistic is undefined
	Interval        Interval
	Warnings        []Warning
}

// UnitBootstrap resamples n independent units with replacement for any statistic of them, as an agreement or a
// correlation. stat gets the indices of the units in a resample (length n, from 0 to n-1, with repeats) and returns
// NaN where it is undefined; it is called at once from several goroutines and must not keep the slice. The interval
// is between quantiles of the resampled values (Efron 1979); it undercovers with few units. Resamples without a
// value are left out and counted in a warning. Deterministic in the seed. The interval is undefined when the
// statistic is. draws <= 0 means DefaultDraws.
func UnitBootstrap(n int, stat func(units []int) float64, draws int, level float64, seed uint64) Bootstrap {
	checkLevel(level)
	b := Bootstrap{Value: math.NaN(), Mean: math.NaN(), SE: math.NaN(),
		Interval: undefined(level, "bootstrap-percentile"), Warnings: sizeWarnings(n, n)}
	if n == 0 {
		return b
	}
	if draws <= 0 {
		draws = DefaultDraws
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if b.Value = stat(all); n == 1 || math.IsNaN(b.Value) {
		return b
	}
	values := make([]float64, draws)
	parallelBlocks(draws, seed, func(rng *rand.Rand, lo, hi int) {
		units := make([]int, n)
		for i := lo; i < hi; i++ {
			for j := range units {
				units[j] = rng.IntN(n)
			}
			values[i] = stat(units)
		}
	})
	values = slices.DeleteFunc(values, math.IsNaN)
	if b.Skipped = draws - len(values); b.Skipped > 0 {
		b.Warnings = append(b.Warnings, Warning{Code: SkippedDraw, Have: b.Skipped})
	}
	if len(values) == 0 {
		return b
	}
	b.Mean, b.SE = meanSD(values)
	slices.Sort(values)
	if values[0] == values[len(values)-1] {
		b.Warnings = append(b.Warnings, Warning{Code: NoVariation})
		return b
	}
	b.Interval.Low, b.Interval.High = quantile(values, (1-level)/2), quantile(values, (1+level)/2)
	return b
}

// quantile of several sorted values, with p in (0, 1), by linear interpolation (type 7 of Hyndman and
// Fan 1996, the default of numpy and R).
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
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

// block is the number of draws that share a random stream; results do not depend on the number of processors.
const block = 250

// parallelBlocks calls f for every block of draws with the block's own generator, on all processors.
func parallelBlocks(draws int, seed uint64, f func(rng *rand.Rand, lo, hi int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for lo := 0; lo < draws; lo += block {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(rand.New(rand.NewPCG(seed, uint64(lo/block))), lo, min(lo+block, draws))
		})
	}
	wg.Wait()
}

// Stratum is labels drawn at random from a part of all answers.
type Stratum struct {
	N      float64 // answers of the part
	Labels float64 // the number of them that have a label, more than 0
	Count  float64 // labels of the kind that is counted
}

// StratifiedShare is the share A / (A+M) of the hits A and misses M that labels of all answers would count,
// estimated from strata with hits and others with misses. The interval returns an interval for the ratio M / A of
// two independent sums (MOVER-R; Donner and Zou 2012), from Jeffreys' limits of each stratum: 0 if none is counted,
// all if all are. It covers where no label of a large stratum is a miss, which a bootstrap does not see. It takes
// labels as independent. The share is biased upwards where misses are rare. Undefined without hits and misses.
func StratifiedShare(hits, misses []Stratum, level float64) (share float64, i Interval) {
	i = undefined(level, "mover-r-jeffreys")
	a, lowA, highA := stratifiedTotal(hits, level)
	m, lowM, highM := stratifiedTotal(misses, level)
	share = a / (a + m)
	if math.IsNaN(share) {
		return share, i
	}
	i.Low, i.High = 0, 1
	x := a * m
	if y := lowA * (2*a - lowA); y > 0 {
		i.Low = 1 / (1 + (x+math.Sqrt(math.Max(0, x*x-highM*(2*m-highM)*y)))/y)
	}
	if y := lowM * (2*m - lowM); y > 0 { // the usual formula, but for its division by 2a - highA
		i.High = 1 / (1 + y/(x+math.Sqrt(math.Max(0, x*x-highA*(2*a-highA)*y))))
	}
	return share, i
}

// stratifiedTotal estimates how many of all answers would be counted, with limits.
func stratifiedTotal(strata []Stratum, level float64) (total, low, high float64) {
	var below, above float64
	for _, s := range strata {
		share := s.Count / s.Labels
		least := math.Min(share, betaQuantile((1-level)/2, s.Count+0.5, s.Labels-s.Count+0.5))
		most := math.Max(share, betaQuantile((1+level)/2, s.Count+0.5, s.Labels-s.Count+0.5))
		total += s.N * share
		below += s.N * s.N * (share - least) * (share - least)
		above += s.N * s.N * (most - share) * (most - share)
	}
	return total, math.Max(0, total-math.Sqrt(below)), total + math.Sqrt(above)
}
