package stats

import (
	"math"
	"slices"
)

// Nested contains samples by item and cluster: repeated answers to one prompt, prompts that share a control. Items have
// at least one sample, clusters at least one item.
type Nested [][][]float64

// Flat returns the same observations with clusters only, for Mean and the tests: their errors already include the
// variation of items and samples, which are drawn anew with each cluster.
func (n Nested) Flat() *Clusters {
	var flat Clusters
	for cluster, items := range n {
		for _, value := range slices.Concat(items...) {
			flat.Add(Cluster(cluster), value)
		}
	}
	return &flat
}

// Components are the variances of one sample due to its cluster, due to its item within the cluster, and due to
// sampling itself. Without repeated samples Sample is NaN and included in Item; without a cluster of several items
// Cluster is NaN and included in Item.
type Components struct{ Cluster, Item, Sample float64 }

// Components estimates the components of variance by nested analysis of variance for unequal numbers (Searle, Casella
// and McCulloch 1992, section 5.3; Sokal and Rohlf 1995, box 10.6). Negative estimates are set to 0; all are NaN with
// fewer than two items.
func (n Nested) Components() Components {
	var ssSamples, ssItems, ssClusters float64
	var total, items float64
	var perCluster, perItem, sqCluster float64 // sums of squared counts
	grand := n.Flat().Mean()
	for _, cluster := range n {
		var sum, count, squares float64
		means := make([]float64, len(cluster))
		for j, item := range cluster {
			means[j], _ = meanSD(item)
			for _, v := range item {
				ssSamples += (v - means[j]) * (v - means[j])
			}
			k := float64(len(item))
			sum += k * means[j]
			count += k
			squares += k * k
		}
		mean := sum / count
		for j, item := range cluster {
			ssItems += float64(len(item)) * (means[j] - mean) * (means[j] - mean)
		}
		ssClusters += count * (mean - grand) * (mean - grand)
		total += count
		items += float64(len(cluster))
		perCluster += squares / count
		perItem += squares
		sqCluster += count * count
	}
	clusters := float64(len(n))
	out := Components{math.NaN(), math.NaN(), math.NaN()}
	if math.IsNaN(grand) || items < 2 {
		return out
	}
	sample := 0.0
	if df := total - items; df > 0 {
		out.Sample = ssSamples / df
		sample = out.Sample
	}
	// The expected mean squares are sample + coefficient * component.
	if df := items - clusters; df > 0 {
		item := (ssItems/df - sample) / ((total - perCluster) / df)
		out.Item = math.Max(0, item)
		if df := clusters - 1; df > 0 {
			below := sample + item*(perCluster-perItem/total)/df
			out.Cluster = math.Max(0, (ssClusters/df-below)/((total-sqCluster/total)/df))
		}
	} else {
		df := clusters - 1
		out.Item = math.Max(0, (ssClusters/df-sample)/((total-sqCluster/total)/df))
	}
	return out
}

// Design returns a design with the given samples per item from components of variance, with the effect of clusters of
// the stated size: the mean over items of the number of items in their cluster (the sum of squared sizes over the sum
// of sizes, Kish 1965). Its variances are NaN if the components cannot determine them: more than one sample per item
// requires the variance of samples.
func (v Components) Design(samples int, clusterSize float64) Design {
	samples = max(samples, 1)
	d := Design{Between: v.Item, Within: v.Sample, Samples: samples, Effect: 1, Size: clusterSize}
	if math.IsNaN(v.Sample) && samples == 1 {
		d.Within = 0 // included in Item
	}
	if v.Cluster > 0 {
		d.Between += v.Cluster
		d.Effect = 1 + (clusterSize-1)*v.Cluster/(d.Between+d.Within/float64(samples))
	}
	return d
}

// ClusterSize is the mean over items of the number of items in their cluster. NaN without items.
func (n Nested) ClusterSize() float64 {
	var items, squares float64
	for _, cluster := range n {
		k := float64(len(cluster))
		items += k
		squares += k * k
	}
	return squares / items
}
