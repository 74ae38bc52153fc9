// Package jieba splits Chinese text into words exactly as the Python library jieba 0.42.1 does with lcut(text):
// accurate mode with new words found by its hidden Markov model. The dictionary and the model are jieba's own (MIT
// licence, see LICENSE.jieba), embedded in 1.2 MB. They take 5 MB of memory, from the first use.
package jieba

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/segment"
	"crosstalk/measure/segment/internal/triefile"
)

//go:generate go -C ../../../tools run ./build/jieba

// Segmenter is a segment.Segmenter. It leaves nothing out: its words, joined,
// are the text. Every white-space character and every mark is a word, "\r\n" one.
type Segmenter struct{}

// AppendWords implements segment.Segmenter.
func (Segmenter) AppendWords(dst []string, text string) []string {
	if text == "" {
		return dst
	}
	c := cutters.Get().(*cutter)
	defer cutters.Put(c)
	c.tableSet = tables()
	for text != "" {
		if n := runEnd(text, inBlock); n > 0 {
			dst = c.block(dst, text[:n])
			text = text[n:]
			continue
		}
		_, n := utf8.DecodeRuneInString(text)
		if strings.HasPrefix(text, "\r\n") {
			n = 2
		}
		dst = append(dst, text[:n])
		text = text[n:]
	}
	return dst
}

var cutters = sync.Pool{New: func() any { return new(cutter) }}

// A cutter has the tables and working memory of one call.
type cutter struct {
	*tableSet
	offsets []int   // byte offset of each character of a block, and its end
	labels  []int32 // 1 + label of each character in the trie, or 0
	best    []step
	back    [][4]state
}

// A step is the best way from a character to the end of its block: its log
// probability and the character after its first word.
type step struct {
	logProb float64
	next    int
}

// block splits a run of characters that the dictionary may know: the most probable path through its words, and the
// model for what falls into single characters (jieba's __cut_DAG).
func (c *cutter) block(dst []string, block string) []string {
	c.route(block)
	n := len(c.labels)
	single := 0 // first of the single characters before i
	for i := 0; i < n; i = c.best[i].next {
		if c.best[i].next == i+1 {
			continue
		}
		dst = c.singles(dst, block, single, i)
		single = c.best[i].next
		dst = append(dst, block[c.offsets[i]:c.offsets[single]])
	}
	return c.singles(dst, block, single, n)
}

// route fills offsets, labels and best for the block. Of equally probable ways
// the one with the longer first word is best.
func (c *cutter) route(block string) {
	c.offsets, c.labels = c.offsets[:0], c.labels[:0]
	for i, r := range block {
		c.offsets = append(c.offsets, i)
		c.labels = append(c.labels, c.labelOf(r))
	}
	n := len(c.labels)
	c.offsets = append(c.offsets, len(block))
	c.best = append(c.best[:0], make([]step, n+1)...)
	for i := n - 1; i >= 0; i-- {
		found := false
		var best step
		node := int32(0)
		for j := i; j < n; j++ {
			if node = c.child(node, c.labels[j]); node == 0 {
				break
			}
			word := c.word[node]
			if word == 0 {
				continue
			}
			if p := c.logProb[word-1] + c.best[j+1].logProb; !found || p >= best.logProb {
				best = step{p, j + 1}
				found = true
			}
		}
		if !found {
			best = step{c.logProb[0] + c.best[i+1].logProb, i + 1}
		}
		c.best[i] = best
	}
}

// singles splits the characters from i to j, which the best path left single.
// Those that make up a word nevertheless stay single.
func (c *cutter) singles(dst []string, block string, i, j int) []string {
	switch {
	case i == j:
		return dst
	case i+1 == j || c.isWord(c.labels[i:j]):
		for ; i < j; i++ {
			dst = append(dst, block[c.offsets[i]:c.offsets[i+1]])
		}
		return dst
	}
	for rest := block[c.offsets[i]:c.offsets[j]]; rest != ""; {
		n := runEnd(rest, isHan)
		if n > 0 {
			dst = c.viterbi(dst, rest[:n])
		} else {
			n = runEnd(rest, func(r rune) bool { return !isHan(r) })
			dst = appendLatin(dst, rest[:n])
		}
		rest = rest[n:]
	}
	return dst
}

// appendLatin splits ASCII text into numbers and Latin words, with a decimal
// part and a percent sign, and what stands between them.
func appendLatin(dst []string, text string) []string {
	between := 0
	for i := 0; i < len(text); {
		n := runEnd(text[i:], isAlnum)
		if n == 0 {
			i++
			continue
		}
		if between < i {
			dst = append(dst, text[between:i])
		}
		end := i + n
		if strings.HasPrefix(text[end:], ".") {
			if n := runEnd(text[end+1:], isDigit); n > 0 {
				end += 1 + n
			}
		}
		if strings.HasPrefix(text[end:], "%") {
			end++
		}
		dst = append(dst, text[i:end])
		i, between = end, end
	}
	if between < len(text) {
		dst = append(dst, text[between:])
	}
	return dst
}

// runEnd returns the length in bytes of the run of characters that text starts with and that are in the class.
func runEnd(text string, in func(rune) bool) int {
	if n := strings.IndexFunc(text, func(r rune) bool { return !in(r) }); n >= 0 {
		return n
	}
	return len(text)
}

func isHan(r rune) bool   { return firstHan <= r && r <= lastHan }
func isDigit(r rune) bool { return '0' <= r && r <= '9' }
func isAlnum(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || isDigit(r))
}

// inBlock reports whether jieba looks r up in the dictionary.
func inBlock(r rune) bool {
	return isHan(r) || isAlnum(r) || r < utf8.RuneSelf && strings.ContainsRune("+#&._%-", r)
}

var _ segment.Segmenter = Segmenter{}

// A state of the hidden Markov model is the place of a character in its word. The order follows the letters B, E, M,
// S, by which jieba breaks ties: of two equally probable states the later one wins.
type state = uint8

const (
	stateB state = iota // begins a word of several characters
	stateE              // ends it
	stateM              // in its middle
	stateS              // is a word by itself
)

// before lists the states that may come before each state, later letter first.
var before = [4][2]state{
	stateB: {stateS, stateE},
	stateE: {stateM, stateB},
	stateM: {stateM, stateB},
	stateS: {stateS, stateE},
}

// viterbi splits a run of Han characters along the most probable sequence of states (jieba's finalseg).
func (c *cutter) viterbi(dst []string, run string) []string {
	const size = 3 // bytes of each character in UTF-8
	n := len(run) / size
	c.back = append(c.back[:0], make([][4]state, n)...)
	var logProb [4]float64
	for i := range n {
		r, _ := utf8.DecodeRuneInString(run[i*size:])
		emit := &c.emit[r-firstHan]
		last := logProb
		for s := range logProb {
			if i == 0 {
				logProb[s] = c.begin[s] + emit[s]
				continue
			}
			first, second := before[s][0], before[s][1]
			p := last[first] + c.trans[first][s] + emit[s]
			q := last[second] + c.trans[second][s] + emit[s]
			if p >= q {
				logProb[s], c.back[i][s] = p, first
			} else {
				logProb[s], c.back[i][s] = q, second
			}
		}
	}

	// Walk back from the last character, which ends a word, and turn the links
	// into the path: path[i] is kept in back[i][0].
	at := stateE
	if logProb[stateS] >= logProb[stateE] {
		at = stateS
	}
	for i := n - 1; i >= 0; i-- {
		at, c.back[i][0] = c.back[i][at], at
	}
	from := 0
	for i := range n {
		switch c.back[i][0] {
		case stateE, stateS:
			dst = append(dst, run[from*size:(i+1)*size])
			from = i + 1
		}
	}
	return dst
}

//go:embed tables.bin.gz
var packed []byte

const (
	firstHan, lastHan = 0x4E00, 0x9FD5
	hanCount          = lastHan - firstHan + 1
	never             = -3.14e100 // jieba's logarithm of zero
)

// A tableSet is the dictionary and the hidden Markov model.
type tableSet struct {
	// Dictionary. Characters are known by their labels, 0 up, by falling frequency.
	ascii   [128]int32 // 1 + label, 0 if in no word
	han     [hanCount]int32
	trie    triefile.Trie
	word    []uint16  // of each node: 1 + place in logProb, 0 if the node ends no word
	logProb []float64 // of words; the first is an unknown character's

	// Model: log probabilities, by state.
	begin [4]float64
	trans [4][4]float64 // from, to
	emit  [hanCount][4]float64
}

// labelOf returns 1 + the label of a character in a block.
func (t *tableSet) labelOf(r rune) int32 {
	if r < 128 {
		return t.ascii[r]
	}
	return t.han[r-firstHan]
}

// child returns the child of a node with that label less 1, or 0.
func (t *tableSet) child(node, label int32) int32 {
	if label == 0 {
		return 0
	}
	return t.trie.Child(node, uint16(label-1))
}

func (t *tableSet) isWord(labels []int32) bool {
	node := int32(0)
	for _, label := range labels {
		if node = t.child(node, label); node == 0 {
			return false
		}
	}
	return t.word[node] > 0
}

// tables unpacks the embedded tables; their format is described in tools/build/jieba.
var tables = sync.OnceValue(func() *tableSet {
	r := triefile.Open("jieba", packed, 1)
	t := new(tableSet)
	floats := func() []float64 {
		all := make([]float64, r.Uint())
		for i := range all {
			all[i] = r.Float()
		}
		return all
	}
	chars := r.Uint()
	for label := range int32(chars) {
		if c := r.Int() + firstHan; c < len(t.ascii) {
			t.ascii[c] = label + 1
		} else {
			t.han[c-firstHan] = label + 1
		}
	}
	t.logProb = floats()

	t.trie = r.Trie(chars)
	t.word = make([]uint16, t.trie.Nodes())
	for i := range t.word[1:] {
		t.word[1+i] = uint16(r.Uint())
	}
	for s := range t.begin {
		t.begin[s] = r.Float()
	}
	for from := range t.trans {
		for to := range t.trans[from] {
			t.trans[from][to] = r.Float()
		}
	}
	probs := floats()
	for s := range t.begin {
		for i := range t.emit {
			t.emit[i][s] = never
			if place := r.Uint(); place > 0 {
				t.emit[i][s] = probs[place-1]
			}
		}
	}
	return t
})
