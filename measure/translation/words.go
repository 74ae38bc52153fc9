package translation

import (
	"regexp"
	"strings"
	"unicode"

	"crosstalk/measure/pytext"
)

// ASCIIWords lower-cases text and returns its runs of [a-z0-9], as the rouge_score package does. A letter with an
// accent splits a word; a text in another script has no words.
func ASCIIWords(text string) []string {
	return strings.FieldsFunc(pytext.Lower(text), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
}

// ChineseWords returns the words of a text that has spaces between them, as the rouge_chinese package does. It cuts the
// text into sentences first. A sentence of nothing but spaces, as when an answer has an empty line in it, is the empty
// string when its words are joined again, and that counts as a word.
func ChineseWords(text string) []string {
	for _, end := range chineseSentenceEnds {
		text = end.ReplaceAllString(text, "$1\n$2")
	}
	var words []string
	for sentence := range strings.SplitSeq(pytext.TrimRightSpace(text), "\n") {
		if fields := pytext.Fields(sentence); len(fields) > 0 {
			words = append(words, fields...)
		} else if sentence != "" {
			words = append(words, "")
		}
	}
	return words
}

// A sentence ends after its mark or after the quotation mark that follows.
var chineseSentenceEnds = []*regexp.Regexp{
	regexp.MustCompile(`([。！？?])([^”’])`),
	regexp.MustCompile(`(\.{6})([^”’])`),
	regexp.MustCompile(`(…{2})([^”’])`),
	regexp.MustCompile(`([。！？?][”’])([^，。！？?])`),
}

// UnicodeWords lower-cases text and returns its words: runs of letters, marks and numbers, and each letter of a script
// that writes no spaces between words (Han, kana, Thai, Lao, Khmer, Myanmar, Tibetan) together with its marks.
// Canonically equivalent spellings are not equal: bring the texts to one normal form first if they may differ in it.
func UnicodeWords(text string) []string {
	text = pytext.Lower(text)
	var words []string
	start := -1     // of the current word
	single := false // the current word is one unspaced letter
	end := func(i int) {
		if start >= 0 {
			words = append(words, text[start:i])
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case unicode.Is(unicode.M, r):
			if start < 0 {
				start, single = i, false
			}
		case unspaced(r):
			end(i)
			start, single = i, true
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if single {
				end(i)
			}
			if start < 0 {
				start, single = i, false
			}
		default:
			end(i)
		}
	}
	end(len(text))
	return words
}

// unspaced reports whether r is a letter of a script without spaces between words. The prolonged sound mark belongs to
// kana, though its script is Common.
func unspaced(r rune) bool {
	return r >= 0x0E00 && (unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)) &&
		(r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
			unicode.Khmer, unicode.Myanmar, unicode.Tibetan))
}
