// Package translation scores translations and paraphrases against references: BLEU (Papineni et al. 2002) with the
// tokenizers, smoothing and figures of sacreBLEU (Post 2018), and ROUGE-1, -2 and -L (Lin 2004).
//
// BLEU of a corpus is a function of counts summed over its segments. Stats gives the counts of one segment, Add sums
// them and Score turns them into the figure, so a corpus can be streamed, split over machines or resampled without its
// texts.
//
// BLEU ranges from 0 to 100, ROUGE from 0 to 1. A score without segments is NaN. Text is UTF-8; an invalid byte counts
// as U+FFFD or as itself, never as an error. All functions may be called concurrently.
package translation

import (
	"bytes"
	"iter"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

const order = 4 // the length of the longest n-grams

// BLEUStats are the sufficient statistics of BLEU with one reference. A corpus's are the sum over its segments.
type BLEUStats struct {
	Segments int
	SysLen   int        // words of the hypotheses
	RefLen   int        // words of the references
	Counts   [order]int // matched n-grams, n from 1
	Totals   [order]int // n-grams of the hypotheses, n from 1
}

// Add adds the statistics of further segments, which must have been counted with the same tokenizer.
func (s *BLEUStats) Add(o BLEUStats) {
	s.Segments += o.Segments
	s.SysLen += o.SysLen
	s.RefLen += o.RefLen
	for n := range s.Counts {
		s.Counts[n] += o.Counts[n]
		s.Totals[n] += o.Totals[n]
	}
}

// Stats counts one segment.
func (t Tokenizer) Stats(hyp, ref string) BLEUStats {
	sc := scratch{words: map[string]uint32{}, ngrams: map[uint64]uint32{}, left: []int32{0}}
	symbols := sc.symbols(t, hyp)
	words := sc.symbols(t, ref)
	sc.count(words)
	stats := BLEUStats{Segments: 1, SysLen: len(symbols), RefLen: len(words)}
	sc.match(symbols, &stats.Counts)
	for n := range stats.Totals {
		stats.Totals[n] = max(len(symbols)-n, 0)
	}
	return stats
}

// Signature is sacreBLEU's signature of a score. Its version refers to the rules of sacreBLEU 2; tok:zh implies the
// faults described at that tokenizer's character table.
func (t Tokenizer) Signature() string {
	return "nrefs:1|case:mixed|eff:no|tok:" + string(t) + "|smooth:exp|version:2"
}

// Score computes BLEU as sacreBLEU 2 does by default, to the precision of exp and log: the formula of Papineni et al.
// (2002, section 2.3) with n-grams of up to four words; case counts, and the orders without a match have 1/2, 1/4, ...
// of a match in turn (Chen and Cherry 2014, method 3). A hypothesis of fewer than four words always scores 0.
func (s BLEUStats) Score() float64 {
	switch {
	case s.Segments == 0:
		return math.NaN()
	case s.Counts == [order]int{}: // no smoothing applies
		return 0
	}
	logs, half := 0.0, 1.0
	for n, count := range s.Counts {
		matched := float64(count)
		if count == 0 {
			half *= 2
			matched = 1 / half
		}
		if s.Totals[n] == 0 {
			return 0
		}
		logs += math.Log(100 * matched / float64(s.Totals[n]))
	}
	brevity := math.Exp(min(0, 1-float64(s.RefLen)/float64(s.SysLen)))
	return brevity * math.Exp(logs/order)
}

// scratch counts the n-grams of a segment. Those of its reference form a trie: one is known by the number of its first
// n-1 words and its last word, which makes a key of 64 bits without loss.
type scratch struct {
	rewriter
	words  map[string]uint32
	ngrams map[uint64]uint32 // their numbers, from 1
	left   []int32           // by n-gram: matches that the reference still allows
}

func (sc *scratch) symbols(t Tokenizer, line string) (symbols []uint32) {
	for word := range fields(sc.rewrite(t, line)) {
		n, known := sc.words[string(word)]
		if !known {
			n = uint32(len(sc.words))
			sc.words[string(word)] = n
		}
		symbols = append(symbols, n)
	}
	return symbols
}

// count sets the number of matches that the reference allows for each n-gram: as many as it has occurrences (Papineni
// et al. 2002, section 2.1: modified precision).
func (sc *scratch) count(ref []uint32) {
	for start := range ref {
		id := uint32(0)
		for _, symbol := range ref[start:min(start+order, len(ref))] {
			key := uint64(id)<<32 | uint64(symbol)
			if id = sc.ngrams[key]; id == 0 {
				id = uint32(len(sc.left))
				sc.ngrams[key] = id
				sc.left = append(sc.left, 0)
			}
			sc.left[id]++
		}
	}
}

// match adds to matches[n-1] the n-grams of hyp that the reference allows, and uses them up.
func (sc *scratch) match(hyp []uint32, matches *[order]int) {
	for start := range hyp {
		id := uint32(0)
		for n, symbol := range hyp[start:min(start+order, len(hyp))] {
			if id = sc.ngrams[uint64(id)<<32|uint64(symbol)]; id == 0 {
				break // no longer n-gram from here is in the reference either
			}
			if sc.left[id] > 0 {
				sc.left[id]--
				matches[n]++
			}
		}
	}
}

// A Tokenizer names one of sacreBLEU's rules to split a segment into the words that BLEU counts.
type Tokenizer string

const (
	Tokenize13a  Tokenizer = "13a"  // mteval-v13a.pl, for languages that put spaces between words
	TokenizeZh   Tokenizer = "zh"   // every Chinese character a word, the rest as 13a
	TokenizeChar Tokenizer = "char" // every character a word
)

// TokenizerFor returns the customary tokenizer for an ISO 639-1 language code (a region or script after it is ignored):
// zh for Chinese, char for the other languages that write no spaces between words, 13a for the rest.
func TokenizerFor(lang string) Tokenizer {
	lang, _, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(lang), "_", "-"), "-")
	switch lang {
	case "zh":
		return TokenizeZh
	case "ja", "th", "lo", "km", "my", "bo":
		return TokenizeChar
	}
	return Tokenize13a
}

// Tokenize splits a segment into words.
func (t Tokenizer) Tokenize(line string) (words []string) {
	var r rewriter
	for word := range fields(r.rewrite(t, line)) {
		words = append(words, string(word))
	}
	return words
}

// A rewriter inserts white space between the words of a line. The result of rewrite is valid until the next call.
type rewriter struct{ a, b []byte }

// rewrite spaces out line as tokenizer t prescribes. White space at the end is cut first, as
// sacreBLEU does for every tokenizer.
func (r *rewriter) rewrite(t Tokenizer, line string) []byte {
	line = pytext.TrimRightSpace(line)
	switch r.a = r.a[:0]; t {
	case TokenizeZh:
		return r.rewriteZh(line)
	case TokenizeChar:
		for len(line) > 0 {
			_, n := utf8.DecodeRuneInString(line)
			r.a = append(append(r.a, line[:n]...), ' ')
			line = line[n:]
		}
		return r.a
	}
	return r.rewrite13a(line)
}

// fields yields the runs of text between white space, as str.split cuts them.
func fields(text []byte) iter.Seq[[]byte] { return bytes.FieldsFuncSeq(text, pytext.IsSpace) }

// rewrite13a follows mteval-v13a.pl as in sacreBLEU: it removes SGML leftovers, then separates punctuation.
func (r *rewriter) rewrite13a(line string) []byte {
	// One after the other, so "&amp;lt;" ends as "<" but "&amp;quot;" as "&quot;".
	for _, r := range [][2]string{{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", `"`}, {"&amp;", "&"},
		{"&lt;", "<"}, {"&gt;", ">"}} {
		line = strings.ReplaceAll(line, r[0], r[1])
	}
	// The outer spaces give a full stop at the very end a neighbour that is not a digit. The zh tokenizer lacks them:
	// there "in 2005." ends in "2005.".
	r.a = append(r.a, ' ')
	from := 0
	for i := range len(line) {
		if c := line[i]; apart[c] {
			r.a = append(append(r.a, line[from:i]...), ' ', c, ' ')
			from = i + 1
		}
	}
	r.a = append(append(r.a, line[from:]...), ' ')
	return r.punctuate()
}

// apart marks the ASCII characters that 13a always separates: all punctuation and symbols but ' , - and the full stop.
// The range in mteval-v13a.pl that covers them includes the space, which has no effect.
var apart = func() (t [256]bool) {
	for _, c := range []byte("!\"#$%&()*+/:;<=>?@[\\]^_`{|}~") {
		t[c] = true
	}
	return t
}()

// punctuate applies to r.a, one after the other, the three context rules that
// 13a and zh share:
//
//	([^0-9])([.,])  ->  `\1 \2 `
//	([.,])([^0-9])  ->  ` \1 \2`
//	([0-9])(-)      ->  `\1 \2 `
//
// A match consumes both characters, so the second stop of "a..5" has no
// neighbour left for the first rule, and the words are a, the stop, and ".5".
// It works on bytes, because the neighbour of a stop only must not be an ASCII
// digit.
func (r *rewriter) punctuate() []byte {
	r.b = splitAfter(r.b[:0], r.a, stop, false)
	r.a = splitBeforeNonDigit(r.a[:0], r.b)
	r.b = splitAfter(r.b[:0], r.a, func(c byte) bool { return c == '-' }, true)
	return r.b
}

// splitAfter sets marks apart that follow a digit, or anything else.
func splitAfter(dst, src []byte, mark func(byte) bool, digits bool) []byte {
	from := 0 // everything before is copied or consumed
	for i := 1; i < len(src); i++ {
		if mark(src[i]) && i > from && digit(src[i-1]) == digits {
			dst = append(append(dst, src[from:i]...), ' ', src[i], ' ')
			from = i + 1
		}
	}
	return append(dst, src[from:]...)
}

func splitBeforeNonDigit(dst, src []byte) []byte {
	from := 0
	for i := 0; i+1 < len(src); i++ {
		if stop(src[i]) && !digit(src[i+1]) {
			dst = append(append(dst, src[from:i]...), ' ', src[i], ' ', src[i+1])
			i++
			from = i + 1
		}
	}
	return append(dst, src[from:]...)
}

func stop(c byte) bool  { return c == '.' || c == ',' }
func digit(c byte) bool { return '0' <= c && c <= '9' }

// rewriteZh is sacreBLEU's zh tokenizer: Chinese characters stand alone and the rest is cut as 13a cuts it, but without
// 13a's handling of SGML and without its outer spaces.
func (r *rewriter) rewriteZh(line string) []byte {
	line = pytext.TrimSpace(line)
	from := 0
	for i, n := 0, 1; i < len(line); i += n {
		alone := apart[line[i]]
		if n = 1; line[i] >= utf8.RuneSelf {
			var c rune
			c, n = utf8.DecodeRuneInString(line[i:])
			alone = isChinese(c)
		}
		if alone {
			r.a = append(append(r.a, line[from:i]...), ' ')
			r.a = append(append(r.a, line[i:i+n]...), ' ')
			from = i + n
		}
	}
	r.a = append(r.a, line[from:]...)
	return r.punctuate()
}

func isChinese(c rune) bool {
	return 0x4E00 <= c && c <= 0x9FBB || c > 0x2000 && unicode.Is(chinese, c)
}

// chinese contains the characters that sacreBLEU's zh tokenizer treats as Chinese, faults included. Its table is meant
// to contain CJK extension B, U+20000 to U+2A6D6, and the supplement, U+2F800 to U+2FA1D, but writes them with
// four-digit escapes: "\u20000" is U+2000 and the digit 0. Compared as strings, a single character falls between these
// bounds from U+2001 to U+2A6D and from U+2F81 to U+2FA1, while no character of the extensions does. So dashes, curly
// quotes, arrows and mathematical symbols count as Chinese, and rare ideographs do not. The figures that sacreBLEU
// gives for Chinese include this fault.
var chinese = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x2001, Hi: 0x2A6D, Stride: 1}, // meant: CJK extension B
	{Lo: 0x2E80, Hi: 0x2EFF, Stride: 1}, // radicals supplement
	{Lo: 0x2F00, Hi: 0x2FDF, Stride: 1}, // Kangxi radicals
	{Lo: 0x2FF0, Hi: 0x2FFF, Stride: 1}, // ideographic description
	{Lo: 0x3000, Hi: 0x303F, Stride: 1}, // CJK punctuation
	{Lo: 0x3100, Hi: 0x312F, Stride: 1}, // Bopomofo
	{Lo: 0x31A0, Hi: 0x31BF, Stride: 1}, // Bopomofo extended
	{Lo: 0x31C0, Hi: 0x31EF, Stride: 1}, // strokes
	{Lo: 0x3200, Hi: 0x33FF, Stride: 1}, // enclosed and compatibility
	{Lo: 0x3400, Hi: 0x4DB5, Stride: 1}, // extension A
	{Lo: 0x4E00, Hi: 0x9FBB, Stride: 1}, // unified ideographs
	{Lo: 0xF900, Hi: 0xFA2D, Stride: 1}, // compatibility ideographs
	{Lo: 0xFA30, Hi: 0xFA6A, Stride: 1},
	{Lo: 0xFA70, Hi: 0xFAD9, Stride: 1},
	{Lo: 0xFE10, Hi: 0xFE1F, Stride: 1}, // vertical forms
	{Lo: 0xFE30, Hi: 0xFE4F, Stride: 1},
	{Lo: 0xFF00, Hi: 0xFFEF, Stride: 1}, // full and half width
}}
