package stats

import (
	"fmt"
	"math"
)

// KendallTauB is Kendall's tau-b (Kendall 1945) of x and y, in [-1, 1]:
// concordant minus discordant pairs over the geometric mean of the pairs not
// tied in x and not tied in y. Two values are tied when they differ by at most
// the slack of their side; slack 0 is plain tau-b, as in scipy kendalltau. Leakage work
// compares similarity differences with slack 0.03.
//
// Differences that exceed a positive slack by rounding only (a share of 1e-9)
// count as ties. Such a slack is no equivalence (a~b and b~c do not give a~c), so every
// pair is looked at: time is of order n^2. NaN with fewer than two values, a
// NaN, a negative slack, or a side where all are tied. It panics if the
// lengths differ.
func KendallTauB(x, y []float64, slackX, slackY float64) float64 {
	checkPairs(len(x), len(y))
	if !(slackX >= 0 && slackY >= 0) || countNaN(x)+countNaN(y) > 0 {
		return math.NaN()
	}
	slackX *= 1 + 1e-9
	slackY *= 1 + 1e-9
	var score, inX, inY int
	for i := range x {
		for j := range i {
			a := sign(x[i]-x[j], slackX)
			b := sign(y[i]-y[j], slackY)
			score += a * b
			inX += a * a
			inY += b * b
		}
	}
	return quotient(float64(score), math.Sqrt(float64(inX))*math.Sqrt(float64(inY)))
}

// sign of d, 0 within the slack (and for the NaN of equal infinities).
func sign(d, slack float64) int {
	switch {
	case d > slack:
		return 1
	case d < -slack:
		return -1
	}
	return 0
}

// checkPairs panics when paired slices differ in length: a programmer's error.
func checkPairs(n, m int) {
	if n != m {
		panic(fmt.Sprintf("stats: %d values paired with %d", n, m))
	}
}
