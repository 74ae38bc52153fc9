package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// KendallTauB is Kendall's tau-b (Kendall 1945) of x and y, in [-1, 1]:
// concordant minus discordant pairs over the geometric mean of the pairs not
// tied in x and not tied in y. Two values are tied when they differ by at most
// the slack of their side; slack 0 is plain tau-b, as in scipy kendalltau. Leakage work
// compares similarity differences with slack 0.03.
//
// Differences that exceed a positive slack by rounding only (a share of 1e-9)
// count as ties. Such a slack is no equivalence (a~b and b~c do not give a~c).
// NaN with fewer than two values, a NaN, a negative slack, or a side where all are
// tied. It panics if the lengths differ. Time is of order n log n: values are
// taken in ascending order of y, and a Fenwick tree counts by x those that are
// below by more than the slack.
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
