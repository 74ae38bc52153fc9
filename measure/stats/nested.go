package stats

import (
	"math"
	"math/rand/v2"
)

// Nested contains samples within items within clusters: repeated answers to one
// prompt, prompts that share a control. It keeps every value. The zero value is
// empty and ready.
type Nested struct {
	index    map[string]int
	clusters []nestedCluster
	bad      int
}

type nestedCluster struct {
	name  string
	index map[string]int
	items [][]float64
}

// Add records one sample of an item of a cluster. Item names count within
// their cluster. NaN and infinite values as in Clusters.Add.
func (n *Nested) Add(cluster, item string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		n.bad++
		return
	}
	if n.index == nil {
		n.index = make(map[string]int)
	}
	i, ok := n.index[cluster]
	if !ok {
		i = len(n.clusters)
		n.index[cluster] = i
		n.clusters = append(n.clusters, nestedCluster{name: cluster, index: make(map[string]int)})
	}
	c := &n.clusters[i]
	j, ok := c.index[item]
	if !ok {
		j = len(c.items)
		c.index[item] = j
		c.items = append(c.items, nil)
	}
	c.items[j] = append(c.items[j], value)
}

// Flatten returns the same observations with clusters only, for Mean and the
// tests: their errors already include the variation of items and samples, which
// are drawn anew with each cluster.
func (n *Nested) Flatten() *Clusters {
	c := &Clusters{bad: n.bad}
	for _, cluster := range n.clusters {
		for _, item := range cluster.items {
			for _, v := range item {
				c.Add(cluster.name, v)
			}
		}
	}
	return c
}

// Stage is a level of nesting to resample, to be or-ed.
type Stage int

const (
	AtClusters Stage = 1 << iota // clusters with replacement
	AtItems                      // items with replacement within each cluster
	AtSamples                    // samples with replacement within each item
)

// Bootstrap resamples the named stages from the top down and recomputes the
// mean of all samples; other stages are not resampled.
//
//   - AtClusters alone equals ClusterBootstrap and is right for a population
//     of clusters (Davison and Hinkley 1997, section 3.8).
//   - AtClusters|AtItems is the two-stage bootstrap; it adds the variance
//     within clusters once more and is wider than need be when clusters are
//     small.
//   - AtItems|AtSamples keeps the clusters fixed.
//   - AtSamples keeps the items fixed: the result for another set of answers to
//     the same prompts. With k samples per item its variance is too small by
//     (k-1)/k, and with one it is undefined.
//
// Only Percentile is known; another method panics. Deterministic in the seed;
// time is of order draws times samples.
func (n *Nested) Bootstrap(stages Stage, o BootstrapOptions) Bootstrap {
	o = o.withDefaults()
	if o.Method != Percentile {
		panic("stats: unknown method for a nested bootstrap: " + string(o.Method))
	}
	flat := n.Flatten()
	s := flat.summary()
	b := Bootstrap{
		Value: s.mean, Mean: math.NaN(), SE: math.NaN(), Draws: o.Draws,
		Interval: undefined(o.Level, "nested-bootstrap-"+stages.String()),
		Warnings: s.warnings,
	}
	if math.IsNaN(s.mean) {
		return b
	}
	draws := make([]float64, o.Draws)
	parallelBlocks(o.Draws, o.Seed, func(rng *rand.Rand, lo, hi int) {
		for i := lo; i < hi; i++ {
			draws[i] = n.draw(rng, stages)
		}
	})
	b.read(draws, 0, o)
	return b
}

func (l Stage) String() string {
	var s string
	for i, name := range []string{"clusters", "items", "samples"} {
		if l>>i&1 == 1 {
			if s != "" {
				s += "+"
			}
			s += name
		}
	}
	return s
}

func (n *Nested) draw(rng *rand.Rand, stages Stage) float64 {
	pick := func(stage Stage, i, k int) int {
		if stages&stage == 0 {
			return i
		}
		return rng.IntN(k)
	}
	var sum float64
	count := 0
	for g := range n.clusters {
		c := &n.clusters[pick(AtClusters, g, len(n.clusters))]
		for i := range c.items {
			item := c.items[pick(AtItems, i, len(c.items))]
			for k := range item {
				sum += item[pick(AtSamples, k, len(item))]
			}
			count += len(item)
		}
	}
	return sum / float64(count)
}
