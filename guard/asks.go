package guard

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// Scripts from these characters on may have letters before a name: Hebrew and what follows it. The second are written
// without spaces, or with endings.
const (
	firstJoined   = 0x590
	firstUnspaced = 0xe00
)

// fold leaves only the letters of a text, in lower case and as they are typed without accents, with single spaces
// between words.
func fold(text string) string {
	const nukta = 0x93c
	var b strings.Builder
	space := false
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case unicode.Is(unicode.Mn, r) && r < 0x900 || r == nukta:
		case unicode.IsLetter(r) || unicode.IsMark(r):
			b.WriteRune(r)
			space = false
		case !space:
			b.WriteByte(' ')
			space = true
		}
	}
	return b.String()
}

// translating and answering are beginnings of words, folded.
var translating, answering = sync.OnceValue(folded("translating")), sync.OnceValue(folded("answering"))

func folded(list string) func() []string {
	return func() (words []string) {
		for word := range strings.SplitSeq(phrases[list], "|") {
			words = append(words, fold(strings.TrimSpace(word)))
		}
		return words
	}
}

// commands reports whether a sentence has a word for translating, answering or writing.
func commands(sentence string) bool {
	text := " " + strings.TrimSpace(fold(sentence)) + " "
	has := func(word string) bool { return strings.Contains(text, word) }
	return slices.ContainsFunc(translating(), has) || slices.ContainsFunc(answering(), has)
}

// A languageName is the name of a language in another.
type languageName struct {
	in    string   // the language that has the name
	of    string   // the language that the name is of
	name  string   // folded, without endings
	asked []string // before and after the name in a request, in pairs
}

// languageNames returns the names of languages by their first two letters.
var languageNames = sync.OnceValue(func() map[[2]rune][]languageName {
	all := map[[2]rune][]languageName{}
	for list, patterns := range phrases {
		in, ok := strings.CutPrefix(list, "asking ")
		if !ok {
			continue
		}
		var asked []string
		for pattern := range strings.SplitSeq(patterns, "|") {
			before, after, _ := strings.Cut(strings.TrimSpace(pattern), "_")
			asked = append(asked, fold(before), fold(after))
		}
		add := func(of, name string) {
			name = stem(in, strings.TrimSpace(fold(name)))
			if first := []rune(name); len(first) > 1 {
				key := [2]rune(first)
				all[key] = append(all[key], languageName{in, of, name, asked})
			}
		}
		names := display.Languages(language.Make(in))
		for _, of := range append(strings.Fields(phrases["also asked"]), languages()...) {
			name := names.Name(language.Make(of))
			add(of, name)
			if in == "zh" {
				name = strings.TrimSuffix(strings.TrimSuffix(name, "语"), "文")
				for _, ending := range []string{"语", "語", "文"} {
					add(of, name+ending)
				}
			}
		}
		for other := range slices.Chunk(strings.Fields(phrases["names "+in]), 2) {
			add(other[0], other[1])
		}
	}
	return all
})

// stem cuts off the endings that a language's names of languages change.
func stem(base, name string) string {
	switch first, _ := utf8.DecodeRuneInString(name); {
	case unicode.Is(unicode.Cyrillic, first):
		return strings.TrimRight(name, "аеиія")
	case unicode.Is(unicode.Arabic, first):
		return strings.TrimSuffix(strings.TrimPrefix(name, "ال"), "ة")
	}
	switch base {
	case "pl", "hr":
		return strings.TrimRight(name, "i")
	case "cs", "sk", "sl":
		return strings.TrimRight(name, "a")
	}
	return name
}

// asksFor returns the languages that a message asks an answer in, or a translation into; "" stands for one that is not
// named. A brief message asks for every language that it names: "English please". said is the language of the user.
func asksFor(message, said string, brief bool) (languages []string) {
	text := " " + strings.TrimSpace(fold(message)) + " "
	if slices.ContainsFunc(translating(), func(word string) bool { return strings.Contains(text, word) }) {
		languages = append(languages, "")
	}
	var key [2]rune
	start := 0 // of key
	for at, r := range text {
		key[0], key[1] = key[1], r
		left, right := text[:start], text[start:]
		start = at
		word := strings.HasSuffix(left, " ")
		if !word && key[0] < firstJoined {
			continue
		}
		for _, n := range languageNames()[key] {
			after, ok := strings.CutPrefix(right, n.name)
			if !ok || slices.Contains(languages, n.of) {
				continue
			}
			asked := brief && (word || key[0] >= firstUnspaced)
			for around := range slices.Chunk(n.asked, 2) {
				// Without a word before it, a name may be another word of another language: Danca, Turkish for Danish.
				own := n.in == said || strings.TrimSpace(around[0]) != ""
				asked = asked || own && strings.HasSuffix(left, around[0]) && strings.HasPrefix(after, around[1])
			}
			if asked {
				languages = append(languages, n.of)
			}
		}
	}
	return languages
}
