package stats

import (
	"cmp"
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

// Components estimates the components of variance by nested analysis of variance for unequal numbers (Searle,
// Casella and McCulloch 1992, section 5.3; Sokal and Rohlf 1995, box 10.6). Negative ones become 0; NaN for one item.
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

// Design describes a study of a mean or a mean difference for planning: each item is one draw from a population of
// items and is sampled Samples times. Variances are in squared units of the value.
type Design struct {
	Between float64 // variance of item means (of their differences)
	Within  float64 // variance of one sample (one sample's difference) about its item
	Samples int     // samples per item; 0 means 1
	Effect  float64 // design effect of clustering; 0 means 1
	Size    float64 // items in a cluster; 0 means 1
	Null    float64 // factor by which the variance is larger in a test that assumes no difference
}

// StdErr is the standard error of the mean over items: the square root of Effect (Between + Within/Samples) / items
// (Miller 2024, sections 3 and 5). NaN without items.
func (d Design) StdErr(items float64) float64 {
	if !(items > 0) {
		return math.NaN()
	}
	return math.Sqrt(d.variance() / items)
}

func (d Design) variance() float64 {
	return cmp.Or(d.Effect, 1) * (d.Between + d.Within/float64(max(d.Samples, 1)))
}

// Items is the number of items, rounded up, with which a true difference of delta is detected at two-sided significance
// alpha with the stated power: (z_{alpha/2} sqrt(variance+Null) + z_beta sqrt(variance))^2 / delta^2 (Connor 1987;
// Miller 2024, section 5). In clusters the quantiles are Student's t with a degree of freedom for each but one. For m
// comparisons use alpha/m. NaN if delta or the variance is 0, and unless alpha and power are between 0 and 1.
func (d Design) Items(delta, alpha, power float64) float64 {
	if delta == 0 || d.variance() == 0 {
		return math.NaN()
	}
	n := d.Needs(math.Inf(1), delta, alpha, power)
	if !(d.Size > 1) {
		return n
	}
	least := math.Max(n, 2*d.Size) - 1 // with t it is more; the number that t needs falls with it
	most := 1e3 * least
	for range 100 { // enough for any two numbers, also if they are too large to differ by one
		switch n = math.Ceil((least + most) / 2); {
		case n == most:
			return most
		case d.Needs(n, delta, alpha, power) <= n:
			most = n
		default:
			least = n
		}
	}
	return most
}

// Needs is the number of items that detect delta, with the quantiles of Student's t for so many items. It is at most
// items if and only if Items is, and needs no search.
func (d Design) Needs(items, delta, alpha, power float64) float64 {
	a, b := d.quantiles(items, alpha, power)
	v := d.variance()
	q := a*math.Sqrt(v+d.Null) + b*math.Sqrt(v)
	n := math.Ceil(q * q / (delta * delta) * (1 - 1e-12))
	if d.Size > 1 {
		n = math.Max(n, math.Floor(2*d.Size))
	}
	return n
}

// quantiles returns the quantiles of the test and of its power with n items.
func (d Design) quantiles(items, alpha, power float64) (a, b float64) {
	if !(alpha > 0 && alpha < 1 && power > 0 && power < 1) {
		return math.NaN(), math.NaN()
	}
	if d.Size > 1 && power > 0.5 {
		df := math.Max(items/d.Size-1, 1)
		return tQuantile(1-alpha/2, df), tQuantile(power, df)
	}
	return NormalQuantile(1 - alpha/2), NormalQuantile(power)
}

// Detectable is the smallest true difference that so many items detect, but for Null: the sum of the quantiles of Items
// times the standard error. NaN as for Items, and without visible variance: such data cannot show what they detect.
func (d Design) Detectable(items, alpha, power float64) float64 {
	a, b := d.quantiles(items, alpha, power)
	se := d.StdErr(items)
	if !(se > 0) {
		return math.NaN()
	}
	return (a + b) * se
}

// PairedRates is the design of a comparison of two rates on the same items, with a discordant share (Connor 1987):
// a difference in {-1, 0, 1} with variance discordant - (a-b)^2. NaN unless |a-b| <= discordant <= min(a+b, 2-a-b).
func PairedRates(a, b, discordant float64) Design {
	d := a - b
	// This implies that a and b are rates.
	if !(discordant >= math.Abs(d)-1e-12 && discordant <= math.Min(a+b, 2-a-b)+1e-12) {
		return Design{Between: math.NaN()}
	}
	return Design{Between: math.Max(0, discordant-d*d), Null: d * d}
}

// IndependentDiscordance is the share of discordant items of two rates that are independent given the item's
// population: a(1-b) + b(1-a). Rates that agree more than by chance have less.
func IndependentDiscordance(a, b float64) float64 { return a*(1-b) + b*(1-a) }
