package main

import (
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk/tools/internal/builder"
)

// Costs are kept as sums of steps, of which stepsPerUnit make one of MeCab's units: fine enough that a sum of some
// sixty rounded weights is that of the weights but for a unit at most.
const stepsPerUnit = 256

// A block is the part of the costs that templates of like fields make up. What a context id has to say to them it has
// in common with many others; each such class is a row of the block's table, if of the first word, or a column.
type block struct {
	from, to map[int]int // class by context id
	tables   []table
}

// A table is a template with its weights. Each class has a key or, where the template makes no feature of it or none
// that has a weight, 0.
type table struct {
	from, to []int         // key by class
	weights  []map[int]int // for each key of the first word from 1 on, steps by key of the second
}

// blocks divides the templates by what their fields say of either word: its grammar, its accent, or, for the few
// hundred whose own behaviour was learnt, which word it is. The blocks stand in the order of those names: accent,
// grammar and grammar, grammar and word, word and grammar, word and word.
func (m *model) blocks() []*block {
	groups := map[string][]template{}
	for _, t := range m.templates {
		name := aspect(t.from) + aspect(t.to)
		if strings.Contains(name, "accent") {
			name = "accent"
		}
		groups[name] = append(groups[name], t)
	}
	var blocks []*block
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		blocks = append(blocks, m.block(groups[name]))
	}
	return blocks
}

func aspect(s side) string {
	has := func(fields ...int) bool {
		return slices.ContainsFunc(s.field, func(f int) bool { return slices.Contains(fields, f) })
	}
	switch { // the numbers are explained in feature.def
	case has(12, 13, 14):
		return "accent"
	case has(6, 7):
		return "word"
	}
	return "grammar"
}

func (m *model) block(templates []template) *block {
	from, to := make([]features, len(templates)), make([]features, len(templates))
	weights := make([]map[[2]string]int, len(templates))
	for i, t := range templates {
		first, second := render(t.from, m.from), render(t.to, m.to)
		parts := map[string]bool{}
		for _, part := range second {
			parts[part] = true
		}
		weights[i] = map[[2]string]int{}
		used, usedTo := map[string]bool{}, map[string]bool{}
		for _, part := range slices.Compact(slices.Sorted(maps.Values(first))) {
			for _, w := range m.weights[part] {
				steps := int(math.Round(-m.factor * w.value * stepsPerUnit))
				if steps != 0 && parts[w.to] {
					weights[i][[2]string{part, w.to}] = steps
					used[part], usedTo[w.to] = true, true
				}
			}
		}
		from[i], to[i] = number(first, used), number(second, usedTo)
	}
	b := &block{}
	var rows, columns [][]int
	b.from, rows = classes(from, m.from)
	b.to, columns = classes(to, m.to)
	for i := range templates {
		t := table{weights: make([]map[int]int, len(from[i].keys))}
		for _, row := range rows {
			t.from = append(t.from, row[i])
		}
		for _, column := range columns {
			t.to = append(t.to, column[i])
		}
		for pair, steps := range weights[i] {
			key := from[i].keys[pair[0]] - 1
			if t.weights[key] == nil {
				t.weights[key] = map[int]int{}
			}
			t.weights[key][to[i].keys[pair[1]]] = steps
		}
		b.tables = append(b.tables, t)
	}
	return b
}

// render returns a template's parts of features by context id.
func render(s side, contexts map[int][]string) map[int]string {
	parts := map[int]string{}
	for id, fields := range contexts {
		if part, ok := s.render(fields); ok {
			parts[id] = part
		}
	}
	return parts
}

// features are a template's parts of features that have weights, as keys from 1 on.
type features struct {
	keys map[string]int
	of   map[int]int // by context id
}

func number(parts map[int]string, used map[string]bool) features {
	f := features{map[string]int{}, map[int]int{}}
	for i, part := range slices.Sorted(maps.Keys(used)) {
		f.keys[part] = i + 1
	}
	for id, part := range parts {
		f.of[id] = f.keys[part]
	}
	return f
}

// classes puts context ids with the same keys in all templates into one class. Class 0 has none.
func classes(of []features, contexts map[int][]string) (byID map[int]int, rows [][]int) {
	keys := map[int][]int{}
	for id := range contexts {
		row := make([]int, len(of))
		for i, f := range of {
			row[i] = f.of[id]
		}
		keys[id] = row
		rows = append(rows, row)
	}
	rows = append(rows, make([]int, len(of)))
	slices.SortFunc(rows, slices.Compare)
	rows = slices.CompactFunc(rows, slices.Equal)
	byID = map[int]int{}
	for id, row := range keys {
		byID[id], _ = slices.BinarySearchFunc(rows, row, slices.Compare)
	}
	return byID, rows
}

// write writes the number of classes of the first word and of the second, that of the templates, and then for each
// template the number of keys of the first word, the key of each class, the same of the second word, and for each key
// of the first word the number of its weights, then the second word's key of each, as the difference from the one
// before, and its steps, zigzag.
func (b *block) write(w *builder.Stream) {
	w.Uint(len(b.tables[0].from))
	w.Uint(len(b.tables[0].to))
	w.Uint(len(b.tables))
	for _, t := range b.tables {
		w.Uint(len(t.weights))
		for _, key := range t.from {
			w.Uint(key)
		}
		w.Uint(slices.Max(t.to))
		for _, key := range t.to {
			w.Uint(key)
		}
		for _, weights := range t.weights {
			w.Uint(len(weights))
			last := 0
			for _, key := range slices.Sorted(maps.Keys(weights)) {
				w.Uint(key - last)
				w.Int(weights[key])
				last = key
			}
		}
	}
}
