package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk/tools/internal/builder"
)

// A word is a reading of a spelling: its context ids, before it and after it, and its cost.
type word struct {
	left, right int
	cost        int
}

// readLexicon returns the words by spelling, in their order.
func readLexicon(path string) (map[string][]word, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := csv.NewReader(f)
	lines.ReuseRecord = true
	words := map[string][]word{}
	for {
		fields, err := lines.Read()
		if err == io.EOF {
			return words, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if fields[0] == "" { // MeCab leaves it out too
			continue
		}
		w, err := parseWord(fields[1:])
		if err != nil {
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		words[fields[0]] = append(words[fields[0]], w)
	}
}

func parseWord(fields []string) (w word, err error) {
	if len(fields) < 3 {
		return w, fmt.Errorf("%d fields, want two context ids, a cost and more", len(fields))
	}
	for i, to := range []*int{&w.left, &w.right, &w.cost} {
		if *to, err = strconv.Atoi(fields[i]); err != nil || i == 2 && *to != int(int16(*to)) {
			return w, fmt.Errorf("%q, want two context ids and a cost of 16 bits", fields[:3])
		}
	}
	return w, nil
}

// kinds numbers what words differ in but for spelling and cost: the classes of their context ids.
type kinds struct {
	blocks []*block
	number map[string]int
	rows   [][]int // classes as first word, block by block, then as second
}

func newKinds(blocks []*block) *kinds {
	k := &kinds{blocks: blocks, number: map[string]int{}}
	k.of(word{}) // the end of a text has the ids 0
	return k
}

// of returns the number of a word's kind.
func (k *kinds) of(w word) int {
	row := make([]int, 0, 2*len(k.blocks))
	for _, b := range k.blocks {
		row = append(row, b.from[w.right])
	}
	for _, b := range k.blocks {
		row = append(row, b.to[w.left])
	}
	key := fmt.Sprint(row)
	number, ok := k.number[key]
	if !ok {
		number = len(k.rows)
		k.number[key] = number
		k.rows = append(k.rows, row)
	}
	return number
}

// count numbers the kinds of all words by falling frequency. The end of a text stays 0.
func (k *kinds) count(words map[string][]word, unknown [][]word) error {
	var all []word
	for _, spelling := range slices.Sorted(maps.Keys(words)) {
		all = append(all, words[spelling]...)
	}
	freq := make([]int, 1)
	for _, w := range append(all, slices.Concat(unknown...)...) {
		_, from := k.blocks[0].from[w.right]
		_, to := k.blocks[0].to[w.left]
		if !from || !to {
			return fmt.Errorf("a word has the context ids %d and %d, which are not in left-id.def and right-id.def",
				w.left, w.right)
		}
		kind := k.of(w)
		freq = append(freq, make([]int, len(k.rows)-len(freq))...)
		freq[kind]++
	}
	freq[0] = math.MaxInt
	order := byCount(freq)
	rows := make([][]int, len(k.rows))
	place := make([]int, len(k.rows))
	for i, old := range order {
		rows[i], place[old] = k.rows[old], i
	}
	k.rows = rows
	for key, old := range k.number {
		k.number[key] = place[old]
	}
	return nil
}

func byCount(count []int) []int {
	order := make([]int, len(count))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	return order
}

func (k *kinds) write(w *builder.Stream) {
	w.Uint(len(k.rows))
	for column := range 2 * len(k.blocks) {
		for _, row := range k.rows {
			w.Uint(row[column])
		}
	}
}

func writeLexicon(w *builder.Stream, words map[string][]word, k *kinds) {
	var root builder.Trie[[]word]
	freq := map[rune]int{}
	for spelling, readings := range words {
		for _, r := range spelling {
			freq[r]++
		}
		root.At(spelling).Value = readings
	}
	chars := builder.ByCount(freq)
	labels := map[rune]int{}
	w.Uint(len(chars))
	last := 0
	for i, r := range chars {
		labels[r] = i
		w.Int(int(r) - last)
		last = int(r)
	}

	var counts, kindsOf, high, low builder.Stream
	nodes, children, deltas := root.Write(labels, func(readings []word) {
		cheapest := k.cheapest(readings)
		counts.Uint(len(cheapest))
		for _, word := range cheapest {
			kindsOf.Uint(k.of(word))
			high.Byte(byte(word.cost >> 8))
			low.Byte(byte(word.cost))
		}
	})
	w.Uint(nodes)
	*w = slices.Concat(*w, children, deltas, counts, kindsOf, high, low)
}

// cheapest leaves out words that another of the same spelling and kind costs no more than.
func (k *kinds) cheapest(words []word) []word {
	best := map[int]int{} // by kind: place in words
	for i, w := range words {
		kind := k.of(w)
		if at, ok := best[kind]; !ok || w.cost < words[at].cost {
			best[kind] = i
		}
	}
	var kept []word
	for _, i := range slices.Sorted(maps.Values(best)) {
		kept = append(kept, words[i])
	}
	return kept
}

// characters are the rules of char.def and unk.def for words that the lexicon lacks.
type characters struct {
	names      []string // of the categories
	rules      [][3]int // by name's place: invoke, group, length
	unknown    [][]word // by name's place
	categories []category
	of         [0x10000]int // place in categories
}

// A category is a name with all that a character belongs to, as bits by place of the name.
type category struct{ name, goesWith int }

func readCharacters(dir string) (*characters, error) {
	c := new(characters)
	if err := eachLine(filepath.Join(dir, "char.def"), c.parse); err != nil {
		return nil, err
	}
	c.unknown = make([][]word, len(c.names))
	return c, eachLine(filepath.Join(dir, "unk.def"), func(line string) error {
		fields, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil {
			return err
		}
		name, err := c.place(fields[0])
		if err != nil {
			return err
		}
		w, err := parseWord(fields[1:])
		c.unknown[name] = append(c.unknown[name], w)
		return err
	})
}

// parse reads a line of char.def: a name with its rules, or characters with their names, the first of which has the
// rules that apply. Later lines overrule earlier ones.
func (c *characters) parse(line string) error {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	if !strings.HasPrefix(fields[0], "0x") {
		return c.parseRules(fields)
	}
	if len(fields) < 2 {
		return fmt.Errorf("%q, want characters and their categories", line)
	}
	first, last, ok := strings.Cut(fields[0], "..")
	if !ok {
		last = first
	}
	low, err := strconv.ParseUint(first, 0, 16)
	high, wrong := strconv.ParseUint(last, 0, 16)
	if err != nil || wrong != nil {
		return fmt.Errorf("characters %q, want 0x0000 to 0xFFFF", fields[0])
	}
	cat := category{}
	for i, field := range fields[1:] {
		name, err := c.place(field)
		if err != nil {
			return err
		}
		if i == 0 {
			cat.name = name
		}
		cat.goesWith |= 1 << name
	}
	place := slices.Index(c.categories, cat)
	if place < 0 {
		place = len(c.categories)
		c.categories = append(c.categories, cat)
	}
	for r := low; r <= high; r++ {
		c.of[r] = place
	}
	return nil
}

func (c *characters) parseRules(fields []string) error {
	if len(fields) != 4 {
		return fmt.Errorf("%q, want a category and three numbers", fields)
	}
	var rules [3]int
	for i := range rules {
		var err error
		if rules[i], err = strconv.Atoi(fields[1+i]); err != nil || rules[i] < 0 {
			return fmt.Errorf("%q, want a category and three numbers", fields)
		}
	}
	if len(c.names) == 0 && fields[0] != "DEFAULT" {
		return fmt.Errorf("category %s, want DEFAULT first", fields[0])
	}
	if len(c.names) == 0 { // every character is of it unless said otherwise
		c.categories = []category{{0, 1}}
	}
	c.names = append(c.names, fields[0])
	c.rules = append(c.rules, rules)
	return nil
}

func (c *characters) place(name string) (int, error) {
	i := slices.Index(c.names, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown category %q", name)
	}
	return i, nil
}

func (c *characters) write(w *builder.Stream, k *kinds) {
	w.Uint(len(c.categories))
	for _, cat := range c.categories {
		w.Uint(cat.goesWith)
		for _, rule := range c.rules[cat.name] {
			w.Uint(rule)
		}
		w.Uint(len(c.unknown[cat.name]))
		for _, word := range c.unknown[cat.name] {
			w.Uint(k.of(word))
			w.Int(word.cost)
		}
	}
	var ranges [][2]int // length, category
	for _, cat := range c.of {
		if n := len(ranges); n > 0 && ranges[n-1][1] == cat {
			ranges[n-1][0]++
		} else {
			ranges = append(ranges, [2]int{1, cat})
		}
	}
	w.Uint(len(ranges))
	for _, r := range ranges {
		w.Uint(r[0])
		w.Uint(r[1])
	}
}
