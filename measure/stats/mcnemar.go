package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// McNemar is the exact two-sided p-value of McNemar's test (1947): b and c
// count the pairs in which only the first or only the second is a success,
// and given b+c the null distribution of b is binomial(b+c, 1/2). Pairs must
// be independent: with clustered pairs use SignFlip. 1 without discordant
// pairs; NaN for negative counts. As in statsmodels mcnemar(exact=True) and R
// binom.test(b, b+c).
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
