package main

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// vocabularySize is the number of lemmas that get a vector.
const vocabularySize = 64000

// Lexicographer files (lexnames(5WN)) whose lemmas are worth more, or less, than their frequency says.
var topicBonus = map[int]float64{
	2:  -1.5, // adverbs
	4:  0.2,  // acts
	5:  0.8,  // animals
	6:  1.0,  // artefacts
	10: 0.2,  // communication
	13: 2.0,  // food
	15: 1.6,  // places
	18: 0.6,  // people
	20: 0.3,  // plants
	44: -0.5, // adjectives from participles
}

var (
	digitOrDot  = regexp.MustCompile(`[0-9.]`)
	taxon       = regexp.MustCompile(`\b(genus|family|order|phylum|suborder|class) `)
	taxonGenera = regexp.MustCompile(`\b(genus|family|order|phylum|suborder|class|genera) `)
	taxonEnding = regexp.MustCompile(`(idae|aceae|ales)$`)
)

// vocabulary returns the lemmas that get a vector, sorted.
func (w *wordnet) vocabulary(occurrences []int) []int32 {
	var chosen []int32
	for id := range w.senses {
		if w.worthy(int32(id), occurrences[id]) {
			chosen = append(chosen, int32(id))
		}
	}
	priority := make([]float64, len(w.senses))
	for _, id := range chosen {
		priority[id] = w.priority(id, occurrences[id])
	}
	slices.SortStableFunc(chosen, func(a, b int32) int { return cmp.Compare(priority[b], priority[a]) })
	chosen = chosen[:min(len(chosen), vocabularySize)]
	slices.Sort(chosen)
	return chosen
}

// count is the number of occurrences of a lemma in the sense-tagged texts.
func (w *wordnet) count(id int32) int {
	n := 0
	for _, s := range w.senses[id] {
		n += s.count
	}
	return n
}

// firstDefinition is the definition of a lemma's first synset, and its head.
func (w *wordnet) firstDefinition(id int32) (definition, head string) {
	d := w.synsets[w.senses[id][0].synset].definition
	return d, d[:min(len(d), 40)]
}

// worthy reports whether a lemma may get a vector. Rare phrases, numbers, names of taxa, and rare words that the
// look-up derives from others do not.
func (w *wordnet) worthy(id int32, mentions int) bool {
	lemma := w.lexicon.Lemma(id)
	count := w.count(id)
	switch {
	case strings.Contains(lemma, "_"):
		return count > 0 || mentions >= 2
	case digitOrDot.MatchString(lemma):
		return false
	case count > 0 || mentions > 1:
		return true
	}
	for _, other := range derivedFrom(lemma) {
		if _, ok := w.lexicon.Find(other); ok && other != lemma {
			return false
		}
	}
	definition, head := w.firstDefinition(id)
	return !taxonGenera.MatchString(head) && !strings.HasPrefix(definition, "type genus") &&
		!taxonEnding.MatchString(lemma)
}

// derivedFrom returns the words from which the look-up would derive a word.
func derivedFrom(word string) []string {
	n := len(word)
	ending := word[max(0, n-7):]
	switch {
	case strings.HasSuffix(word, "ally"):
		return []string{word[:n-2], word[:n-3] + "y", word[:n-1] + "e", word[:n-4]}
	case strings.HasSuffix(word, "ly") && n > 3:
		return []string{word[:n-2], word[:n-3] + "y", word[:n-1] + "e"}
	case strings.HasSuffix(word, "iness"):
		return []string{word[:n-5] + "y"}
	case strings.HasSuffix(word, "ness"):
		return []string{word[:n-4]}
	case strings.Contains(ending, "is"):
		return []string{strings.TrimSuffix(word, ending) + strings.ReplaceAll(ending, "is", "iz")}
	case strings.Contains(word, "-"):
		return []string{strings.ReplaceAll(word, "-", ""), strings.ReplaceAll(word, "-", "_")}
	}
	return nil
}

// priority orders the lemmas that may get a vector.
func (w *wordnet) priority(id int32, mentions int) float64 {
	lemma := w.lexicon.Lemma(id)
	definition, head := w.firstDefinition(id)
	p := float64(2*ln(float64(1+w.count(id)))) + float64(1.5*ln(float64(1+mentions))) +
		float64(0.3*float64(len(w.senses[id])))
	p -= float64(1.2 * float64(strings.Count(lemma, "_")))
	p -= float64(0.02 * float64(len(lemma)))
	if digitOrDot.MatchString(lemma) {
		p--
	}
	if strings.Contains(lemma, "-") {
		p -= 0.7
	}
	if taxon.MatchString(head) || strings.HasPrefix(definition, "type genus") {
		p -= 2
	}
	return p + topicBonus[w.synsets[w.senses[id][0].synset].file]
}

// frequency estimates how often a lemma is used: its mentions in glosses and half its count in the sense-tagged texts,
// as 16 log2(1 + that), rounded.
func (w *wordnet) frequency(id int32, mentions int) uint8 {
	n := float64(mentions) + float64(0.5*float64(w.count(id)))
	return uint8(min(255, math.Round(16*ln(1+n)/math.Ln2)))
}
