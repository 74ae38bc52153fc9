package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

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
	freq := make([]int, 1)
	count := func(readings []word) error {
		for _, w := range readings {
			if !k.knows(w) {
				return fmt.Errorf("a word has the context ids %d and %d, which are not in left-id.def and right-id.def",
					w.left, w.right)
			}
			kind := k.of(w)
			freq = append(freq, make([]int, len(k.rows)-len(freq))...)
			freq[kind]++
		}
		return nil
	}
	for _, spelling := range slices.Sorted(maps.Keys(words)) {
		if err := count(words[spelling]); err != nil {
			return err
		}
	}
	for _, readings := range unknown {
		if err := count(readings); err != nil {
			return err
		}
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

func (k *kinds) knows(w word) bool {
	_, from := k.blocks[0].from[w.right]
	_, to := k.blocks[0].to[w.left]
	return from && to
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
