package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Nested holds samples that sit in items that sit in clusters: repeated
// answers to one prompt, prompts that share a control. It keeps every value.
// The zero value is empty and ready.
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

// Flatten gives the same observations with clusters alone, for Mean and the
// tests: their errors already hold the variation of items and samples, as
// these are drawn afresh with each cluster.
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

// Level is a level of nesting to resample, to be or-ed.
type Level int

const (
	AtClusters Level = 1 << iota // clusters with replacement
	AtItems                      // items with replacement within each cluster
	AtSamples                    // samples with replacement within each item
)

// Bootstrap resamples the named levels from the top down and recomputes the
// mean of all samples; what is not named stays as it is.
//
//   - AtClusters alone equals ClusterBootstrap and is right for a population
//     of clusters (Davison and Hinkley 1997, section 3.8).
//   - AtClusters|AtItems is the two-stage bootstrap; it adds the variance
//     within clusters once more and is wider than need be when clusters are
//     small.
//   - AtItems|AtSamples holds the clusters fixed.
//   - AtSamples holds the items fixed: what another set of answers to the very
//     same prompts would give. With k samples an item its variance is too
//     small by (k-1)/k, and with one it is undefined.
//
// Only Percentile is known; another method panics. Deterministic in the seed;
// time is of order draws times samples.
func (n *Nested) Bootstrap(levels Level, o BootstrapOptions) Bootstrap {
	o = o.withDefaults()
	if o.Method != Percentile {
		panic("stats: no nested bootstrap by " + string(o.Method))
	}
	flat := n.Flatten()
	s := flat.summary()
	b := Bootstrap{
		Value: s.mean, Mean: math.NaN(), SE: math.NaN(), Draws: o.Draws,
		Interval: undefined(o.Level, fmt.Sprintf("nested-bootstrap-%s", levels)),
		Warnings: s.warnings,
	}
	if math.IsNaN(s.mean) {
		return b
	}
	draws := make([]float64, o.Draws)
	parallelBlocks(o.Draws, o.Seed, func(rng *rand.Rand, lo, hi int) {
		for i := lo; i < hi; i++ {
			draws[i] = n.draw(rng, levels)
		}
	})
	b.read(draws, 0, o)
	return b
}

func (l Level) String() string {
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

func (n *Nested) draw(rng *rand.Rand, levels Level) float64 {
	pick := func(level Level, i, k int) int {
		if levels&level == 0 {
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

// Components are variances of one sample that come from its cluster, from its
// item within the cluster and from sampling itself. Each is NaN where the
// data have no degrees of freedom for it.
type Components struct{ Cluster, Item, Sample float64 }

// Components estimates the components of variance by nested analysis of
// variance for unequal numbers (Searle, Casella and McCulloch 1992, section
// 5.3; Sokal and Rohlf 1995, box 10.6). Negative estimates are set to 0.
func (n *Nested) Components() Components {
	var ssWithin, ssItems, ssClusters float64
	var total, items float64
	var perCluster, perItem, sqCluster float64 // sums of squared counts
	grand := n.Flatten().Mean()
	for _, c := range n.clusters {
		var sum, count, squares float64
		var means []float64
		for _, item := range c.items {
			m, _ := meanSD(item)
			means = append(means, m)
			for _, v := range item {
				ssWithin += (v - m) * (v - m)
			}
			k := float64(len(item))
			sum += k * m
			count += k
			squares += k * k
		}
		mean := sum / count
		for j, item := range c.items {
			d := means[j] - mean
			ssItems += float64(len(item)) * d * d
		}
		ssClusters += count * (mean - grand) * (mean - grand)
		total += count
		items += float64(len(c.items))
		perCluster += squares / count
		perItem += squares
		sqCluster += count * count
	}
	clusters := float64(len(n.clusters))
	dfSample, dfItem, dfCluster := total-items, items-clusters, clusters-1
	out := Components{math.NaN(), math.NaN(), math.NaN()}
	if math.IsNaN(grand) || dfSample <= 0 {
		return out
	}
	out.Sample = ssWithin / dfSample
	item, cluster := out.Sample, out.Sample
	itemComponent := 0.0
	if dfItem > 0 {
		item = ssItems / dfItem
		itemComponent = (item - out.Sample) / ((total - perCluster) / dfItem)
		out.Item = math.Max(0, itemComponent)
	}
	if dfCluster > 0 && dfItem > 0 {
		cluster = ssClusters / dfCluster
		expected := out.Sample + itemComponent*(perCluster-perItem/total)/dfCluster
		out.Cluster = math.Max(0, (cluster-expected)/((total-sqCluster/total)/dfCluster))
	}
	return out
}

// sortedSum adds values in an order of their own, so that the result does not
// depend on where they came from.
func sortedSum(xs []float64) (sum float64) {
	slices.Sort(xs)
	for _, x := range xs {
		sum += x
	}
	return sum
}
