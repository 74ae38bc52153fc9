package main

import (
	"crosstalk/measure/langid/words/levels"
)

// characters makes the columns of languages without spaces: each language's words, then the share of words that begin
// in a certain way, of each language.
func characters(lists [][]word) []levels.Column {
	n := len(lists)
	table := make([]levels.Column, 2*n)
	for i, list := range lists {
		table[i], table[n+i] = levels.Column{}, levels.Column{}
		total := 0.0
		for _, w := range list {
			total += w.frequency
		}
		begin := map[uint32]float64{}
		for _, w := range list {
			var h levels.Hash
			for _, r := range w.text {
				h = h.Add(r)
				begin[h.Sum()] += w.frequency / total
			}
			table[i][h.Sum()] = uint8(levelOf(w.frequency / total))
		}
		for h, p := range begin {
			if own, ok := table[i][h]; !ok || levelOf(p) != int(own) {
				table[n+i][h] = uint8(levelOf(p))
			}
		}
	}
	return table
}
