package main

import (
	"maps"
	"slices"
	"strings"

	"crosstalk/internal/gloss/lexicon"
)

// exampleWeight is what a word of an example counts, where a word of the definition counts 1.
const exampleWeight = 0.2

// bag is the content lemmas of a text with their weights, sorted by lemma.
type bag []weighted

type weighted struct {
	lemma  int32
	weight float64
}

// glosses returns the bag of every synset's gloss, without the synset's own words, and the number of glosses in which
// each lemma occurs.
func (w *wordnet) glosses() (bags []bag, occurrences []int) {
	bags = make([]bag, len(w.synsets))
	parallelRows(len(bags), func(from, to int) {
		for i := from; i < to; i++ {
			s := w.synsets[i]
			weights := map[int32]float64{}
			addText(weights, w.lexicon, s.definition, 1)
			addText(weights, w.lexicon, s.examples, exampleWeight)
			for _, own := range s.lemmas {
				delete(weights, own)
			}
			bags[i] = sorted(weights)
		}
	})
	occurrences = make([]int, w.lexicon.Len())
	for _, b := range bags {
		for _, x := range b {
			occurrences[x.lemma]++
		}
	}
	return bags, occurrences
}

// addText adds the content lemmas of a text to weights. A word inside a multiword lemma counts half; the lemmas of an
// ambiguous form share its weight.
//
// Unlike the look-up, it neither folds accents nor leaves out contractions: the prototype did not, and a context lemma
// more or less is another sketch.
func addText(weights map[int32]float64, l *lexicon.Lexicon, text string, weight float64) {
	const longest = 3
	tokens := lexicon.Tokens(strings.ToLower(text))
	var buffer [8]int32
	for len(tokens) > 0 {
		id, n := int32(0), 0
		if !lexicon.StopWord(tokens[0]) {
			id, n = l.Multiword(tokens, longest)
		}
		share := weight
		if n > 0 {
			weights[id] += weight
			share = weight / 2
		}
		n = max(n, 1)
		for _, token := range tokens[:n] {
			if lexicon.StopWord(token) || len(token) < 2 || isNumber(token) {
				continue
			}
			lemmas := l.Lemmas(buffer[:0], token)
			for _, id := range lemmas {
				weights[id] += share / float64(len(lemmas))
			}
		}
		tokens = tokens[n:]
	}
}

func isNumber(token string) bool {
	for _, c := range token {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func sorted(weights map[int32]float64) bag {
	b := make(bag, 0, len(weights))
	for _, id := range slices.Sorted(maps.Keys(weights)) {
		b = append(b, weighted{id, weights[id]})
	}
	return b
}
