// Package jieba splits Chinese text into words exactly as the Python library jieba 0.42.1 does with lcut(text):
// accurate mode with new words found by its hidden Markov model. The dictionary and the model are jieba's own (MIT
// licence, see LICENSE.jieba), embedded in 1.2 MB. They take 5 MB of memory, from the first use.
package jieba

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/segment"
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

var tables = sync.OnceValue(readTables)

var cutters = sync.Pool{New: func() any { return new(cutter) }}

// A cutter has the tables and working memory of one call.
type cutter struct {
	*tableSet
	offsets []int   // byte offset of each character of a block, and its end
	labels  []int32 // label of each character in the trie
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
