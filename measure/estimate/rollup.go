package estimate

import "crosstalk"

// Rollup returns the groups that an observation with these labels belongs to: everything, then each prefix of the
// columns in by. A column that stands for everything has the value "all". With by = [category language] an
// observation of category x and language en is in (all, all), (x, all) and (x, en). A column that the observation
// lacks ends the prefixes, as does one that says "all" itself: the observation is in the sums only.
func Rollup(labels map[string]string, by []string) []map[string]string {
	groups := make([]map[string]string, 0, len(by)+1)
	for depth := 0; depth <= len(by); depth++ {
		group := make(map[string]string, len(by))
		for i, column := range by {
			if i < depth {
				group[column] = labels[column]
			} else {
				group[column] = crosstalk.All
			}
		}
		if depth > 0 && (group[by[depth-1]] == "" || group[by[depth-1]] == crosstalk.All) {
			break
		}
		groups = append(groups, group)
	}
	return groups
}
