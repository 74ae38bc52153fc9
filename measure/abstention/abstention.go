// Package abstention recognises answers that give none, in words: a refusal ("I'm sorry, but I can't help with that"),
// or that the model does not know ("No lo sé"). Wen et al. (2025), "Know Your Limits: A Survey of Abstention in Large
// Language Models", call both abstention.
//
// It is made for precision: a text that it does not recognise is an answer.
package abstention

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/lexicon"

	"golang.org/x/text/unicode/norm"
)

// Sentence returns the length in bytes of the sentence in which a text says that it gives no answer, with the apologies
// before it; 0 if it says no such thing at its start. The text can be in any of 75 languages.
//
// A language's words are in a list. The sentence must say both that something is impossible and what the model was
// asked to do, or both in one phrase, and up to there it must consist of the list's words: a story in which somebody
// cannot see the sea has other words. So must what follows, except after words that announce the refused request
// ("I can't assist with"). Words in quotation marks are somebody else's.
func Sentence(text string) int {
	for _, language := range languages() {
		if n := language.sentence(text); n > 0 {
			return n
		}
	}
	return 0
}

//go:embed phrases.txt
var file string

// A part is what a phrase contributes to a sentence.
type part uint8

const (
	inability part = 1 << iota // "I cannot"
	task                       // "answer"
	open                       // what follows does not matter
	both      = inability | task
)

// A phrase is some words of the file, in lower case.
type phrase struct {
	text string
	part part
}

// A vocabulary contains a language's phrases by their first character, the longest first.
type vocabulary map[rune][]phrase

var marks = map[byte]part{'-': inability, '*': task, '+': task | open, '=': both, '!': both | open}

var languages = sync.OnceValue(func() (all []vocabulary) {
	lists := lexicon.Parse(file)
	for _, list := range lists {
		v := vocabulary{}
		for entry := range strings.SplitSeq(list, ",") {
			entry = strings.TrimSpace(entry)
			p := phrase{entry, marks[entry[0]]}
			if p.part != 0 {
				p.text = entry[1:]
			}
			p.text = norm.NFC.String(p.text)
			first, _ := utf8.DecodeRuneInString(p.text)
			v[first] = append(v[first], p)
		}
		for first := range v {
			slices.SortFunc(v[first], func(a, b phrase) int {
				return cmp.Or(len(b.text)-len(a.text), int(b.part)-int(a.part))
			})
		}
		all = append(all, v)
	}
	return all
})

// sentence is Sentence for one language.
func (v vocabulary) sentence(text string) int {
	var said part
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case stop(r) && (said&both == both || ends(text[at+size:])):
			at += size
			if said&both == both {
				return at
			}
			said = 0 // an apology of its own
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			n, part := v.next(text[at:])
			if n == 0 {
				if said == both|open {
					return at + restOfSentence(text[at:])
				}
				return 0
			}
			at, said = at+n, said|part
		case quotation(r):
			return 0
		default:
			at += size
		}
	}
	if said&both == both {
		return len(text)
	}
	return 0
}

// next returns the length of the phrase at the start of text, and its part; 0 if there is none. Of several it is the
// longest.
func (v vocabulary) next(text string) (int, part) {
	first, _ := utf8.DecodeRuneInString(text)
	for _, p := range v[unicode.ToLower(first)] {
		if n := prefix(text, p.text); n > 0 {
			return n, p.part
		}
	}
	return 0, 0
}

// prefix returns the length of what a phrase matches at the start of text, in any case and with any apostrophe; 0 if it
// does not, or ends within a word.
func prefix(text, phrase string) int {
	at := 0
	var last rune
	for _, want := range phrase {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) && want == ' ' {
			at, last = at+len(text[at:])-len(strings.TrimLeftFunc(text[at:], unicode.IsSpace)), want
			continue
		}
		if strings.ContainsRune("’ʼ‘", r) {
			r = '\''
		}
		if unicode.ToLower(r) != want {
			return 0
		}
		at, last = at+size, want
	}
	next, _ := utf8.DecodeRuneInString(text[at:])
	if at < len(text) && !unicode.In(last, unspaced...) && last != '\'' &&
		(unicode.IsLetter(next) || unicode.IsMark(next) || unicode.IsNumber(next)) {
		return 0
	}
	return at
}

// unspaced are the scripts without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}

func stop(r rune) bool { return strings.ContainsRune(".!?…。！？｡।॥؟۔։។။\n\r", r) }

func quotation(r rune) bool { return strings.ContainsRune("\"“”„«»「『", r) }

// ends reports whether a stop before rest ends a sentence.
func ends(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLetter(r) && !unicode.IsNumber(r) || unicode.In(r, unspaced...)
}

// restOfSentence returns the length of text up to its first stop, or of all of it.
func restOfSentence(text string) int {
	for i, r := range text {
		if size := utf8.RuneLen(r); stop(r) && ends(text[i+size:]) {
			return i + size
		}
	}
	return len(text)
}
