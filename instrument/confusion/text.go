package confusion

import (
	"iter"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/measure/pytext"
)

type line struct {
	number int    // in the answer, from 1
	start  int    // where raw starts in the answer, in bytes
	raw    string // as received
	text   string // for checking
}

// span is the part of a line from byte start to byte end of raw.
func (l line) span(start, end int, text string) crosstalk.Span {
	return crosstalk.Span{Line: l.number, Start: l.start + start, End: l.start + end, Text: text}
}

// lines yields the lines of the part of an answer that is scored. Only \n parts them.
func lines(answer string) iter.Seq[line] {
	return func(yield func(line) bool) {
		start, end := scored(answer)
		number := 1 + strings.Count(answer[:start], "\n")
		for raw := range strings.SplitSeq(answer[start:end], "\n") {
			if !yield(line{number, start, raw, normalise(raw)}) {
				return
			}
			start += len(raw) + 1
			number++
		}
	}
}

// scored returns where the part of an answer that is scored starts and ends: what base models write after the next
// question of a Q/A template is cut off, then white space is trimmed.
func scored(answer string) (start, end int) {
	if i := strings.Index(answer, crosstalk.NextQuestion); i >= 0 {
		answer = answer[:i]
	}
	answer = pytext.TrimRightSpace(answer)
	return len(answer) - len(strings.TrimLeftFunc(answer, pytext.IsSpace)), len(answer)
}

// normalise deletes the 32 ASCII punctuation marks and the Arabic comma, and
// makes each em dash a space. All other marks stay.
func normalise(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		n, out := step(raw[i:])
		b.WriteString(out)
		i += n
	}
	return b.String()
}

// step normalises the first character of s, which has n bytes.
func step(s string) (n int, out string) {
	if c := s[0]; c < utf8.RuneSelf {
		if isPunct(c) {
			return 1, ""
		}
		return 1, s[:1]
	}
	r, n := utf8.DecodeRuneInString(s)
	switch r {
	case '—':
		return n, " "
	case '،':
		return n, ""
	}
	return n, s[:n]
}

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// cursor walks along a line as received and its normalised form at once.
type cursor struct {
	raw    string
	at     int // in raw
	normal int // in the normalised form
}

// locate moves on to the bytes [from, to) of the normalised form and returns
// where they stand in raw. Marks that were deleted inside belong to it, those
// around do not.
func (c *cursor) locate(from, to int) (start, end int) {
	for c.at < len(c.raw) {
		n, out := step(c.raw[c.at:])
		if c.normal == from && out != "" {
			break
		}
		c.at += n
		c.normal += len(out)
	}
	start = c.at
	for c.at < len(c.raw) && c.normal < to {
		n, out := step(c.raw[c.at:])
		c.at += n
		c.normal += len(out)
	}
	return start, c.at
}

// Words are the words of an answer in a language as they are checked, by their
// places in it.
func Words(language, answer string) (words []crosstalk.Span) {
	segmenter := segmenterOf(language)
	for l := range lines(answer) {
		words = l.appendWrong(words, segmenter.AppendWords(nil, l.text), func(string) bool { return true })
	}
	return words
}

// longLines are the lines of an answer in a language that have at least minWords
// words. Their texts are as received.
func longLines(language, answer string, minWords int) (checked []crosstalk.Span) {
	segmenter := segmenterOf(language)
	for l := range lines(answer) {
		if len(segmenter.AppendWords(nil, l.text)) >= minWords {
			checked = append(checked, l.span(0, len(l.raw), l.raw))
		}
	}
	return checked
}
