// Package estimate contains what all estimators share: it sorts observations into the groups of figures, turns means
// into estimates, and computes averages of averages. It is independent of instruments, models and runs.
package estimate

import (
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/measure/stats"
)

// Set sets a figure's value, interval and warnings.
func Set(e *crosstalk.Estimate, value float64, interval stats.Interval, warnings []stats.Warning) {
	e.Value, e.Interval = crosstalk.Value(value), interval.Known()
	for _, w := range warnings {
		e.Warnings = append(e.Warnings, w.String())
	}
}

// Signature joins the fields of the signature of a figure with these columns. It adds the version and, if a column
// has them, the settings sent in place of the requested ones. Within a field, | and line breaks, which file names may
// contain, become underscores.
func Signature(by map[string]string, fields ...string) string {
	var b strings.Builder
	if sent := by[crosstalk.SentColumn]; sent != "" {
		fields = append(fields[:len(fields):len(fields)], crosstalk.SentColumn+":"+sent)
	}
	for _, field := range fields {
		b.WriteString(unsafe.Replace(field))
		b.WriteByte('|')
	}
	return b.String() + "v" + crosstalk.Version
}

var unsafe = strings.NewReplacer("|", "_", "\n", "_", "\r", "_")

// Extend inserts fields into a signature, before the version.
func Extend(signature string, fields ...string) string {
	at := strings.LastIndexByte(signature, '|') + 1
	for _, field := range fields {
		field = unsafe.Replace(field) + "|"
		signature = signature[:at] + field + signature[at:]
		at += len(field)
	}
	return signature
}

// Level is the confidence level of the intervals of all estimates.
const Level = 0.95

// Grouping specifies which figures there are.
type Grouping struct {
	By    []string // columns by which figures are grouped: one for each prefix of them (Rollup)
	Apart []string // label columns whose values never share a figure, whether or not By names them

	// Crossed are columns that every figure has. If By names several of them, there is a figure for each combination,
	// not only for each prefix.
	Crossed []string
}

// Groups sorts observations into the groups of figures, each with a T that sums them up. Observations of different
// conditions never share a group.
type Groups[T any] struct {
	Grouping
	New func(labels map[string]string) T // returns the sum of no observations

	// Describe determines the order of groups, and the columns by which observations are grouped. It is called once for
	// observations that share condition, columns and extra columns. Nil: in order of the columns.
	Describe func(name string, condition, labels, extra map[string]string) Figure

	Clusters stats.ClusterNames // of the observations

	known    map[string][]*Group[T] // by everything that determines an observation's groups
	byLabels map[string]*Group[T]
	ranks    map[string]int
	key      []byte
	names    []string
}

// Group holds the observations of a figure, or of the figures of several measures.
type Group[T any] struct {
	Name   string            // of the figure
	Labels map[string]string // columns of the figure
	Sum    T
	order  []int
}

// Condition returns the position of the group's condition among all conditions.
func (g *Group[T]) Condition() int { return g.order[0] }

// Figure describes a figure apart from the values of its columns.
type Figure struct {
	By       []string // columns by which it is grouped
	Before   []int    // order among the groups of a condition, before that of the columns
	After    []int    // and after it
	Unranked []string // columns of Apart that do not separate conditions in the order of groups
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
		if g.known == nil {
			g.known, g.byLabels = map[string][]*Group[T]{}, map[string]*Group[T]{}
		}
		groups = g.find(condition, labels, name, extra)
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
	var by, nested []string // columns that vary within a condition, without duplicates; those that are not crossed
	for _, column := range figure.By {
		_, constant := condition[column]
		if constant || slices.Contains(g.Apart, column) || slices.Contains(by, column) {
			continue
		}
		by = append(by, column)
		if !slices.Contains(g.Crossed, column) {
			nested = append(nested, column)
		}
	}
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
			g.byLabels[key] = group
		}
		groups = append(groups, group)
	}
	return groups
}

// cross returns the columns of the groups to which an observation with these labels belongs: the prefixes of nested,
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

// Rank returns the position of a value among those that Rank has seen in a column, for Figure.Before and
// Figure.After; -1 for crosstalk.All. The last part of value is the value itself.
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
// within a condition likewise the values of each column, after the figure over all of them.
func (g *Groups[T]) Ordered() []*Group[T] {
	return slices.SortedFunc(maps.Values(g.byLabels), func(a, b *Group[T]) int { return slices.Compare(a.order, b.order) })
}

// Rollup returns the groups to which an observation with these labels belongs: the total, then each prefix of the
// columns in by. A column that is summed over has the value "all". With by = [category language], an observation of
// category x and language en is in (all, all), (x, all) and (x, en). Prefixes end before a column that the
// observation lacks, or whose value is "all": the observation is then only in the sums.
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

// Items counts the items with a scored observation without listing them: an item has at most one observation of each
// sample in a group, so the number is the count of the sample scored most often. It is too small if every item lacks a
// different sample. The zero value is ready.
type Items struct{ bySample []int }

// Add counts a scored observation of this sample, 0-based.
func (i *Items) Add(sample int) {
	for len(i.bySample) <= sample {
		i.bySample = append(i.bySample, 0)
	}
	i.bySample[sample]++
}

// N returns the number of items.
func (i *Items) N() (n int) {
	for _, count := range i.bySample {
		n = max(n, count)
	}
	return n
}

// Cell is the observations of one measure that share the columns averaged over. Cells are compared by number, so
// callers may number anything.
type Cell struct {
	Measure int   // index into Average.HarmonicOf; 0 for a figure with its own measure
	Values  []int // of the columns of Average.Over
}

// Formula computes a figure from the means of its cells, in order. A mean is NaN if the cell has nothing to measure;
// an undefined figure is NaN too.
type Formula func(means []float64) float64

// FormulaOf returns the formula of an average over these cells: the plain mean over the values of the first column
// of the plain mean over those of the second, and so on, in the order in which cells have them; the harmonic mean
// is taken within each value of the first column for which every measure has a cell (crosstalk.Average).
func FormulaOf(a crosstalk.Average, cells []Cell) Formula {
	f := former{cells: cells, depth: len(a.Over), emptyIsOne: a.EmptyIsOne}
	all := make([]int, len(cells))
	for i := range all {
		all[i] = i
	}
	if len(a.HarmonicOf) < 2 {
		return f.mean(all, 0)
	}
	return f.split(all, 0, func(part []int) Formula { return f.harmonic(part, 1) })
}

type former struct {
	cells      []Cell
	depth      int // number of columns to average over
	emptyIsOne bool
}

// mean returns the mean over the values of the column at depth of the mean over the next one, and finally over cells.
func (f former) mean(cells []int, depth int) Formula {
	if depth >= f.depth && len(cells) > 0 {
		i := cells[0]
		return func(means []float64) float64 {
			if f.emptyIsOne && math.IsNaN(means[i]) {
				return 1
			}
			return means[i]
		}
	}
	return f.split(cells, depth, func(part []int) Formula { return f.mean(part, depth+1) })
}

// split returns the mean of the defined formulas of a column's values; without columns, all cells belong together. It
// drops nil formulas.
func (f former) split(cells []int, depth int, formula func(part []int) Formula) Formula {
	var formulas []Formula
	value := func(i int) int {
		if depth < f.depth {
			return f.cells[i].Values[depth]
		}
		return 0
	}
	for _, part := range ordered.Groups(cells, value) {
		if one := formula(part); one != nil {
			formulas = append(formulas, one)
		}
	}
	return func(means []float64) float64 {
		var sum, n float64
		for _, f := range formulas {
			if x := f(means); !math.IsNaN(x) {
				sum += x
				n++
			}
		}
		return sum / n
	}
}

// harmonic returns the harmonic mean of the two measures' figures, nil if one has no cell. If the first is 0, so is
// the mean: the second, which has nothing to measure then, is undefined and counts as 1.
func (f former) harmonic(cells []int, depth int) Formula {
	var rates [2]Formula
	for m := range rates {
		of := slices.DeleteFunc(slices.Clone(cells), func(i int) bool { return f.cells[i].Measure != m })
		if len(of) == 0 {
			return nil
		}
		rates[m] = f.mean(of, depth)
	}
	return func(means []float64) float64 {
		a, b := rates[0](means), rates[1](means)
		switch {
		case a == 0:
			return 0
		case math.IsNaN(b):
			b = 1
		}
		return 2 * a * b / (a + b)
	}
}
