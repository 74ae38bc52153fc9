package stats

// Nested contains samples within items within clusters: repeated answers to one
// prompt, prompts that share a control. It keeps every value. The zero value is
// empty and ready.
type Nested struct {
	items    map[nestedItem]int
	samples  [][]float64 // by item
	clusters map[Cluster]int
	of       [][]int // items, by cluster
	flat     Clusters
}

type nestedItem struct {
	cluster Cluster
	item    int
}

// Add records one sample of an item of a cluster. Item numbers count within
// their cluster. NaN and infinite values as in Clusters.Add.
func (n *Nested) Add(cluster Cluster, item int, value float64) {
	if n.items == nil {
		n.items, n.clusters = map[nestedItem]int{}, map[Cluster]int{}
	}
	key := nestedItem{cluster, item}
	at, known := n.items[key]
	if !known {
		of, known := n.clusters[cluster]
		if !known {
			of = len(n.of)
			n.clusters[cluster] = of
			n.of = append(n.of, nil)
		}
		at = len(n.samples)
		n.items[key] = at
		n.samples = append(n.samples, nil)
		n.of[of] = append(n.of[of], at)
	}
	n.samples[at] = append(n.samples[at], value)
	n.flat.Add(cluster, value)
}

// Flat returns the same observations with clusters only, for Mean and the
// tests: their errors already include the variation of items and samples, which
// are drawn anew with each cluster.
func (n *Nested) Flat() *Clusters { return &n.flat }
