package stats

import (
	"hash/fnv"
	"strconv"
	"strings"
)

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
