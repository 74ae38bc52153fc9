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
		var ends [longest + 1]float64 // ends[d] is the weight of a word's end d characters ago
		ends[0] = 1
		for i := range tokens {
			end, all := 0.0, 0.0
			for d := 0; d < longest && d <= i; d++ {
				if ends[d] == 0 {
					continue
				}
				var h levels.Hash
				for _, t := range tokens[i-d : i+1] {
					r, _ := utf8.DecodeRuneInString(t.text)
					if language == "zh" && simplify {
						r = chinese.Simplify(r) // as the list has it
					}
					h = h.Add(r)
				}
				row, _ := table.Row(h)
				word := shares[row[l]]
				begin := max(word, shares[row[k+l]])
				if d == 0 {
					word, begin = word+unknownCharacter, begin+unknownCharacter
				}
				end += ends[d] * word
				all += ends[d] * begin
			}
			cells[i].ratio[l] = all
			copy(ends[1:], ends[:longest])
			ends[0] = end
			for d := range ends {
				ends[d] /= all
			}
		}
	}
}
