package stats

import (
	"math"
	"math/rand/v2"
)

// maxExact is the number of varying clusters up to which SignFlip enumerates
// all 2^16 signs.
const maxExact = 16

// SignFlip is the paired permutation test that a mean difference is zero:
// under the null the two conditions of a cluster can be exchanged, which
// flips the sign of the cluster's sum of differences (Fisher 1935; Good 2005,
// section 3.2). diffs are the differences; they may be clustered.
//
// With at most 16 clusters of nonzero sum all sign patterns are enumerated and
// P is exact; else P = (c+1)/(draws+1), with c the random patterns at least as
// extreme as the data (Phipson and Smyth 2010), which never understates.
// draws <= 0 means DefaultDraws. Assumption: within a cluster the conditions
// are exchangeable under the null. Value is the mean difference, Effect as in
// TTest; SE, Statistic and DF are NaN. P is 1 when all sums are zero and NaN
// when the mean is undefined.
func SignFlip(diffs *Clusters, draws int, seed uint64) Test {
	s := diffs.summary()
	t := s.test(diffs, 0)
	t.SE, t.Statistic, t.DF, t.P = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if math.IsNaN(s.mean) {
		return t
	}
	if draws <= 0 {
		draws = DefaultDraws
	}
	var cells []cell
	var total, scale, varying float64
	for _, x := range s.cells {
		if x.sum == 0 {
			continue
		}
		total += x.m * x.sum
		scale += x.m * math.Abs(x.sum)
		varying += x.m
		cells = append(cells, x)
	}
	// Patterns whose sums differ by rounding only are equally extreme.
	least := math.Abs(total) - 1e-12*scale
	if varying <= maxExact {
		t.P = flipAll(cells, int(varying), least)
		return t
	}
	hits := make([]int, (draws+block-1)/block)
	parallelBlocks(draws, seed, func(rng *rand.Rand, lo, hi int) {
		for range hi - lo {
			if math.Abs(flip(rng, cells)) >= least {
				hits[lo/block]++
			}
		}
	})
	c := 0
	for _, h := range hits {
		c += h
	}
	t.P = float64(c+1) / float64(draws+1)
	return t
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

// flipAll is the share of all sign patterns with an absolute total of at
// least least.
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
