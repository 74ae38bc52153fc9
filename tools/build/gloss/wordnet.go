package main

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/gloss/lexicon"
)

// wordnet is WordNet as the graph needs it (file formats: wndb(5WN)).
type wordnet struct {
	synsets []synset
	lexicon *lexicon.Lexicon // every lemma, sorted
	senses  [][]sense        // by lemma, in the order of the synsets
	forms   []form           // the exception lists, sorted
}

// form is an irregular form of the lemmas bases.
type form struct {
	pos   lexicon.POS
	form  string
	bases []string
}

// synset is a set of synonyms with its gloss.
type synset struct {
	address
	line       int      // in its data file
	file       int      // number of the lexicographer file: the topic
	words      []string // lower case
	lemmas     []int32  // of words
	senseKeys  []senseKey
	pointers   []pointer
	definition string
	examples   string
}

type pointer struct {
	symbol string
	to     address
	target int32 // the synset at that address
}

// address identifies a synset in the files.
type address struct {
	pos    lexicon.POS
	offset string
}

// senseKey is what the sense keys of cntlist.rev say, without the head word that tells apart satellites.
type senseKey struct {
	lemma             string
	kind, file, lexID int
}

// sense is one meaning of a lemma.
type sense struct {
	synset int32
	count  int // occurrences in the sense-tagged texts
	rank   int // place among the senses of the lemma and part of speech, from 0
}

// extension names the files of each part of speech.
var extension = map[lexicon.POS]string{
	lexicon.Noun: "noun", lexicon.Verb: "verb", lexicon.Adjective: "adj", lexicon.Adverb: "adv",
}

// kinds are the letters of the parts of speech with the numbers they have in sense keys; "s" is an adjective satellite.
var kinds = map[string]struct {
	pos  lexicon.POS
	kind int
}{
	"n": {lexicon.Noun, 1}, "v": {lexicon.Verb, 2}, "a": {lexicon.Adjective, 3}, "r": {lexicon.Adverb, 4},
	"s": {lexicon.Adjective, 5},
}

// parseWordNet reads the files of WordNet.
func parseWordNet(files map[string][]byte) (*wordnet, error) {
	w := &wordnet{}
	at := map[address]int32{}
	for _, p := range lexicon.All {
		name := "data." + extension[p]
		for n, line := range entries(files[name]) {
			s, err := parseSynset(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			s.line = n
			at[s.address] = int32(len(w.synsets))
			w.synsets = append(w.synsets, s)
		}
	}
	for _, s := range w.synsets {
		for i, p := range s.pointers {
			target, ok := at[p.to]
			if !ok {
				return nil, fmt.Errorf("data.%s:%d: pointer to %s of data.%s, where no synset is",
					extension[s.pos], s.line, p.to.offset, extension[p.to.pos])
			}
			s.pointers[i].target = target
		}
	}
	w.collectLemmas()
	if err := w.collectSenses(files, at); err != nil {
		return nil, err
	}
	return w, w.collectForms(files)
}

// entries yields the numbered lines of a file without the licence at its head, which is indented.
func entries(file []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range bytes.Lines(file) {
			n++
			text := strings.TrimRight(string(line), "\r\n")
			if strings.HasPrefix(text, "  ") || text == "" {
				continue
			}
			if !yield(n, text) {
				return
			}
		}
	}
}

// fields takes apart a line; the first field missing or no number is kept as the error.
type fields struct {
	rest []string
	err  error
}

func (f *fields) text() string {
	if len(f.rest) == 0 {
		if f.err == nil {
			f.err = fmt.Errorf("line ends early")
		}
		return ""
	}
	t := f.rest[0]
	f.rest = f.rest[1:]
	return t
}

func (f *fields) number(base int) int {
	t := f.text()
	x, err := strconv.ParseUint(t, base, 31)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%q where a number of base %d is expected", t, base)
	}
	return int(x)
}

// marker matches the syntactic marker of an adjective.
var marker = regexp.MustCompile(`\((a|p|ip)\)$`)

func parseSynset(line string) (synset, error) {
	head, gloss, _ := strings.Cut(line, "|")
	f := fields{rest: strings.Fields(head)}
	s := synset{address: address{offset: f.text()}, file: f.number(10)}
	letter := f.text()
	k, ok := kinds[letter]
	if f.err == nil && !ok {
		return s, fmt.Errorf("synset type %q, expected one of n v a s r", letter)
	}
	s.pos = k.pos
	for range f.number(16) {
		word := strings.ToLower(marker.ReplaceAllString(f.text(), ""))
		s.words = append(s.words, word)
		s.senseKeys = append(s.senseKeys, senseKey{word, k.kind, s.file, f.number(16)})
	}
	for range f.number(10) {
		symbol, offset, pos := f.text(), f.text(), f.text()
		f.text() // source and target word
		k, ok := kinds[pos]
		if f.err == nil && !ok {
			return s, fmt.Errorf("part of speech %q of a pointer, expected one of n v a s r", pos)
		}
		s.pointers = append(s.pointers, pointer{symbol: symbol, to: address{k.pos, offset}})
	}
	parts := strings.Split(strings.TrimSpace(gloss), `; "`)
	s.definition, s.examples = strings.TrimSpace(parts[0]), strings.Join(parts[1:], " ; ")
	return s, f.err
}

// collectLemmas numbers the words of all synsets.
func (w *wordnet) collectLemmas() {
	pos := map[string]lexicon.Set{}
	for _, s := range w.synsets {
		for _, word := range s.words {
			pos[word] |= lexicon.Of(s.pos)
		}
	}
	lemmas := make([]string, 0, len(pos))
	for word := range pos {
		lemmas = append(lemmas, word)
	}
	slices.Sort(lemmas)
	sets := make([]lexicon.Set, len(lemmas))
	for i, lemma := range lemmas {
		sets[i] = pos[lemma]
	}
	w.lexicon = lexicon.New(lemmas, sets)
	for i := range w.synsets {
		s := &w.synsets[i]
		for _, word := range s.words {
			id, _ := w.lexicon.Find(word)
			s.lemmas = append(s.lemmas, id)
		}
	}
}

// collectSenses lists the meanings of every lemma with their counts and ranks.
func (w *wordnet) collectSenses(files map[string][]byte, at map[address]int32) error {
	counts := map[senseKey]int{}
	for n, line := range entries(files["cntlist.rev"]) {
		f := fields{rest: strings.FieldsFunc(line, func(r rune) bool { return r == '%' || r == ':' || r == ' ' })}
		key := senseKey{f.text(), f.number(10), f.number(10), f.number(10)}
		if len(f.rest) < 2 || f.err != nil {
			return fmt.Errorf("cntlist.rev:%d: no sense key, sense number and count", n)
		}
		count := fields{rest: f.rest[len(f.rest)-1:]}
		counts[key] += count.number(10)
		if count.err != nil {
			return fmt.Errorf("cntlist.rev:%d: %w", n, count.err)
		}
	}
	type place struct{ lemma, synset int32 }
	ranks := map[place]int{}
	for _, p := range lexicon.All {
		name := "index." + extension[p]
		for n, line := range entries(files[name]) {
			f := fields{rest: strings.Fields(line)}
			lemma, _, _ := f.text(), f.text(), f.text()
			for range f.number(10) {
				f.text() // pointer symbols
			}
			senses := f.number(10)
			f.text() // senses in the tagged texts
			id, known := w.lexicon.Find(lemma)
			for rank := range senses {
				target, ok := at[address{p, f.text()}]
				if f.err == nil && (!ok || !known) {
					return fmt.Errorf("%s:%d: %q has a sense that no synset lists", name, n, lemma)
				}
				ranks[place{id, target}] = rank
			}
			if f.err != nil {
				return fmt.Errorf("%s:%d: %w", name, n, f.err)
			}
		}
	}
	w.senses = make([][]sense, w.lexicon.Len())
	for i, s := range w.synsets {
		for j, id := range s.lemmas {
			w.senses[id] = append(w.senses[id], sense{int32(i), counts[s.senseKeys[j]], ranks[place{id, int32(i)}]})
		}
	}
	return nil
}

// collectForms reads the exception lists.
func (w *wordnet) collectForms(files map[string][]byte) error {
	for _, p := range lexicon.All {
		name := extension[p] + ".exc"
		last := map[string]int{} // a form listed twice has the bases of its last line
		for n, line := range entries(files[name]) {
			f := strings.Fields(line)
			if len(f) < 2 {
				return fmt.Errorf("%s:%d: no base after the form", name, n)
			}
			if i, again := last[f[0]]; again {
				w.forms[i].bases = f[1:]
				continue
			}
			last[f[0]] = len(w.forms)
			w.forms = append(w.forms, form{p, f[0], f[1:]})
		}
	}
	slices.SortFunc(w.forms, func(a, b form) int {
		if a.pos != b.pos {
			return int(a.pos) - int(b.pos)
		}
		return strings.Compare(a.form, b.form)
	})
	for _, f := range w.forms {
		w.lexicon.AddException(f.pos, f.form, known(w.lexicon, f.bases))
	}
	return nil
}

// known returns the indices of those lemmas that l has.
func known(l *lexicon.Lexicon, lemmas []string) []int32 {
	var ids []int32
	for _, lemma := range lemmas {
		if id, ok := l.Find(lemma); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// exampleWeight is the weight of a word of an example, relative to a word of the definition.
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
