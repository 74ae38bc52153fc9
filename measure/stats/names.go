package stats

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// ClusterNames gives clusters the names under which many Clusters know them, so
// that memory does not grow with the observations: clusters are told apart up
// to a number, and those that appear later are put together at random in as
// many as matter. An interval from thousands of random groups is as good. The
// zero value is ready.
type ClusterNames struct{ known map[string]string }

const (
	maxClusterNames = 1 << 14
	clusterBits     = 11
)

// Name returns what a cluster is called; "" is always "".
func (c *ClusterNames) Name(cluster string) string {
	if cluster == "" {
		return ""
	}
	if name, ok := c.known[cluster]; ok {
		return name
	}
	if len(c.known) < maxClusterNames {
		if c.known == nil {
			c.known = map[string]string{}
		}
		name := strings.Clone(cluster) // not the record that it is a part of
		c.known[name] = name
		return name
	}
	h := fnv.New64a()
	h.Write([]byte(cluster))
	mixed := h.Sum64() * 0x9E3779B97F4A7C15 // similar names must not share a group more often
	return "group " + strconv.Itoa(int(mixed>>(64-clusterBits)))
}
