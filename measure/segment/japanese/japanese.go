// Package japanese splits Japanese text into words, close to the short units
// of UniDic: by MeCab's method and the IPA dictionary, both as in kagome, and
// two rules of UniDic where the two dictionaries differ by design (see
// Segmenter). The dictionary (see NOTICE.ipadic) takes 12 MB of a program that
// links this package and, from the first use, 30 MB of memory, with a peak of
// 80 MB and a third of a second to read it.
package japanese

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ikawaha/kagome-dict/ipa"
	"github.com/ikawaha/kagome/v2/tokenizer"

	"crosstalk/measure/segment"
)

// Segmenter is a segment.Segmenter. It leaves out white space; marks are words.
//
// What IPA's words are is kept, but for two cases in which UniDic's short unit
// is defined otherwise: every digit of a number is a word, and the middle dot
// between the parts of a name or a loan is a word by itself.
type Segmenter struct{}

// AppendWords implements segment.Segmenter.
func (Segmenter) AppendWords(dst []string, text string) []string {
	for text != "" {
		n := chunk(text)
		for _, word := range analyser().Wakati(text[:n]) {
			dst = appendUnits(dst, word)
		}
		text = text[n:]
	}
	return dst
}

// Load reads the dictionary into memory now, if it is not there, instead of at
// the first text.
func Load() { analyser() }

var analyser = sync.OnceValue(func() *tokenizer.Tokenizer {
	t, err := tokenizer.New(ipa.DictShrink(), tokenizer.OmitBosEos())
	if err != nil {
		panic("japanese: embedded dictionary: " + err.Error())
	}
	return t
})

// maxChunk is the longest text, in bytes, that is analysed at once: the lattice
// of its words takes many times the memory of the text.
const maxChunk = 4096

// chunk returns how many bytes at the start of text to analyse at once: all,
// or as far as the last sentence or white space that ends within maxChunk.
func chunk(text string) int {
	if len(text) <= maxChunk {
		return len(text)
	}
	end := strings.LastIndexFunc(text[:maxChunk], func(r rune) bool { return r == '。' || segment.IsSpace(r) })
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

// appendUnits appends the short units of a word of the dictionary.
func appendUnits(dst []string, word string) []string {
	number := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	start := 0
	for i, r := range word {
		n := utf8.RuneLen(r)
		switch space := segment.IsSpace(r); {
		case space, number, r == '・':
			if start < i {
				dst = append(dst, word[start:i])
			}
			if !space {
				dst = append(dst, word[i:i+n])
			}
			start = i + n
		}
	}
	if start < len(word) {
		dst = append(dst, word[start:])
	}
	return dst
}

var _ segment.Segmenter = Segmenter{}
