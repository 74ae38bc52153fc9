package stats

import "math"

// SignedRank is the outcome of Wilcoxon's test. Plus and Minus are the rank
// sums of positive and negative differences, N the number of nonzero ones,
// Zeros those left out. Exact tells whether P is exact.
type SignedRank struct {
	Plus, Minus, P float64
	N, Zeros       int
	Exact          bool
}

// maxSignedRank is the sample up to which the exact distribution is computed,
// in time and memory of order N^3 and N^2.
const maxSignedRank = 200

// Wilcoxon is the signed-rank test (Wilcoxon 1945) that differences are
// symmetric about zero, two-sided. Zeros are dropped and ties get mean ranks.
// Up to 200 nonzero differences P is exact given the ties; beyond, it is the
// normal approximation with tie correction and without continuity
// correction. Differences must be independent. P is NaN without a nonzero
// difference or with a NaN. As in scipy wilcoxon (method "exact" without
// ties, "approx") and R coin wilcoxsign_test(distribution="exact") with ties.
func Wilcoxon(diffs []float64) SignedRank {
	r := SignedRank{P: math.NaN()}
	var sizes []float64
	var positive []bool
	for _, d := range diffs {
		if math.IsNaN(d) {
			return SignedRank{Plus: d, Minus: d, P: d}
		}
		if d == 0 {
			r.Zeros++
			continue
		}
		sizes = append(sizes, math.Abs(d))
		positive = append(positive, d > 0)
	}
	r.N = len(sizes)
	if r.N == 0 {
		return r
	}
	ranks := midranks(sizes)
	var squares float64
	for i, rank := range ranks {
		if positive[i] {
			r.Plus += rank
		} else {
			r.Minus += rank
		}
		squares += rank * rank
	}
	if r.N > maxSignedRank {
		// Under random signs the rank sum has variance sum rank^2 / 4.
		r.P = 2 * normalCDF(-math.Abs(r.Plus-r.Minus)/2/math.Sqrt(squares/4))
		return r
	}
	r.Exact = true
	r.P = math.Min(1, 2*signedRankTail(ranks, math.Min(r.Plus, r.Minus)))
	return r
}

// signedRankTail is P(W <= w) for the sum W of the ranks that random signs
// choose. Ranks are whole or half, so doubled ones index a table.
func signedRankTail(ranks []float64, w float64) float64 {
	top := int(2 * w)
	p := make([]float64, top+1)
	p[0] = 1
	for _, rank := range ranks {
		step := int(2 * rank)
		for s := top; s >= 0; s-- {
			p[s] /= 2
			if s >= step {
				p[s] += p[s-step] / 2
			}
		}
	}
	var tail float64
	for _, x := range p {
		tail += x
	}
	return tail
}
