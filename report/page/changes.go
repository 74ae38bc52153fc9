package page

import (
	"slices"
	"unicode"

	"github.com/rivo/uniseg"
)

// Change marks a piece that is on one of two compared sides only.
type Change string

// The changes.
const (
	Deleted  Change = "deleted"  // it is on the side before only
	Inserted Change = "inserted" // it is on the side after only
)

// MarkChanges marks the words of two cards of an item, before and after, that only
// one of them has. Texts that have less than a third of their words in common are
// another answer rather than a changed one: they stay unmarked, and other is true.
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

// wordsOf are the words of pieces, without white space and what was cut.
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

// changes marks text that only one of two texts has. alike is false if they have less
// than a third of their words in common.
func changes(before, after []Piece) (a, b []Piece, alike bool) {
	x, y := wordsOf(before), wordsOf(after)
	inX, inY, n := common(x, y)
	if 3*n < max(len(x), len(y)) {
		return before, after, false
	}
	return split(before, x, inX, Deleted), split(after, y, inY, Inserted), true
}

// mostCells bounds the table of common: 2,000 words on each side. Pages show less of nearly all texts.
const mostCells = 4_000_000

// common finds a longest common subsequence: the words of each side that belong to
// it. Of very long texts, it is what they begin and end with.
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
	length := make([][]uint16, rows+1) // of the common subsequence of what follows
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

// split marks the words that are not kept, with the space between them. A mark that
// is split keeps its label at its end.
func split(pieces []Piece, words []word, kept []bool, as Change) (list []Piece) {
	var spans [][2]int // of what changed
	for i, w := range words {
		switch {
		case kept[i]:
		case i > 0 && !kept[i-1]:
			spans[len(spans)-1][1] = w.end
		default:
			spans = append(spans, [2]int{w.start, w.end})
		}
	}
	start := 0 // of the piece
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
