package suite

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// strata are the columns whose values a part of a suite has in the same shares as the whole.
var strata = []string{"task", "language", "source", "category", "begins"}

// Part is a suite of n of its items, in their order: all if n is 0, or if there are not more. The items depend on their
// ids alone, and a smaller part is a part of every larger one. The first items are one of each stratum (task, language,
// source and category); further ones keep the strata's shares. Within a stratum each cluster gives one item before any
// gives a second, since items of different clusters tell more. Clusters come in the same order in every stratum, so
// that much the same prompts are asked in each language.
func (s *Suite) Part(n int) *Suite {
	if n <= 0 || n >= s.Items.Len() {
		return s
	}
	type place struct {
		item              int
		cluster, position uint64
		nth               int     // of the stratum's items in the cluster
		share             float64 // of the stratum's items that come before
	}
	groups := map[string][]place{}
	for i, item := range s.Items.All() {
		stratum := ""
		for _, column := range strata {
			stratum += item.Labels[column] + "\x00"
		}
		groups[stratum] = append(groups[stratum], place{item: i, cluster: hash(cmp.Or(item.Cluster, item.ID)),
			position: hash(item.ID)})
	}
	var all []place
	for _, group := range groups {
		slices.SortFunc(group, func(a, b place) int { return cmp.Compare(a.position, b.position) })
		times := map[uint64]int{}
		for i := range group {
			group[i].nth = times[group[i].cluster]
			times[group[i].cluster]++
		}
		slices.SortStableFunc(group, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.cluster, b.cluster))
		})
		for i := range group {
			group[i].share = float64(i) / float64(len(group))
		}
		all = append(all, group...)
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.position, b.position))
	})
	numbers := make([]int, n)
	for i, p := range all[:n] {
		numbers[i] = p.item
	}
	slices.Sort(numbers)
	part := *s
	part.Whole, part.Items = s.Items.Len(), s.Items.Numbered(numbers)
	return &part
}

func hash(text string) uint64 {
	sum := sha256.Sum256([]byte("part\x00" + text))
	return binary.BigEndian.Uint64(sum[:8])
}
