package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a literal that is cut out of the text before it is split.
type addedToken struct {
	ID         int32
	Content    string
	SingleWord bool `json:"single_word"` // only between word boundaries
	LStrip     bool // includes the white space before it
	RStrip     bool // and after it
	Normalized bool // is looked for in the normalised text
}

// sortAdded puts longer tokens first, which win over shorter ones.
func sortAdded(tokens []addedToken) {
	slices.SortStableFunc(tokens, func(a, b addedToken) int { return len(b.Content) - len(a.Content) })
}

// splitAdded calls visit with the parts of text in order: added tokens by id, and the text between them, unless it is
// empty. It stops when visit returns false, and returns that.
func splitAdded(text string, tokens []addedToken, visit func(part string, id int32, isAdded bool) bool) bool {
	var starts [256]bool
	for i := range tokens {
		starts[tokens[i].Content[0]] = true
	}
	from := 0
	for at := 0; at < len(text); {
		if !starts[text[at]] {
			at++
			continue
		}
		i := slices.IndexFunc(tokens, func(t addedToken) bool { return strings.HasPrefix(text[at:], t.Content) })
		if i < 0 {
			at++
			continue
		}
		t := &tokens[i]
		begin, end := at, at+len(t.Content)
		at = end
		if t.SingleWord && (endsInWord(text[:begin]) || beginsWord(text[end:])) {
			continue
		}
		if t.LStrip {
			begin = max(from, len(strings.TrimRightFunc(text[:begin], unicode.IsSpace)))
		}
		if t.RStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
			at = end
		}
		if from < begin && !visit(text[from:begin], 0, false) {
			return false
		}
		if !visit("", t.ID, true) {
			return false
		}
		from = end
	}
	return from >= len(text) || visit(text[from:], 0, false)
}

func endsInWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && isWord(r)
}

func beginsWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && isWord(r)
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || unicode.Is(unicode.Pc, r)
}
