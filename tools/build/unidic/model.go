package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/tools/internal/builder"
)

// A model is the conditional random field from which UniDic's costs of two words in a row were computed (Kudo et al.
// 2004): templates make features of what is known of the two words, features have weights, and the cost is minus their
// sum times a factor.
type model struct {
	factor    float64
	templates []template
	weights   map[string][]weight // by the first word's part of the feature
	from, to  map[int][]string    // what is known of a word, by its context ids: as the first of two, as the second
}

// A weight is that of a feature, whose second word's part is to.
type weight struct {
	to    string
	value float64
}

// A template makes a feature: the parts of the two words in a row.
type template struct{ from, to side }

// A side is a word's part of a template: literal text before each field, and a last one after them.
type side struct {
	text     []string
	field    []int
	optional []bool // there is no feature if the field is "*"
}

func (s side) render(fields []string) (part string, ok bool) {
	var b strings.Builder
	for i, text := range s.text {
		b.WriteString(text)
		if i == len(s.field) {
			break
		}
		value := "*"
		if s.field[i] < len(fields) {
			value = fields[s.field[i]]
		}
		if s.optional[i] && value == "*" {
			return "", false
		}
		b.WriteString(value)
	}
	return b.String(), true
}

func readModel(dir string) (*model, error) {
	m := &model{weights: map[string][]weight{}}
	var err error
	if m.from, err = readContexts(filepath.Join(dir, "right-id.def")); err != nil {
		return nil, err
	}
	if m.to, err = readContexts(filepath.Join(dir, "left-id.def")); err != nil {
		return nil, err
	}
	return m, cmp.Or(
		m.readFactor(filepath.Join(dir, "dicrc")),
		m.readTemplates(filepath.Join(dir, "feature.def")),
		m.readWeights(filepath.Join(dir, "model.def")))
}

// eachLine calls f with each line of a file; its error gets the place.
func eachLine(path string, f func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := f(lines.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return lines.Err()
}

// readContexts returns the fields of each context id. Of those that share an id, since their costs are the same, the
// first are kept.
func readContexts(path string) (map[int][]string, error) {
	contexts := map[int][]string{}
	err := eachLine(path, func(line string) error {
		number, rest, _ := strings.Cut(line, " ")
		id, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("%q, want a context id and its fields", line)
		}
		if _, ok := contexts[id]; ok {
			return nil
		}
		contexts[id], err = csv.NewReader(strings.NewReader(rest)).Read()
		return err
	})
	return contexts, err
}

func (m *model) readFactor(path string) error {
	err := eachLine(path, func(line string) (err error) {
		if value, ok := strings.CutPrefix(line, "cost-factor = "); ok {
			m.factor, err = strconv.ParseFloat(value, 64)
		}
		return err
	})
	if err == nil && m.factor == 0 {
		err = fmt.Errorf("%s: no cost-factor", path)
	}
	return err
}

func (m *model) readTemplates(path string) error {
	return eachLine(path, func(line string) error {
		fields := strings.Fields(line) // what follows a space is not part of a template: I_I and F_F are constants
		if len(fields) < 2 || fields[0] != "BIGRAM" {
			return nil
		}
		text := fields[1]
		second := max(strings.Index(text, "/%R"), 0)
		from, err := parseSide(text[:second], "L")
		if err != nil {
			return err
		}
		to, err := parseSide(text[second:], "R")
		m.templates = append(m.templates, template{from, to})
		return err
	})
}

var fieldOf = regexp.MustCompile(`%([LR])(\??)\[(\d+)\]`)

func parseSide(text, word string) (side, error) {
	var s side
	last := 0
	for _, at := range fieldOf.FindAllStringSubmatchIndex(text, -1) {
		field, err := strconv.Atoi(text[at[6]:at[7]])
		if err != nil || text[at[2]:at[3]] != word {
			return s, fmt.Errorf("template part %q, want fields like %%%s[0]", text, word)
		}
		s.text = append(s.text, text[last:at[0]])
		s.field = append(s.field, field)
		s.optional = append(s.optional, at[4] < at[5])
		last = at[1]
	}
	s.text = append(s.text, text[last:])
	return s, nil
}

// readWeights keeps the weights under every division of a feature into two parts: a slash may be part of a word.
func (m *model) readWeights(path string) error {
	var named []string // of the templates, to leave out the features of single words
	for _, t := range m.templates {
		name, _, _ := strings.Cut(t.from.text[0]+t.to.text[0], ":")
		named = append(named, name)
	}
	return eachLine(path, func(line string) error {
		number, feature, ok := strings.Cut(line, "\t")
		name, _, _ := strings.Cut(feature, ":")
		if !ok || !slices.Contains(named, name) {
			return nil
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("weight %q, want a number", number)
		}
		feature = strings.Clone(feature)
		if feature == name {
			m.weights[""] = append(m.weights[""], weight{feature, value})
		}
		for i, r := range feature {
			if r == '/' {
				m.weights[feature[:i]] = append(m.weights[feature[:i]], weight{feature[i:], value})
			}
		}
		return nil
	})
}

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
