package stats

import (
	"math"
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
