package crosstalk

import "unicode"

// WordsIn counts the words of a prompt, in quarters of a word.
//
// A word is a part between white space that contains a letter or digit. In scripts without spaces, two characters
// (Chinese, Japanese) or four (Thai, Lao, Khmer, Burmese) count as a word, which is about the average. The same
// question then has a similar number of words in most languages.
func WordsIn(prompt string) float64 {
	const word = 4
	n, inWord := 0, false // quarters of a word
	for _, r := range prompt {
		switch {
		case r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			n, inWord = n+word/2, false
		case r >= '\u0e00' && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			n, inWord = n+word/4, false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !inWord {
				n, inWord = n+word, true
			}
		case unicode.IsSpace(r):
			inWord = false
		}
	}
	return float64(n) / word
}

// LengthOf returns the bucket of a prompt's length in words (WordsIn): "up to 10", "11 to 20", "21 to 50", "51 to
// 100" or "over 100", and "" for a text without words. Figures are grouped by it as the column length.
func LengthOf(prompt string) string {
	switch n := WordsIn(prompt); {
	case n == 0:
		return ""
	case n <= 10:
		return "up to 10"
	case n <= 20:
		return "11 to 20"
	case n <= 50:
		return "21 to 50"
	case n <= 100:
		return "51 to 100"
	}
	return "over 100"
}
