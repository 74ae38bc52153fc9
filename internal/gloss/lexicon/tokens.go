package lexicon

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	words "crosstalk/internal/lexicon"
)

// latin is the unaccented lower-case letters of U+00C0 to U+017F; "." marks
// characters that are not letters or fold to two.
const latin = "aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.y" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.llllllllll" +
	"nnnnnnnnnoooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// digraphs are the letters of that range that fold to two.
var digraphs = map[rune]string{'Æ': "ae", 'æ': "ae", 'Œ': "oe", 'œ': "oe", 'Ð': "th", 'ð': "th",
	'Þ': "th", 'þ': "th", 'ß': "ss", 'Ĳ': "ij", 'ĳ': "ij"}

// Fold reduces text to the letters that WordNet is written in: lower-case a-z (accents removed), digits, apostrophe and
// hyphen (typographic ones become the plain ones); every other character becomes a space.
func Fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '\'', c == '-':
				b.WriteByte(c)
			case 'A' <= c && c <= 'Z':
				b.WriteByte(c + 'a' - 'A')
			default:
				b.WriteByte(' ')
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case digraphs[r] != "":
			b.WriteString(digraphs[r])
		case 0xC0 <= r && r < 0xC0+rune(len(latin)) && latin[r-0xC0] != '.':
			b.WriteByte(latin[r-0xC0])
		case 0x300 <= r && r <= 0x36F: // combining accents
		case r == '’' || r == '‘' || r == 'ʼ':
			b.WriteByte('\'')
		case r == '\u2010' || r == '\u2011':
			b.WriteByte('-')
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Tokens returns the words of a folded text: runs of letters and digits, with single apostrophes and hyphens inside.
func Tokens(folded string) []string {
	var tokens []string
	for i := 0; i < len(folded); {
		if !alphanumeric(folded[i]) {
			i++
			continue
		}
		start := i
		for i < len(folded) && (alphanumeric(folded[i]) ||
			(folded[i] == '\'' || folded[i] == '-') && i+1 < len(folded) && alphanumeric(folded[i+1])) {
			i++
		}
		tokens = append(tokens, folded[start:i])
	}
	return tokens
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// Stop reports whether token is a stop word: a word of grammar, or a contraction with one ("it's", "they'll", "don't").
func Stop(token string) bool {
	if StopWord(token) {
		return true
	}
	i := strings.IndexByte(token, '\'')
	if i < 0 {
		return false
	}
	switch token[i:] {
	case "'t":
		return i > 0 && token[i-1] == 'n'
	case "'s", "'re", "'ve", "'ll", "'d", "'m":
		return StopWord(token[:i])
	}
	return false
}

// StopWord reports whether token is a word of grammar, or of the wording of
// dictionary glosses. It is false for contractions.
func StopWord(token string) bool { return stopWords[token] }

//go:embed stop.txt
var stopFile string

var stopWords = words.Set(words.Parse(stopFile)["stop"])
