// Package japanese splits Japanese text into the words that MeCab 0.996 finds with UniDic 3.1.1: short units of the
// National Institute for Japanese Language and Linguistics, and the dictionary's treatment of Latin letters, figures
// and marks. The dictionary (licence in LICENSE.unidic) is embedded in 4.3 MB. It takes 22 MB of memory from the
// first use, 33 MB after three thousand lines, and 78 MB at most.
package japanese

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"crosstalk/measure/pytext"
	"crosstalk/measure/segment"
)

//go:generate go -C ../../../tools run ./build/unidic

// Segmenter is a segment.Segmenter. It omits white space, even inside words: "New York" in the dictionary becomes two
// words. Marks are words.
//
// MeCab combines bytes that are not UTF-8 with the text after them; here they are separate. A text of more than 16
// KiB is analysed in parts, split at the end of a sentence or at white space, while MeCab analyses it whole.
type Segmenter struct{}

// AppendWords implements segment.Segmenter.
func (Segmenter) AppendWords(dst []string, text string) []string {
	if text == "" {
		return dst
	}
	l := lattices.Get().(*lattice)
	defer lattices.Put(l)
	l.dictionary = unidic()
	for text != "" {
		n := chunk(text)
		dst = l.appendWords(dst, text[:n])
		text = text[n:]
	}
	return dst
}

// Load loads the dictionary now, unless it is loaded, rather than at the first text.
func Load() { unidic() }

var lattices = sync.Pool{New: func() any { return new(lattice) }}

// maxChunk is the longest text, in bytes, that is analysed at once: its lattice takes a hundred times the memory of
// the text.
const maxChunk = 1 << 14

// chunk returns how many bytes of text to analyse at once: all, or up to the last end of a sentence or white space
// within maxChunk.
func chunk(text string) int {
	if len(text) <= maxChunk {
		return len(text)
	}
	end := strings.LastIndexFunc(text[:maxChunk], func(r rune) bool { return r == '。' || pytext.IsSpace(r) })
	if end >= 0 {
		_, n := utf8.DecodeRuneInString(text[end:])
		return end + n
	}
	for end = maxChunk; end > maxChunk-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return maxChunk
}

var _ segment.Segmenter = Segmenter{}

// A lattice holds all ways to split a text into words, and working memory. The best way has the lowest cost, which is
// the sum of the costs of its words and of each two adjacent ones (Kudo et al. 2004). Of ways with the same cost, the
// order of the loops finds the same one as MeCab.
type lattice struct {
	*dictionary
	nodes  []node
	ending []int32 // by byte of the text: the first of the nodes that end there
	found  []found
	path   []int32
}

// A node is a word at its place, with the best way to it. Nodes are identified by their indexes in a lattice: 0 is
// none, 1 the start of the text.
type node struct {
	start, end int32 // bytes of the text
	kind       uint16
	cost       int32 // of the way
	before     int32 // the preceding node on the way
	next       int32 // another node that ends at the same byte
}

// A found word may follow the nodes that end before it.
type found struct {
	word
	end    int
	column [blocks]uint16 // of its kind
	cost   int32          // of the best way to its start, without the word
	before int32
}

func (l *lattice) appendWords(dst []string, text string) []string {
	l.nodes = append(l.nodes[:0], node{}, node{kind: textEnd})
	l.ending = append(l.ending[:0], make([]int32, len(text)+1)...)
	l.ending[0] = 1
	last := 0 // end of the last word: white space may follow
	for at := range len(text) {
		if l.ending[at] == 0 {
			continue
		}
		last = at
		start := l.find(text, at)
		l.follow(l.ending[at])
		for _, f := range slices.Backward(l.found) {
			l.nodes = append(l.nodes, node{start: int32(start), end: int32(f.end), kind: f.kind,
				cost: f.cost + int32(f.word.cost), before: f.before, next: l.ending[f.end]})
			l.ending[f.end] = int32(len(l.nodes) - 1)
		}
	}
	if l.ending[len(text)] > 0 {
		last = len(text)
	}
	l.found = append(l.found[:0], found{word: word{kind: textEnd}, column: l.kinds[textEnd].column})
	l.follow(l.ending[last])

	l.path = l.path[:0]
	for n := l.found[0].before; n > 1; n = l.nodes[n].before {
		l.path = append(l.path, n)
	}
	for _, n := range slices.Backward(l.path) {
		dst = segment.Space{}.AppendWords(dst, text[l.nodes[n].start:l.nodes[n].end])
	}
	return dst
}

// find sets found to the words that start at a byte of text or at the end of the white space there, which it returns.
func (l *lattice) find(text string, at int) (start int) {
	const maxRun = 24 // characters after the first in a word that the lexicon lacks
	l.found = l.found[:0]
	start, _ = l.run(text, at, l.categoryOf(' '), math.MaxInt)
	if start == len(text) {
		return start
	}
	for end, n := start, int32(0); end < len(text); {
		r, size := decode(text[end:])
		label, known := l.label[r]
		if n = l.trie.Child(n, label); n == 0 || !known {
			break
		}
		end += size
		for _, w := range l.words[l.firstWord[n]:l.firstWord[n+1]] {
			l.found = append(l.found, found{word: w, end: end, column: l.kinds[w.kind].column})
		}
	}

	first, size := decode(text[start:])
	category := l.categoryOf(first)
	if len(l.found) > 0 && !category.always {
		return start
	}
	end, group := start+size, 0
	if category.group {
		var more int
		if group, more = l.run(text, end, category, maxRun+1); more <= maxRun {
			l.unknown(category, group)
		}
	}
	for i := 0; i < category.length && end != group; i++ {
		l.unknown(category, end)
		next, more := l.run(text, end, category, 1)
		if more == 0 {
			break
		}
		end = next
	}
	if len(l.found) == 0 {
		l.unknown(category, end)
	}
	return start
}

// run returns the end of the characters from a byte of text that may each follow the one before, and their number, at
// most limit.
func (l *lattice) run(text string, at int, before *category, limit int) (end, chars int) {
	for end = at; end < len(text) && chars < limit; chars++ {
		r, size := decode(text[end:])
		category := l.categoryOf(r)
		if before.goesWith&category.goesWith == 0 {
			break
		}
		before = category
		end += size
	}
	return end, chars
}

// unknown finds words that the lexicon lacks.
func (l *lattice) unknown(c *category, end int) {
	for _, w := range c.words {
		l.found = append(l.found, found{word: w, end: end, column: l.kinds[w.kind].column})
	}
}

// follow sets the best way to each found word among those that end with a node or the ones after it.
func (l *lattice) follow(first int32) {
	for i := range l.found {
		l.found[i].cost = math.MaxInt32
	}
	for n := first; n > 0; n = l.nodes[n].next {
		node := &l.nodes[n]
		rows := l.rows(node.kind)
		for i := range l.found {
			f := &l.found[i]
			if cost := node.cost + rows.cost(&f.column); cost < f.cost {
				f.cost, f.before = cost, n
			}
		}
	}
}
