// Package estimate holds what all estimators share: it sorts observations into the groups of figures, turns means
// into estimates, and computes averages of averages. It knows no instrument, model or run.
package estimate

import (
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Level is the confidence level of all intervals of estimates.
const Level = 0.95

// Grouping says which figures there are.
type Grouping struct {
	By []string // columns that figures are grouped by: one for each prefix of them (Rollup)

	// Crossed are columns that every figure has. Where By names several of
	// them there is a figure for each combination, not for each prefix.
	Crossed []string

	// Apart are label columns that never share a figure, whether By names them or not.
	Apart []string
}

// Groups sorts observations into the groups of figures, each with a T that
// sums them up. Observations of different conditions never share a group.
type Groups[T any] struct {
	Grouping
	// New returns the sum of no observation.
	New func(labels map[string]string) T
	// Describe says where the groups of a figure come, and by which columns its
	// observations are grouped. It is called once for all observations that
	// share condition, columns and extra ones. Nil: in the order of the columns.
	Describe func(name string, condition, labels, extra map[string]string) Figure

	Clusters stats.ClusterNames // of the observations

	known    map[string][]*Group[T] // by all that decides an observation's groups
	byLabels map[string]*Group[T]
	ranks    map[string]int
	key      []byte
	names    []string
}

// Group is the observations behind a figure, or behind the figures of several measures.
type Group[T any] struct {
	Name   string            // the figure's
	Labels map[string]string // the figure's columns
	Sum    T
	order  []int
}

// Condition is the position of the group's condition among all conditions.
func (g *Group[T]) Condition() int { return g.order[0] }

// Figure holds a figure's values beside its columns.
type Figure struct {
	By     []string // the columns that it is grouped by
	Before []int    // order among the groups of a condition, before the columns
	After  []int    // and after them

	// Unranked are columns of Apart that do not set conditions apart in the order of groups.
	Unranked []string
}

// Of returns the groups that an observation with this condition and these labels belongs to, in the figure of this
// name and with these extra columns. Figures of different names never share a group.
func (g *Groups[T]) Of(condition, labels map[string]string, name string, extra map[string]string) []*Group[T] {
	g.key = append(append(g.key[:0], name...), 0)
	g.add(condition)
	for _, columns := range [...][]string{g.Apart, g.By, g.Crossed} {
		for _, column := range columns {
			g.key = append(append(g.key, labels[column]...), 0)
		}
	}
	g.add(extra)
	groups, known := g.known[string(g.key)]
	if !known {
		groups = g.find(condition, labels, name, extra)
		if g.known == nil {
			g.known = map[string][]*Group[T]{}
		}
		g.known[string(g.key)] = groups
	}
	return groups
}

func (g *Groups[T]) add(columns map[string]string) {
	g.names = slices.AppendSeq(g.names[:0], maps.Keys(columns))
	slices.Sort(g.names)
	for _, column := range g.names {
		g.key = append(append(append(append(g.key, column...), 0), columns[column]...), 0)
	}
}

func (g *Groups[T]) find(of, values map[string]string, name string, extra map[string]string) (groups []*Group[T]) {
	figure := Figure{By: g.By}
	if g.Describe != nil {
		figure = g.Describe(name, of, values, extra)
	}
	condition := map[string]string{}
	maps.Copy(condition, of)
	for _, column := range g.Apart {
		if value := values[column]; value != "" {
			condition[column] = value
		}
	}
	ranked := maps.Clone(condition)
	for _, column := range figure.Unranked {
		delete(ranked, column)
	}
	first := g.Rank(string(crosstalk.Canonical(ranked)))
	by, nested := g.columns(condition, figure.By)
	for _, labels := range g.cross(values, nested, by) {
		order := append([]int{first}, figure.Before...)
		for _, column := range by {
			order = append(order, g.Rank(column, labels[column]))
		}
		order = append(order, figure.After...)
		maps.Copy(labels, condition)
		maps.Copy(labels, extra)
		key := name + "\x00" + string(crosstalk.Canonical(labels))
		group := g.byLabels[key]
		if group == nil {
			group = &Group[T]{Name: name, Labels: labels, Sum: g.New(labels), order: order}
			if g.byLabels == nil {
				g.byLabels = map[string]*Group[T]{}
			}
			g.byLabels[key] = group
		}
		groups = append(groups, group)
	}
	return groups
}

// columns are the columns of by that vary within a condition, each once, and those of them that are not crossed.
func (g *Groups[T]) columns(condition map[string]string, by []string) (all, nested []string) {
	for _, column := range by {
		_, constant := condition[column]
		if constant || slices.Contains(g.Apart, column) || slices.Contains(all, column) {
			continue
		}
		all = append(all, column)
		if !slices.Contains(g.Crossed, column) {
			nested = append(nested, column)
		}
	}
	return all, nested
}

// cross returns the columns of the groups that an observation with these labels belongs to: the prefixes of nested,
// each with every combination of the crossed columns that by names.
func (g *Groups[T]) cross(of map[string]string, nested, by []string) (all []map[string]string) {
	for _, labels := range Rollup(of, nested) {
		crossed := []map[string]string{labels}
		for _, column := range g.Crossed {
			for _, labels := range crossed {
				labels[column] = crosstalk.All
				if value := of[column]; value != "" && value != crosstalk.All && slices.Contains(by, column) {
					one := maps.Clone(labels)
					one[column] = value
					crossed = append(crossed, one)
				}
			}
		}
		all = append(all, crossed...)
	}
	return all
}

// Rank is the position of a value among those that Rank has seen in a column, for Figure.Before and Figure.After;
// -1 for crosstalk.All. The last part of the value is the value itself.
func (g *Groups[T]) Rank(value ...string) int {
	if value[len(value)-1] == crosstalk.All {
		return -1
	}
	if g.ranks == nil {
		g.ranks = map[string]int{}
	}
	key := strings.Join(value, "\x00")
	if _, known := g.ranks[key]; !known {
		g.ranks[key] = len(g.ranks)
	}
	return g.ranks[key]
}

// Ordered returns all groups in the order of their figures: conditions in the order of their first observation, and
// within one the values of each column likewise, after the figure over all of them.
func (g *Groups[T]) Ordered() []*Group[T] {
	return slices.SortedFunc(maps.Values(g.byLabels), func(a, b *Group[T]) int { return slices.Compare(a.order, b.order) })
}
