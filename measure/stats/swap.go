package stats

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Swap is the paired permutation test that two conditions have the same figure,
// for a figure that is a function f of the means of several parts rather than a
// plain mean (LCPR). a[k] and b[k] are part k under the two conditions; under
// the null the conditions of a cluster can be exchanged in all parts at once
// (Good 2005, section 3.2). A part can have different observations under the
// two conditions.
//
// It returns P = (c+1)/(draws+1), where c is the number of random exchanges
// whose |f(a)-f(b)| is undefined or at least that of the data (Phipson and
// Smyth 2010). draws <= 0 means DefaultDraws. Values added with AddIndependent
// have no counterpart and are not exchanged. P is 1 if no exchange changes
// anything, and NaN if the figures are undefined. For plain means SignFlip is
// the same test. It exchanges clusters in this order, which the random numbers depend on.
func Swap(
	a, b []*Clusters, order func(a, b Cluster) int, f func(means []float64) float64, draws int, seed uint64,
) float64 {
	if len(a) != len(b) {
		panic("stats: the conditions have different parts")
	}
	if draws <= 0 {
		draws = DefaultDraws
	}
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
	hits := make([]int, (draws+block-1)/block)
	parallelBlocks(draws, seed, func(rng *rand.Rand, lo, hi int) {
		p, q := slices.Clone(first), slices.Clone(second)
		for range hi - lo {
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
				hits[lo/block]++
			}
		}
	})
	c := 0
	for _, h := range hits {
		c += h
	}
	return float64(c+1) / float64(draws+1)
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

// exchange is what exchanging a cluster adds to a part of the first condition
// and subtracts from the second.
type exchange struct {
	part   int
	n, sum float64
}

// exchanges lists, for each cluster in order, what exchanging it changes.
func exchanges(a, b []*Clusters, order func(a, b Cluster) int) [][]exchange {
	known := map[Cluster]bool{}
	for _, c := range slices.Concat(a, b) {
		for cluster := range c.index {
			known[cluster] = true
		}
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

// cluster returns the moments of a cluster, zero if there is none.
func (c *Clusters) cluster(number Cluster) moments {
	i, ok := c.index[number]
	if !ok {
		return moments{}
	}
	return c.groups[i]
}
