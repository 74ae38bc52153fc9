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
// simplified ones in Chinese; those that may be either count as what makes the more frequent word.
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
	certain := longest // characters since one that may be either
	for i := range tokens {
		r, _ := utf8.DecodeRuneInString(tokens[i].text)
		for l, language := range languages {
			c := &cuts[l]
			form, other := r, r
			if language == "zh" && simplify {
				form, other = chinese.Simplify(r) // as the list has it
				if certain++; form != other {
					if certain >= longest {
						c.either = c.spelling
					}
					certain = 0
				}
			}
			c.start()
			c.either.start()
			end, all := 0.0, 0.0
			for d := 0; d < longest && d <= i; d++ {
				var word, begin float64
				if c.continues[d] {
					h := c.since[d].Add(form)
					c.since[d] = h
					if hashes[d] != h { // 0 at first: no word has this hash
						hashes[d] = h
						cache.Rows(rows[d:], hashes[d:d+1])
					}
					row := &rows[d]
					c.continues[d] = row[k+l] > 0
					word = shares[row[l]]
					begin = max(word, shares[row[k+l]])
				}
				if certain < longest && language == "zh" && c.either.continues[d] {
					hashes[d] = c.either.since[d].Add(other)
					c.either.since[d] = hashes[d]
					cache.Rows(rows[d:], hashes[d:d+1])
					row := &rows[d]
					c.either.continues[d] = row[k+l] > 0
					word = max(word, shares[row[l]])
					begin = max(begin, word, shares[row[k+l]])
				}
				if d == 0 {
					word, begin = word+unknownCharacter, begin+unknownCharacter
				}
				end += c.ends[d] * word
				all += c.ends[d] * begin
			}
			c.next()
			if certain < longest {
				c.either.next()
			}
			cells[i].characters[l] = all
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
	ends [longest + 1]float64 // ends[d] is the weight of a word's end d characters ago
	spelling
	either spelling // with the other form of characters that may be either
}

// A spelling is the words that may not have ended yet.
type spelling struct {
	since     [longest]levels.Hash // of the characters since d ago
	continues [longest + 1]bool    // a word begins with them
}

// start begins a word at the next character.
func (s *spelling) start() { s.since[0], s.continues[0] = 0, true }

func (s *spelling) next() {
	copy(s.since[1:], s.since[:longest-1])
	copy(s.continues[1:], s.continues[:longest])
}
