package translation

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"

	"crosstalk/measure/pytext"
)

// A ROUGE is one way to compute ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) of one hypothesis against one reference,
// without stemming. Published figures come from packages that differ in more than the words they see:
//
//   - ROUGEASCII is the rouge_score package: lower case, words of [a-z0-9] only
//     (so "für" is the words "f" and "r"), bags of n-grams. A score of two
//     texts without n-grams is 0.
//   - ROUGEChinese is the rouge_chinese package, for texts cut into words:
//     ChineseWords, n-grams as sets, so repetition does not count, and 1e-8
//     added to the denominator of the F-score. ROUGE-L sees repetitions.
//   - ROUGEUnicode is for any language: UnicodeWords, bags of n-grams. Where the
//     reference has no n-gram, the score is NaN.
type ROUGE struct {
	name   string
	words  func(string) []string
	rejoin bool    // given words are joined by spaces and cut again
	sets   bool    // n-grams as sets
	eps    float64 // in the denominator of F1
	undef  float64 // F1 without n-grams in the reference
}

var (
	ROUGEASCII   = ROUGE{name: "ascii", words: ASCIIWords}
	ROUGEChinese = ROUGE{name: "chinese", words: ChineseWords, rejoin: true, sets: true, eps: 1e-8}
	ROUGEUnicode = ROUGE{name: "unicode", words: UnicodeWords, undef: math.NaN()}
)

// ROUGEScore is the three ROUGE figures of a pair of texts: the harmonic mean of the shares of the hypothesis and of
// the reference that both have in common, 0 to 1.
type ROUGEScore struct {
	ROUGE1, ROUGE2, ROUGEL float64
}

// Signature names the variant.
func (r ROUGE) Signature() string {
	ngrams := "bags"
	if r.sets {
		ngrams = "sets"
	}
	return fmt.Sprintf("words:%s|ngrams:%s|stem:no", r.name, ngrams)
}

// Score compares two texts. ROUGEChinese expects spaces between their words.
func (r ROUGE) Score(hyp, ref string) ROUGEScore { return r.score(r.words(hyp), r.words(ref)) }

// ScoreWords compares two texts that are cut into words already. For ROUGEChinese, white space that the segmenter
// returned as words must be among them.
func (r ROUGE) ScoreWords(hyp, ref []string) ROUGEScore {
	if r.rejoin {
		return r.Score(strings.Join(hyp, " "), strings.Join(ref, " "))
	}
	return r.score(hyp, ref)
}

func (r ROUGE) score(hyp, ref []string) ROUGEScore {
	return ROUGEScore{
		ROUGE1: r.ngrams(hyp, ref, 1),
		ROUGE2: r.ngrams(hyp, ref, 2),
		ROUGEL: r.overlap(LongestCommonSubsequence(hyp, ref), len(hyp), len(ref)),
	}
}

// ngrams is ROUGE-N for n of 1 or 2.
func (r ROUGE) ngrams(hyp, ref []string, n int) float64 {
	inHyp, inRef := r.counts(hyp, n), r.counts(ref, n)
	var shared, nHyp, nRef int
	for gram, count := range inHyp {
		nHyp += count
		shared += min(count, inRef[gram])
	}
	for _, count := range inRef {
		nRef += count
	}
	return r.overlap(shared, nHyp, nRef)
}

func (r ROUGE) counts(words []string, n int) map[[2]string]int {
	counts := make(map[[2]string]int, len(words))
	for i := range len(words) - n + 1 {
		var gram [2]string
		copy(gram[:], words[i:i+n])
		if r.sets {
			counts[gram] = 1
		} else {
			counts[gram]++
		}
	}
	return counts
}

// overlap is F1 of the shared parts.
func (r ROUGE) overlap(shared, hyp, ref int) float64 {
	switch {
	case ref == 0:
		return r.undef
	case shared == 0:
		return 0
	}
	precision, recall := float64(shared)/float64(hyp), float64(shared)/float64(ref)
	return 2 * (precision * recall / (precision + recall + r.eps))
}

// LongestCommonSubsequence returns the length of the longest sequence of words that two texts have in this order, in
// time |a||b| and space |b|.
func LongestCommonSubsequence(a, b []string) int {
	row := make([]int, len(b)+1) // row[j]: length for the words of a so far and b[:j]
	for _, word := range a {
		diagonal := 0 // row[j] before this word
		for j, other := range b {
			above := row[j+1]
			if word == other {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

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

// unspaced reports whether r is a letter of a script without spaces: also kana's sound mark, whose script is Common.
func unspaced(r rune) bool {
	return r >= 0x0E00 && (unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)) &&
		(r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
			unicode.Khmer, unicode.Myanmar, unicode.Tibetan))
}
