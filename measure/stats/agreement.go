package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// CohenKappa is the chance-corrected agreement of two raters on nominal labels (Cohen 1960), in [-1, 1]. NaN
// without items or when both raters use one and the same label only. As in statsmodels cohens_kappa. It panics if
// the lengths differ.
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
// slack of their side; slack 0 is plain tau-b, as in scipy kendalltau. Leakage work compares similarity differences
// with slack 0.03.
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

// before is how many of the counted are less than a number.
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
	c := Correlation{Value: pearson(x, y), P: math.NaN(), N: len(x), Interval: undefined(level, "fisher-z")}
	if math.IsNaN(c.Value) {
		return c
	}
	c.P = correlationP(c.Value, n)
	if n > 3 {
		z, r := math.Atanh(c.Value), NormalQuantile((1+level)/2)/math.Sqrt(n-3)
		c.Interval.Low, c.Interval.High, c.Interval.Range = math.Tanh(z-r), math.Tanh(z+r), [2]float64{-1, 1}
	}
	return c
}

func pearson(x, y []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	mx, _ := meanSD(x)
	my, _ := meanSD(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	n := float64(len(x))
	if xx <= 1e-28*n*mx*mx || yy <= 1e-28*n*my*my {
		return math.NaN() // a side does not vary but for rounding
	}
	return math.Max(-1, math.Min(1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
}

func correlationP(r, n float64) float64 {
	if n < 3 {
		return math.NaN()
	}
	return tTwoSided(r*math.Sqrt((n-2)/((1-r)*(1+r))), n-2)
}
