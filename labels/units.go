package labels

import (
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
)

// labelledUnit is a unit with its labels.
type labelledUnit struct {
	*Unit
	labels   map[string]string // by annotator
	majority string
	value    float64 // mean of the labels' values, NaN without any
	stratum  string  // of a stratified sample
	weight   float64 // units of its stratum for each labelled one
}

// labelled returns the units that have labels, in the sheet's order, and the number
// of labels that belong to none. by are the columns of the strata.
func (s *Sheet) labelled(by []string, labels []Label) (units []labelledUnit, unmatched int) {
	given := map[int]map[string]string{}
	for _, l := range labels {
		i, known := s.at[l.Key()]
		if !known {
			unmatched++
			continue
		}
		if given[i] == nil {
			given[i] = map[string]string{}
		}
		given[i][l.Annotator] = l.Label
	}
	all, labelled := map[string]float64{}, map[string]float64{}
	if len(by) > 0 {
		for i := range s.Units {
			name := s.Units[i].stratum(by)
			all[name]++
			if given[i] != nil {
				labelled[name]++
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(given)) {
		u := labelledUnit{Unit: &s.Units[i], labels: given[i], weight: 1, value: s.Question.mean(given[i]),
			majority: s.Question.majority(given[i])}
		if len(by) > 0 {
			u.stratum = u.Unit.stratum(by)
			u.weight = all[u.stratum] / labelled[u.stratum]
		}
		units = append(units, u)
	}
	return units, unmatched
}

// mean is the mean value of labels, NaN if none has a value.
func (q Question) mean(labels map[string]string) float64 {
	sum, n := 0.0, 0.0
	for _, annotator := range slices.Sorted(maps.Keys(labels)) {
		if v := q.value(labels[annotator]); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / n
}

// majority is the most frequent label; a tie is undecided.
func (q Question) majority(labels map[string]string) string {
	counts := map[string]int{}
	for _, l := range labels {
		counts[l]++
	}
	best, most := q.Undecided, 0
	for l, n := range counts {
		switch {
		case !q.Several && !slices.Contains(q.labels(), l):
		case n > most:
			best, most = l, n
		case n == most:
			best = q.Undecided
		}
	}
	return best
}

// codes are the parts of a label, if the question allows several.
func codes(label string) []string { return strings.Split(label, "; ") }

// groupBy returns the elements with the same key together, groups in order of first
// use.
func groupBy[T any](list []T, key func(T) string) (groups [][]T) {
	at := map[string]int{}
	for _, x := range list {
		k := key(x)
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}

// group is units that share a condition or the value of a column.
type group struct {
	by    map[string]string
	units []labelledUnit
}

// groups are the units by these columns of theirs, in order of first use.
func groups(units []labelledUnit, by func(labelledUnit) map[string]string) (list []group) {
	for _, g := range groupBy(units, func(u labelledUnit) string { return string(crosstalk.Canonical(by(u))) }) {
		list = append(list, group{by(g[0]), g})
	}
	return list
}

// everything is the group of all units.
func everything(labelledUnit) map[string]string { return map[string]string{} }

// apart are the columns of a unit that no figure mixes.
func (q Question) apart(u *Unit) map[string]string {
	columns := maps.Clone(u.Condition)
	if columns == nil {
		columns = map[string]string{}
	}
	for _, c := range q.Apart {
		if value, known := u.Columns[c]; known {
			columns[c] = value
		}
	}
	return columns
}

func valued(units []labelledUnit) []labelledUnit {
	return filter(units, func(u labelledUnit) bool { return !math.IsNaN(u.value) })
}

func filter(units []labelledUnit, keep func(labelledUnit) bool) (list []labelledUnit) {
	for _, u := range units {
		if keep(u) {
			list = append(list, u)
		}
	}
	return list
}

// each is a property of each unit.
func each[T any](units []labelledUnit, of func(labelledUnit) T) []T {
	list := make([]T, len(units))
	for i, u := range units {
		list[i] = of(u)
	}
	return list
}

// pick is the elements at these indexes.
func pick[T any](list []T, at []int) []T {
	picked := make([]T, len(at))
	for k, i := range at {
		picked[k] = list[i]
	}
	return picked
}

// indexes are 0 to n-1.
func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
