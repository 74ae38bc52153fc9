package stats

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// ClusterNames shortens the names of clusters so that memory does not grow with
// the observations: up to a number, clusters stay distinct; later ones are
// assigned at random to a limited number of groups. An interval from thousands
// of random groups is as good. The zero value is ready.
type ClusterNames struct{ known map[string]string }

const (
	maxClusterNames = 1 << 14
	clusterBits     = 11
)

// Name returns the name to use for a cluster; "" is always "".
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
		name := strings.Clone(cluster) // do not keep the whole record in memory
		c.known[name] = name
		return name
	}
	h := fnv.New64a()
	h.Write([]byte(cluster))
	mixed := h.Sum64() * 0x9E3779B97F4A7C15 // similar names must not share a group more often
	return random + strconv.Itoa(int(mixed>>(64-clusterBits)))
}

// random begins the names of random groups, and of no cluster.
const random = "\x00group "

// groupOf returns the number of a random group.
func groupOf(name string) (group int, is bool) {
	number, is := strings.CutPrefix(name, random)
	if !is {
		return 0, false
	}
	group, err := strconv.Atoi(number)
	return group, err == nil && group >= 0 && group < 1<<clusterBits
}
