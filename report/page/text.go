package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
)

// Piece is a stretch of a text, marked or not.
type Piece struct {
	Text  string
	Kind  string // of the mark: "line", "word", "masked", "echo"; empty: none
	Label string // shown at the mark
	Title string // shown when one points at the mark

	Change Change // where two answers are compared
}

// Longest is the default maximum number of bytes of a text.
const Longest = 4000

// marked splits a text into pieces, with the spans marked. It cuts the text at longest, or Longest if that is 0,
// and states how much is missing. It ignores spans that lie outside the text or overlap an earlier one.
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

const longestName = 200 // the maximum number of bytes of a name, of an item or a language

func brief(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName], "") + "…"
}

// echoesIn marks the words, outside of other marks, that are words of a concept or
// begin with one: "yellow" in "yellowish". It is a visual aid, not a measure.
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
