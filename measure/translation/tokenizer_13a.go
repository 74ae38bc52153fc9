package translation

import "strings"

// rewrite13a is the tokenizer of mteval-v13a.pl as implemented in sacreBLEU: it removes SGML leftovers, then separates
// punctuation (punctuate).
func (r *rewriter) rewrite13a(line string) []byte {
	if strings.Contains(line, "<skipped>") {
		line = strings.ReplaceAll(line, "<skipped>", "")
	}
	if strings.Contains(line, "\n") {
		line = strings.ReplaceAll(line, "-\n", "")
		line = strings.ReplaceAll(line, "\n", " ")
	}
	if strings.Contains(line, "&") {
		// One after the other, so "&amp;lt;" ends as "<" but "&amp;quot;" as "&quot;".
		line = strings.ReplaceAll(line, "&quot;", `"`)
		line = strings.ReplaceAll(line, "&amp;", "&")
		line = strings.ReplaceAll(line, "&lt;", "<")
		line = strings.ReplaceAll(line, "&gt;", ">")
	}
	// The outer spaces give a full stop at the very end a neighbour that is not a digit. The zh tokenizer lacks them:
	// there "in 2005." ends in "2005.".
	r.a = append(r.a[:0], ' ')
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
	r.b = splitAfterNonDigit(r.b[:0], r.a)
	r.a = splitBeforeNonDigit(r.a[:0], r.b)
	r.b = splitDash(r.b[:0], r.a)
	return r.b
}

func splitAfterNonDigit(dst, src []byte) []byte {
	from := 0 // everything before is copied or consumed
	for i := 1; i < len(src); i++ {
		if stop(src[i]) && i > from && !digit(src[i-1]) {
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

func splitDash(dst, src []byte) []byte {
	from := 0
	for i := 1; i < len(src); i++ {
		if src[i] == '-' && digit(src[i-1]) {
			dst = append(append(dst, src[from:i]...), ' ', '-', ' ')
			from = i + 1
		}
	}
	return append(dst, src[from:]...)
}

func stop(c byte) bool  { return c == '.' || c == ',' }
func digit(c byte) bool { return '0' <= c && c <= '9' }
