package words

import (
	"unicode/utf8"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words/levels"
)

// unknownCharacter is the share of words that are a character that no list has.
const unknownCharacter = 1e-9

// longest is the number of characters of the longest words of Chinese and Japanese that count.
const longest = 8

// characters sets, for a run of characters without spaces, the probability of each character after those before it, in
// each language: of all ways to cut the run into words of the language, the share of those that continue with it. simplify says that
// traditional characters are as good as simplified ones in Chinese.
func characters(tokens []token, cells []cell, simplify bool) {
	languages, table := Groups[hanGroup].Languages, embedded().han
	k := len(languages)
	for l, language := range languages {
		var ends [longest + 1]float64   // ends[d] is the weight of a word's end d characters ago
		var since [longest]levels.Hash  // of the characters since then
		var continues [longest + 1]bool // a word begins with them
		ends[0] = 1
		for i := range tokens {
			r, _ := utf8.DecodeRuneInString(tokens[i].text)
			if language == "zh" && simplify {
				r = chinese.Simplify(r) // as the list has it
			}
			since[0], continues[0] = 0, true
			end, all := 0.0, 0.0
			for d := 0; d < longest && d <= i; d++ {
				if !continues[d] {
					continue
				}
				since[d] = since[d].Add(r)
				row, _ := table.Row(since[d])
				continues[d] = row[k+l] > 0
				word := shares[row[l]]
				begin := max(word, shares[row[k+l]])
				if d == 0 {
					word, begin = word+unknownCharacter, begin+unknownCharacter
				}
				end += ends[d] * word
				all += ends[d] * begin
			}
			copy(since[1:], since[:longest-1])
			copy(continues[1:], continues[:longest])
			cells[i].ratio[l] = all
			copy(ends[1:], ends[:longest])
			ends[0] = end
			for d := range ends {
				ends[d] /= all
			}
		}
	}
}
