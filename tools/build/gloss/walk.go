package main

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

const (
	walkSteps = 5
	walkDecay = 0.85    // what a step counts against the step before
	walkStart = 0.5     // what the start itself counts
	walkPrune = 0.00025 // probability below which a path is given up
)

// walk returns, for each start lemma, how often random walks from it pass each lemma: the sum over steps of decayed
// probabilities.
func walk(g *sparse, starts []int32, words int) *sparse {
	rows := make([][]entry, len(starts))
	parallelRows(len(starts), func(from, to int) {
		w := &walker{graph: g, words: int32(words),
			here: newTally(g.columns), there: newTally(g.columns), visits: newTally(words)}
		for i := from; i < to; i++ {
			rows[i] = w.from(starts[i])
		}
	})
	return newSparse(rows, words)
}

// walker holds the working memory of one goroutine.
type walker struct {
	graph       *sparse
	words       int32
	here, there *tally // probabilities of being at a node
	visits      *tally // decayed, of lemmas
}

func (w *walker) from(start int32) []entry {
	w.here.add(start, 1)
	w.visits.add(start, walkStart)
	decay := 1.0
	for range walkSteps {
		for _, node := range w.here.touched {
			p := w.here.value[node]
			if p < walkPrune {
				continue
			}
			for _, e := range w.graph.row(int(node)) {
				w.there.add(e.column, p*e.value)
			}
		}
		decay *= walkDecay
		for _, node := range w.there.touched {
			if p := w.there.value[node]; p >= walkPrune && node < w.words {
				w.visits.add(node, p*decay)
			}
		}
		w.here.reset()
		w.here, w.there = w.there, w.here
	}
	row := make([]entry, 0, len(w.visits.touched))
	for _, lemma := range w.visits.touched {
		row = append(row, entry{lemma, w.visits.value[lemma]})
	}
	w.visits.reset()
	w.here.reset()
	return slices.Clip(row)
}

// tally is a sparse vector with fast access.
type tally struct {
	value   []float64
	touched []int32 // in the order of first touch
}

func newTally(n int) *tally { return &tally{value: make([]float64, n)} }

// add adds x > 0 at i.
func (t *tally) add(i int32, x float64) {
	if t.value[i] == 0 {
		t.touched = append(t.touched, i)
	}
	t.value[i] += float64(x)
}

func (t *tally) reset() {
	for _, i := range t.touched {
		t.value[i] = 0
	}
	t.touched = t.touched[:0]
}

// The graph has a node for each lemma, then one for each synset. A walk leaves a lemma for its senses or for the
// glosses that mention it, and a synset for its words, the words of its gloss, or related synsets. The weights of the
// edges are what follows; they were chosen once on relatedness judgements.
const (
	mentionMass    = 0.42 // from a lemma to the glosses that mention it; the rest goes to its senses
	mentionCap     = 80   // glosses beyond which a lemma's mentionMass shrinks in proportion
	glossMass      = 0.45 // from a synset to the words of its gloss
	lemmaMass      = 0.3  // from a synset to its words
	relationMass   = 0.3  // from a synset to related synsets
	relationCap    = 12   // related synsets beyond which relationMass shrinks in proportion
	rankPower      = 0.3  // a sense weighs sqrt(count+1) / (rank+1)^rankPower
	informationMin = 1.0  // subtracted from a gloss word's inverse document frequency
)

// relationWeight is the weight of a pointer, by its symbol (wninput(5WN)).
func relationWeight(symbol string) float64 {
	switch symbol {
	case "+", `\`: // derivationally related form, pertainym
		return 1.5
	case "#s", "#p", "%s", "&", ";c": // substance and part holonym, substance meronym, similar to, topic
		return 1.2
	case "@", "@i", "#m", "%p", "=", "*", ">", "$", "<":
		// hypernyms, member holonym, part meronym, attribute, entailment, cause, verb group, participle
		return 1.0
	case "!", "^", ";r": // antonym, also see, region
		return 0.8
	case "%m": // member meronym
		return 0.7
	case "~": // hyponym
		return 0.5
	case "~i", "-c", "-r": // instance hyponym, members of a topic or region
		return 0.4
	case ";u": // usage
		return 0.1
	}
	return 0 // members of a usage
}

// graph returns the transition weights between nodes. Rows sum to at most about 1: what is missing is where a walk
// ends.
func (w *wordnet) graph(glosses []bag, occurrences []int) *sparse {
	words := w.lexicon.Len()
	rows := make([][]entry, words+len(w.synsets))
	add := func(from, to int, weight float64) {
		rows[from] = append(rows[from], entry{int32(to), float64(weight)})
	}
	for lemma, senses := range w.senses {
		weights := make([]float64, len(senses))
		total := 0.0
		for i, s := range senses {
			weights[i] = math.Sqrt(float64(s.count+1)) / pow(float64(s.rank+1), rankPower)
			total += weights[i]
		}
		for i, s := range senses {
			add(lemma, words+int(s.synset), (1-mentionMass)*weights[i]/total)
		}
	}
	informations := make([]float64, words)
	for lemma, n := range occurrences {
		informations[lemma] = information(n, len(w.synsets))
	}
	mentions := make([][]entry, words) // of each lemma: synset nodes
	for i, gloss := range glosses {
		total := 0.0
		for _, x := range gloss {
			total += float64(x.weight * informations[x.lemma])
		}
		for _, x := range gloss {
			if share := x.weight * informations[x.lemma] / total; share > 0 {
				add(words+i, int(x.lemma), glossMass*share)
				mentions[x.lemma] = append(mentions[x.lemma], entry{int32(words + i), share})
			}
		}
	}
	for lemma, glosses := range mentions {
		total := 0.0
		for _, m := range glosses {
			total += m.value
		}
		mass := mentionMass * min(1, mentionCap/float64(len(glosses)))
		for _, m := range glosses {
			add(lemma, int(m.column), mass*m.value/total)
		}
	}
	for i, s := range w.synsets {
		for _, lemma := range s.lemmas {
			add(words+i, int(lemma), lemmaMass/float64(len(s.lemmas)))
		}
		related := map[int32]float64{}
		total := 0.0
		for _, p := range s.pointers {
			if k := relationWeight(p.symbol); k > 0 {
				related[p.target] += k
				total += k
			}
		}
		mass := relationMass * min(1, relationCap/float64(len(related)))
		for _, r := range sorted(related) {
			add(words+i, words+int(r.lemma), mass*r.weight/total)
		}
	}
	return newSparse(rows, len(rows))
}

// information is what a word that occurs in n of the given number of glosses tells: its inverse document frequency less
// informationMin, or 0.
func information(n, glosses int) float64 {
	return max(0, ln(float64(glosses)/float64(n+2))-informationMin)
}

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
