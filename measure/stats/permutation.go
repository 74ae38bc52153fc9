package stats

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
)

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

// permuted is (c+1)/(draws+1), with c how many of the draws are extreme; count says how many of the next n are.
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
// undefined. For plain means SignFlip is the same test. It exchanges clusters in this order, which the random
// numbers depend on.
func Swap(
	a, b []*Clusters, order func(a, b Cluster) int, f func(means []float64) float64, draws int, seed uint64,
) float64 {
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
