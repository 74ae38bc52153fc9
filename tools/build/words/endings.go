package main

import (
	"math"
	"unicode/utf8"
)

// Limits of endings.
const (
	shortestStem  = 3    // letters
	longestEnding = 10   // letters
	frequentStem  = 3e-5 // share from which a list has a stem's usual forms
	leastStems    = 20   // that an ending must have
)

// endings returns the endings that a language's words take, and how frequent a word with one is beside its stem: the
// mean over the list's frequent words, most of which lack a form with it.
func endings(list []word) []word {
	frequency := map[string]float64{}
	frequent := 0.0
	for _, w := range list {
		frequency[w.text] = w.frequency
		if w.frequency >= frequentStem {
			frequent++
		}
	}
	stems, sums := map[string]int{}, map[string]float64{}
	var order []string
	for _, w := range list {
		for at, letters := len(w.text), 0; at > 0 && letters < longestEnding; letters++ {
			_, n := utf8.DecodeLastRuneInString(w.text[:at])
			at -= n
			stem, ok := frequency[w.text[:at]]
			if !ok || utf8.RuneCountInString(w.text[:at]) < shortestStem {
				continue
			}
			ending := w.text[at:]
			if stems[ending]++; stems[ending] == leastStems {
				order = append(order, ending)
			}
			if stem >= frequentStem {
				sums[ending] += math.Min(1, w.frequency/stem)
			}
		}
	}
	var all []word
	for _, ending := range order {
		if sums[ending] > 0 {
			all = append(all, word{ending, sums[ending] / frequent})
		}
	}
	return all
}
