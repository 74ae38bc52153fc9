package words

import (
	"unicode/utf8"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words/levels"
)

// unknownCharacter is the share of a character that no list has as a word.
const unknownCharacter = 1e-9

// longest is the number of characters of the longest words of Chinese and Japanese that are looked up.
const longest = 8

// characters sets the probability of each character of a run without spaces, given those before it, in each language:
// it sums up all ways to cut the run into words of the language. simplify says that traditional characters count as
// simplified ones in Chinese.
func characters(tokens []token, cells []cell, simplify bool) {
	languages, table := Groups[hanGroup].Languages, embedded().han
	k := len(languages)
	var cuts [hanLanguages]cut
	for l := range languages {
		cuts[l].ends[0] = 1
	}
	cache := table.Cache()
	defer cache.Free()
	// What the lists have for the characters since d ago. Mostly both languages look up the same ones.
	var hashes [longest]levels.Hash
	var rows [longest]levels.Row
	for i := range tokens {
		r, _ := utf8.DecodeRuneInString(tokens[i].text)
		var looked [longest]bool
		for l, language := range languages {
			c := &cuts[l]
			if language == "zh" && simplify {
				r = chinese.Simplify(r) // as the list has it
			}
			c.since[0], c.continues[0] = 0, true
			end, all := 0.0, 0.0
			for d := 0; d < longest && d <= i; d++ {
				if !c.continues[d] {
					continue
				}
				h := c.since[d].Add(r)
				c.since[d] = h
				if !looked[d] || hashes[d] != h {
					looked[d], hashes[d] = true, h
					cache.Rows(rows[d:], hashes[d:d+1])
				}
				row := &rows[d]
				c.continues[d] = row[k+l] > 0
				word := shares[row[l]]
				begin := max(word, shares[row[k+l]])
				if d == 0 {
					word, begin = word+unknownCharacter, begin+unknownCharacter
				}
				end += c.ends[d] * word
				all += c.ends[d] * begin
			}
			copy(c.since[1:], c.since[:longest-1])
			copy(c.continues[1:], c.continues[:longest])
			cells[i].ratio[l] = all
			copy(c.ends[1:], c.ends[:longest])
			c.ends[0] = end
			scale := 1 / all
			for d := range c.ends {
				c.ends[d] *= scale
			}
		}
	}
}

// A cut is how a language may cut the characters so far into words.
type cut struct {
	ends      [longest + 1]float64 // ends[d] is the weight of a word's end d characters ago
	since     [longest]levels.Hash // of the characters since then
	continues [longest + 1]bool    // a word begins with them
}
