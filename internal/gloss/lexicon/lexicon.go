// Package lexicon finds the dictionary forms of English words: a list of lemmas with their parts of speech, WordNet's
// exception lists and its rules of detachment (Morphy; see the manual page morphy(7WN) of WordNet 3.0).
//
// The builder of the gloss vectors uses it with all of WordNet, the look-up at run time with the lemmas that have a
// vector. Both read words alike, except that the builder reads contractions as words and accented letters as spaces.
package lexicon

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"

	words "crosstalk/internal/lexicon"
)

// POS is a part of speech.
type POS uint8

// The parts of speech, in the order in which WordNet is read and bases are looked up. Adjective satellites are
// adjectives.
const (
	Noun POS = iota
	Verb
	Adjective
	Adverb
)

// All lists the parts of speech in order.
var All = [...]POS{Noun, Verb, Adjective, Adverb}

// Set is a set of parts of speech, one bit each.
type Set uint8

// Of returns the set that contains only p.
func Of(p POS) Set { return 1 << p }

// Has reports whether p is in s.
func (s Set) Has(p POS) bool { return s&Of(p) != 0 }

// Lexicon maps words to lemmas. Lemmas are lower case, their words joined by "_", and known by their index in the list
// given to New. A Lexicon is safe for concurrent use once its exceptions are added.
type Lexicon struct {
	lemmas     []string
	pos        []Set
	index      map[string]int32
	exceptions [len(All)]map[string][]int32
	// longest maps the first word of multiword lemmas to the number of words of the longest one: most words start none.
	longest map[string]int
}

// New returns a lexicon of lemmas, with the parts of speech of each in pos. Lemmas must be distinct. Both slices are
// kept, not copied.
func New(lemmas []string, pos []Set) *Lexicon {
	l := &Lexicon{lemmas: lemmas, pos: pos, index: make(map[string]int32, len(lemmas)), longest: map[string]int{}}
	for p := range l.exceptions {
		l.exceptions[p] = map[string][]int32{}
	}
	for i, lemma := range lemmas {
		l.index[lemma] = int32(i)
		if first, rest, ok := strings.Cut(lemma, "_"); ok {
			l.longest[first] = max(l.longest[first], 2+strings.Count(rest, "_"))
		}
	}
	return l
}

// AddException records form as an irregular form, in part of speech p, of the lemmas with the indices bases.
func (l *Lexicon) AddException(p POS, form string, bases []int32) { l.exceptions[p][form] = bases }

// Lemma returns the lemma with index id.
func (l *Lexicon) Lemma(id int32) string { return l.lemmas[id] }

// Len returns the number of lemmas.
func (l *Lexicon) Len() int { return len(l.lemmas) }

// Find returns the index of lemma.
func (l *Lexicon) Find(lemma string) (id int32, ok bool) {
	id, ok = l.index[lemma]
	return id, ok
}

// rules are the endings that inflection adds, by part of speech, with the ending of the base form.
var rules = [len(All)][]struct{ ending, base string }{
	Noun: {{"s", ""}, {"ses", "s"}, {"ves", "f"}, {"ves", "fe"}, {"xes", "x"}, {"zes", "z"},
		{"ches", "ch"}, {"shes", "sh"}, {"men", "man"}, {"ies", "y"}},
	Verb:      {{"s", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}},
	Adjective: {{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"}, {"ier", "y"}, {"iest", "y"}},
}

// maxWord is the length in bytes beyond which a word has no base: longer than
// any lemma of WordNet (71), and a bound on the work per word.
const maxWord = 80

// Bases appends to dst the indices of the lemmas of which word is an inflected form, without word itself and without
// duplicates, nouns first.
func (l *Lexicon) Bases(dst []int32, word string) []int32 {
	if len(word) > maxWord {
		return dst
	}
	start := len(dst)
	add := func(id int32) {
		if !slices.Contains(dst[start:], id) {
			dst = append(dst, id)
		}
	}
	var buffer [maxWord + 4]byte
	for _, p := range All {
		if bases, ok := l.exceptions[p][word]; ok {
			for _, id := range bases {
				if l.lemmas[id] != word {
					add(id)
				}
			}
			continue
		}
		for _, r := range rules[p] {
			stem, ok := strings.CutSuffix(word, r.ending)
			if !ok || len(stem)+len(r.base) < 2 {
				continue
			}
			base := append(append(buffer[:0], stem...), r.base...)
			if id, ok := l.index[string(base)]; ok && l.pos[id].Has(p) {
				add(id)
			}
		}
		if p == Verb {
			if id, ok := l.index[undouble(word)]; ok && l.pos[id].Has(Verb) {
				add(id)
			}
		}
	}
	return dst
}

// undouble returns the verb for a form with a doubled final consonant ("stopped", "stopping" -> "stop"), or "".
func undouble(word string) string {
	stem, ok := strings.CutSuffix(word, "ed")
	if !ok {
		stem, ok = strings.CutSuffix(word, "ing")
	}
	n := len(stem)
	if !ok || n < 2 || stem[n-1] != stem[n-2] || strings.IndexByte("bdfglmnprt", stem[n-1]) < 0 {
		return ""
	}
	return stem[:n-1]
}

// Lemmas appends to dst the indices of the lemmas of word: word itself if it is a lemma, else its bases, else the
// lemmas of the word before a possessive 's. Nothing is appended for an unknown word.
func (l *Lexicon) Lemmas(dst []int32, word string) []int32 {
	for len(word) <= maxWord {
		if id, ok := l.index[word]; ok {
			return append(dst, id)
		}
		n := len(dst)
		if dst = l.Bases(dst, word); len(dst) > n {
			return dst
		}
		owner, ok := strings.CutSuffix(word, "'s")
		if !ok {
			return dst
		}
		word = owner
	}
	return dst
}

// Multiword returns the longest lemma of two to limit words at the start of tokens, and its number of words; the last
// word may be inflected. n is 0 if there is none. The first token must not be a stop word.
func (l *Lexicon) Multiword(tokens []string, limit int) (id int32, n int) {
	if len(tokens) == 0 {
		return 0, 0
	}
	var key [maxWord]byte
	var bases [8]int32
	for n := min(limit, len(tokens), l.longest[tokens[0]]); n > 1; n-- {
		last := tokens[n-1]
		head := key[:0]
		for _, t := range tokens[:n-1] {
			if len(head)+len(t)+1 > maxWord {
				return 0, 0
			}
			head = append(append(head, t...), '_')
		}
		if id, ok := l.index[string(append(head, last...))]; ok {
			return id, n
		}
		if len(last) <= 3 {
			continue
		}
		for _, b := range l.Bases(bases[:0], last) {
			if id, ok := l.index[string(append(head, l.lemmas[b]...))]; ok {
				return id, n
			}
		}
	}
	return 0, 0
}

// latin lists the unaccented lower-case letters of U+00C0 to U+017F; "." marks characters that are not letters or
// fold to two.
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
