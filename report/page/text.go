package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/lazyregexp"

	"github.com/rivo/uniseg"
)

// Piece is a stretch of a text, marked or not.
type Piece struct {
	Text  string
	Kind  string // of the mark: "line", "word", "masked", "echo"; empty: none
	Label string // shown beside the mark
	Title string // shown while pointing at the mark

	Change Change // when two answers are compared
}

// Longest is the default for the most bytes of a text.
const Longest = 4000

// marked splits a text into pieces and marks the spans. It truncates the text at longest, or at Longest if that is 0,
// and states how much is missing. It ignores spans outside the text and those that overlap an earlier one.
func marked(text string, spans []crosstalk.Span, longest int) []Piece {
	longest = cmp.Or(longest, Longest)
	shown := text
	if len(text) > longest {
		end := longest
		for end > longest-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		shown = text[:end]
	}
	var pieces []Piece
	at := 0
	byStart := func(a, b crosstalk.Span) int { return cmp.Compare(a.Start, b.Start) }
	for _, s := range slices.SortedFunc(slices.Values(spans), byStart) {
		end := min(s.End, len(shown))
		if s.Start < at || s.Start >= end {
			continue
		}
		if s.Start > at {
			pieces = append(pieces, Piece{Text: shown[at:s.Start]})
		}
		p := Piece{Text: shown[s.Start:end], Kind: "word"}
		switch {
		case s.Language == "" && s.Reason != "":
			p.Kind, p.Title = "masked", "not judged: "+brief(s.Reason)
		case s.Language != "":
			p.Kind, p.Label = "line", fmt.Sprintf("%s %.0f %%", brief(s.Language), 100*s.Probability)
		case s.Score != 0:
			p.Kind, p.Label = "line", strconv.FormatFloat(s.Score, 'f', 3, 64)
		}
		pieces, at = append(pieces, p), end
	}
	if at < len(shown) {
		pieces = append(pieces, Piece{Text: shown[at:]})
	}
	if len(shown) < len(text) {
		label := fmt.Sprintf("%d more bytes not shown", len(text)-len(shown))
		pieces = append(pieces, Piece{Text: "…", Kind: "cut", Label: label})
	}
	return pieces
}

const longestName = 200 // most bytes of the name of an item or a language

func brief(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName], "") + "…"
}

// echoesIn marks the words, outside of other marks, that are words of a concept or begin with one: "yellow" in
// "yellowish". It is a visual aid, not a measure.
func echoesIn(pieces []Piece, concept string) []Piece {
	if concept == "" {
		return pieces
	}
	concepts := letters().FindAllString(strings.ToLower(concept), -1)
	var all []Piece
	for _, p := range pieces {
		if p.Kind != "" {
			all = append(all, p)
			continue
		}
		plain := 0
		for _, at := range letters().FindAllStringIndex(p.Text, -1) {
			if word := p.Text[at[0]:at[1]]; echoes(strings.ToLower(word), concepts) {
				if plain < at[0] {
					all = append(all, Piece{Text: p.Text[plain:at[0]]})
				}
				all, plain = append(all, Piece{Text: word, Kind: "echo"}), at[1]
			}
		}
		if plain < len(p.Text) {
			all = append(all, Piece{Text: p.Text[plain:]})
		}
	}
	return all
}

var letters = lazyregexp.New(`[\pL\pM]+`)

func echoes(word string, concepts []string) bool {
	return slices.ContainsFunc(concepts, func(c string) bool {
		short, long := c, word
		if len(short) > len(long) {
			short, long = long, short
		}
		return c == word && len(c) > 2 || len(short) >= 4 && len(long) <= len(short)+3 && strings.HasPrefix(long, short)
	})
}

// Change marks a piece that is on only one of two compared sides.
type Change string

// The changes.
const (
	Deleted  Change = "deleted"  // only on the side before
	Inserted Change = "inserted" // only on the side after
)

// MarkChanges marks the words that only one of two cards of an item, before and after, has. Texts with less than a
// third of their words in common count as different answers: they stay unmarked, and other is true.
func MarkChanges(before, after *Card) (other bool) {
	for i := range min(len(before.Entries), len(after.Entries)) {
		a, b := &before.Entries[i], &after.Entries[i]
		for k := range a.Sides {
			x := &a.Sides[k]
			same := func(s Side) bool { return s.Name == x.Name && !s.Given && !x.Given }
			if at := slices.IndexFunc(b.Sides, same); at >= 0 {
				y, alike := &b.Sides[at], false
				x.Pieces, y.Pieces, alike = changes(x.Pieces, y.Pieces)
				other = other || !alike
			}
		}
	}
	return other
}

// word is a word, a character of a script without spaces, or a punctuation mark.
type word struct {
	text       string
	start, end int // in the text of the pieces
}

// wordsOf returns the words of pieces, without white space and truncated text.
func wordsOf(pieces []Piece) (words []word) {
	text := ""
	for _, p := range pieces {
		if p.Kind != "cut" {
			text += p.Text
		}
	}
	for at, state := 0, -1; at < len(text); {
		var w string
		w, _, state = uniseg.FirstWordInString(text[at:], state)
		if !unicode.IsSpace([]rune(w)[0]) {
			words = append(words, word{w, at, at + len(w)})
		}
		at += len(w)
	}
	return words
}

// changes marks text that only one of two has. alike is false if they share less than a third of their words.
func changes(before, after []Piece) (a, b []Piece, alike bool) {
	x, y := wordsOf(before), wordsOf(after)
	inX, inY, n := common(x, y)
	if 3*n < max(len(x), len(y)) {
		return before, after, false
	}
	return split(before, x, inX, Deleted), split(after, y, inY, Inserted), true
}

// mostCells bounds the table of common: 2,000 words on each side. Nearly all texts on pages are shorter.
const mostCells = 4_000_000

// common finds a longest common subsequence; of very long texts, only the common start and end.
func common(x, y []word) (inX, inY []bool, n int) {
	inX, inY = make([]bool, len(x)), make([]bool, len(y))
	keep := func(i, j int) { inX[i], inY[j], n = true, true, n+1 }
	first, endX, endY := 0, len(x), len(y)
	for ; first < min(endX, endY) && x[first].text == y[first].text; first++ {
		keep(first, first)
	}
	for ; endX > first && endY > first && x[endX-1].text == y[endY-1].text; endX, endY = endX-1, endY-1 {
		keep(endX-1, endY-1)
	}
	rows, columns := endX-first, endY-first
	if rows == 0 || columns == 0 || rows > mostCells/columns {
		return inX, inY, n
	}
	length := make([][]uint16, rows+1) // of the common subsequence of the remaining words
	for i := range length {
		length[i] = make([]uint16, columns+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if x[first+i].text == y[first+j].text {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case x[first+i].text == y[first+j].text:
			keep(first+i, first+j)
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inX, inY, n
}

// split marks the words that are not kept, and the space between them. If a mark is split, its last piece has the
// label.
func split(pieces []Piece, words []word, kept []bool, as Change) (list []Piece) {
	var spans [][2]int // of the changes
	for i, w := range words {
		switch {
		case kept[i]:
		case i > 0 && !kept[i-1]:
			spans[len(spans)-1][1] = w.end
		default:
			spans = append(spans, [2]int{w.start, w.end})
		}
	}
	start := 0 // start of the piece
	for _, p := range pieces {
		if p.Kind == "cut" {
			list = append(list, p)
			continue
		}
		end := start + len(p.Text)
		for at := start; at < end; {
			for len(spans) > 0 && spans[0][1] <= at {
				spans = spans[1:]
			}
			next, part := end, p
			if len(spans) > 0 && spans[0][0] <= at {
				part.Change, next = as, min(end, spans[0][1])
			} else if len(spans) > 0 {
				next = min(end, spans[0][0])
			}
			part.Text = p.Text[at-start : next-start]
			if next < end {
				part.Label = ""
			}
			list, at = append(list, part), next
		}
		start = end
	}
	return list
}
