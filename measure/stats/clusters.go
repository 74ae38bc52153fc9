package stats

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Clusters accumulates observations that are correlated within clusters and independent between them: leakage tests
// that share a control answer, samples of one item. It keeps a count, a sum and a sum of squares per cluster, so
// memory grows with the clusters only. Those combined or compared must be numbered alike (ClusterNames).
//
// The zero value is empty and ready. A Clusters is not safe for concurrent writing.
type Clusters struct {
	index  map[Cluster]int32
	groups []moments
	// Observations that are clusters of their own, counted by value; values beyond those kept are in rest.
	single map[float64]int
	rest   []moments
	n      int
	bad    int // not finite
	lo, hi float64
}

// moments of one cluster; ss is the sum of squares about its mean, which is more precise than a plain sum of squares.
type moments struct {
	n       int
	sum, ss float64
}

// Add records one observation of a cluster. A NaN or infinite value makes every figure undefined and is counted in
// a warning: the caller must leave out what was not scored, and report it.
func (c *Clusters) Add(cluster Cluster, value float64) {
	if c.seen(value) {
		c.group(cluster).add(value)
	}
}

func (g *moments) add(value float64) {
	if g.n > 0 { // Welford (1962)
		d := value - g.sum/float64(g.n)
		g.ss += d * d * float64(g.n) / float64(g.n+1)
	}
	g.n++
	g.sum += value
}

// addAll adds other observations, each times a factor.
func (g *moments) addAll(other moments, factor float64) {
	if g.n > 0 && other.n > 0 { // Chan, Golub and LeVeque (1983)
		d := factor*other.sum/float64(other.n) - g.sum/float64(g.n)
		g.ss += d * d * float64(g.n) * float64(other.n) / float64(g.n+other.n)
	}
	g.n += other.n
	g.sum += factor * other.sum
	g.ss += factor * factor * other.ss
}

// group returns the moments of a cluster, new ones if need be. They are valid until the next call.
func (c *Clusters) group(cluster Cluster) *moments {
	i, ok := c.index[cluster]
	if !ok {
		if c.index == nil {
			c.index = make(map[Cluster]int32)
		}
		i = int32(len(c.groups))
		c.index[cluster] = i
		c.groups = append(c.groups, moments{})
	}
	return &c.groups[i]
}

// AddIndependent records an observation as a separate cluster. Equal values share one counter; of many thousands of
// values, the later ones share some groups, one after the other, as clusters do (ClusterNames).
func (c *Clusters) AddIndependent(value float64) {
	if !c.seen(value) {
		return
	}
	if _, known := c.single[value]; !known && len(c.single) >= maxClusterNames {
		at := c.n % (1 << clusterBits)
		for len(c.rest) <= at {
			c.rest = append(c.rest, moments{})
		}
		c.rest[at].add(value)
		return
	}
	if c.single == nil {
		c.single = make(map[float64]int)
	}
	c.single[value]++
}

// AddAll adds all values of other clusters, each times a factor. What both have of a cluster is one cluster.
func (c *Clusters) AddAll(other *Clusters, factor float64) {
	if other.n == 0 {
		return
	}
	low, high := min(factor*other.lo, factor*other.hi), max(factor*other.lo, factor*other.hi)
	if c.n == 0 {
		c.lo, c.hi = low, high
	}
	c.lo, c.hi = min(c.lo, low), max(c.hi, high)
	c.n += other.n
	c.bad += other.bad
	for cluster, i := range other.index {
		c.group(cluster).addAll(other.groups[i], factor)
	}
	for value, m := range other.single {
		if c.single == nil {
			c.single = make(map[float64]int)
		}
		c.single[factor*value] += m
	}
	for i, g := range other.rest {
		if i == len(c.rest) {
			c.rest = append(c.rest, moments{})
		}
		c.rest[i].addAll(g, factor)
	}
}

func (c *Clusters) seen(value float64) bool {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		c.bad++
		return false
	}
	if c.n == 0 {
		c.lo, c.hi = value, value
	}
	c.lo, c.hi = math.Min(c.lo, value), math.Max(c.hi, value)
	c.n++
	return true
}

// N is the number of finite observations.
func (c *Clusters) N() int { return c.n }

// Len is the number of clusters.
func (c *Clusters) Len() int {
	k := len(c.groups)
	for _, m := range c.single {
		k += m
	}
	for _, g := range c.rest {
		k += g.n
	}
	return k
}

// Within reports whether all values lie in the bounds.
func (c *Clusters) Within(b Bounds) bool { return c.n == 0 || c.lo >= b.Low && c.hi <= b.High }

// Mean is the sum of all values divided by their number: every observation has the same weight, whatever the size
// of its cluster. NaN if empty or if a value was not finite.
func (c *Clusters) Mean() float64 { return c.summary().mean }

// A cell represents m clusters with the same count, sum and sum of squares about their mean.
type cell struct {
	n, sum, ss float64
	m          float64
}

// about is the sum of squares of the cluster's observations about mean.
func (x cell) about(mean float64) float64 {
	d := x.sum/x.n - mean
	return x.ss + x.n*d*d
}

// cells lists the clusters, equal ones merged, in an order that does not depend on the order of Add.
func (c *Clusters) cells() []cell {
	cs := make([]cell, 0, len(c.groups)+len(c.single))
	for _, g := range slices.Concat(c.groups, c.rest) {
		if g.n > 0 {
			cs = append(cs, cell{float64(g.n), g.sum, g.ss, 1})
		}
	}
	for v, m := range c.single {
		cs = append(cs, cell{1, v, 0, float64(m)})
	}
	slices.SortFunc(cs, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.sum, b.sum), cmp.Compare(a.ss, b.ss))
	})
	out := cs[:0]
	for _, x := range cs {
		if k := len(out) - 1; k >= 0 && out[k].n == x.n && out[k].sum == x.sum && out[k].ss == x.ss {
			out[k].m += x.m
		} else {
			out = append(out, x)
		}
	}
	return out
}

// summary contains the cells and what every method needs of them.
type summary struct {
	cells    []cell
	clusters float64 // G
	n        float64 // observations N
	mean     float64 // of all observations; NaN when undefined
	warnings []Warning
}

func (c *Clusters) summary() summary {
	s := summary{cells: c.cells(), warnings: sizeWarnings(c.n, c.Len())}
	var sum float64
	for _, x := range s.cells {
		s.clusters += x.m
		s.n += x.m * x.n
		sum += x.m * x.sum
	}
	s.mean = sum / s.n // 0/0 is NaN
	if c.bad > 0 {
		s.mean = math.NaN()
		s.warnings = append(s.warnings, Warning{Code: NotFinite, Have: c.bad})
	}
	return s
}

// effectiveN is Kish's effective sample size if all observations of a cluster are equal: (sum n)^2 / sum
// n^2. Random groups of clusters are not taken for clusters: of two groups, the squared difference of their numbers
// of observations has the expected value of the sum of n^2 over their clusters (Alon, Matias and Szegedy 1999).
func (c *Clusters) effectiveN() float64 {
	var squares float64
	var groups [1 << clusterBits]float64
	for cluster, i := range c.index {
		n := float64(c.groups[i].n)
		if cluster < 0 {
			groups[-1-cluster] = n
			continue
		}
		squares += n * n
	}
	for _, m := range c.single {
		squares += float64(m)
	}
	for _, g := range c.rest {
		squares += float64(g.n)
	}
	for k := 0; k < len(groups); k += 2 {
		d := groups[k] - groups[k+1]
		squares += d * d
	}
	n := float64(c.n)
	return n * n / max(squares, n)
}

// binary reports whether every observation is 0 or 1 and its own cluster.
func (s summary) binary() bool {
	return !slices.ContainsFunc(s.cells, func(x cell) bool { return x.n != 1 || x.sum != 0 && x.sum != 1 })
}

// sortedSum adds values in a canonical order, so that the result does not depend on their origin.
func sortedSum(xs []float64) (sum float64) {
	slices.Sort(xs)
	for _, x := range xs {
		sum += x
	}
	return sum
}

// Cluster is the number of a cluster. Negative ones are random groups of clusters.
type Cluster int32

// ClusterNames numbers clusters by name so that memory does not grow with the observations: up to a limit, clusters
// stay distinct; later ones are assigned at random to a limited number of groups. An interval from thousands of
// random groups is as good. The zero value is ready.
type ClusterNames struct {
	known map[string]Cluster
	names []string // of clusters from 1
}

const (
	maxClusterNames = 1 << 14
	clusterBits     = 11
)

// Number returns the number of a cluster; "" has 0.
func (c *ClusterNames) Number(name string) Cluster {
	if name == "" {
		return 0
	}
	if number, ok := c.known[name]; ok {
		return number
	}
	if len(c.known) < maxClusterNames {
		if c.known == nil {
			c.known = map[string]Cluster{}
		}
		name = strings.Clone(name) // do not keep the whole record in memory
		c.names = append(c.names, name)
		c.known[name] = Cluster(len(c.names))
		return c.known[name]
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	mixed := h.Sum64() * 0x9E3779B97F4A7C15 // similar names must not share a group more often
	return -1 - Cluster(mixed>>(64-clusterBits))
}

// Compare orders clusters by name, random groups first.
func (c *ClusterNames) Compare(a, b Cluster) int { return strings.Compare(c.name(a), c.name(b)) }

func (c *ClusterNames) name(number Cluster) string {
	switch {
	case number < 0:
		return "\x00group " + strconv.Itoa(int(-1-number))
	case number == 0:
		return ""
	}
	return c.names[number-1]
}
