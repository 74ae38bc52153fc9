package guard

import (
	"crosstalk"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/lexicon"
	"crosstalk/measure/langid"
	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// Languages returns the languages that can be judged, as ISO 639 codes. In languages without a word model, lines are
// judged, and words by their script alone.
func Languages() []string { return slices.Clone(languages()) }

// languages lists the languages of the embedded identifier, which include all languages with a word model.
var languages = sync.OnceValue(func() []string { return slices.Sorted(slices.Values(embedded.Identifier().Labels())) })

// label returns a code that can be judged as the same language: "no" for "nb". The variants of Norwegian and of
// Serbo-Croatian are judged as one language.
func (k Checker) label(code string) (label string, ok bool) {
	if label, ok = langid.LabelOf(code, languages()); ok {
		return label, true
	}
	if more, has := k.Identifier.(interface{ Labels() []string }); has {
		if label, ok = langid.LabelOf(code, more.Labels()); ok {
			return label, true
		}
	}
	label, ok = map[string]string{"nn": "no", "bs": "hr", "sh": "hr"}[code]
	return label, ok
}

// A naming is a language and the beginning of a word for it.
type naming struct{ language, stem string }

// namings has, for each language, its names of others.
var namings = sync.OnceValue(func() map[string][]naming {
	all := map[string][]naming{}
	for name, text := range phrases {
		base, ok := strings.CutPrefix(name, "named ")
		if !ok {
			continue
		}
		var list []naming
		for _, field := range strings.Fields(text) {
			last := len(list) - 1
			switch {
			case len(field) == 2 && field[0] < 0x80:
				list = append(list, naming{language: field})
			case list[last].stem == "":
				list[last].stem = field
			default:
				list[last].stem += " " + field
			}
		}
		all[base] = list
	}
	return all
})

// names reports whether text, in the language base, names one of the languages.
func names(base, text string, languages ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(namings()[base], func(n naming) bool {
		return slices.Contains(languages, n.language) && strings.Contains(text, n.stem)
	})
}

// metalinguistic reports whether text, in the language base, mentions a language or writing.
func metalinguistic(base, text string) bool {
	return begins(base, phrases["writing "+base], strings.ToLower(text)) ||
		names(base, text, others(benchmark, base)...)
}

func others(languages []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(languages), func(l string) bool { return l == one })
}

var benchmark = strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh uk")

// quotes reports whether text, in the language base, announces a quotation.
func quotes(base, text string) bool {
	return begins(base, phrases["quoting "+base], strings.ToLower(text))
}

// begins reports whether a word of text, in the language base, begins with one of the stems.
func begins(base, stems, text string) bool {
	spaced := base != "ja" && base != "zh" && base != "ko"
	for stem := range strings.FieldsSeq(stems) {
		for rest := text; ; {
			at := strings.Index(rest, stem)
			if at < 0 {
				break
			}
			before, _ := utf8.DecodeLastRuneInString(rest[:at])
			if !spaced || !unicode.IsLetter(before) {
				return true
			}
			rest = rest[at+len(stem):]
		}
	}
	return false
}

//go:embed words.txt
var wordLists string

//go:embed languages.txt
var languageLists string

// Lists in the two files, which explain them.
var (
	lists    = lexicon.Parse(wordLists)
	phrases  = lexicon.Parse(languageLists)
	english  = lexicon.Set(lists["english"])
	joins    = lexicon.Set(lists["joins"])
	inNames  = lexicon.Set(lists["in names"])
	articles = lexicon.Set(lists["begin names"])
	latins   = lexicon.Set(lists["latin"])
	malay    = lexicon.Set(lists["malay"])
	rather   = lexicon.Set(lists["rather malay"])
)

// Scripts from firstJoined on, Hebrew and later ones, may have letters before a name. Scripts from firstUnspaced on
// are written without spaces, or with endings.
const (
	firstJoined   = 0x590
	firstUnspaced = 0xe00
)

// fold keeps only the letters of a text, in lower case and without accents, with single spaces between words.
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

// translating and answering have beginnings of words, folded.
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

// A languageName is a language's name in another language.
type languageName struct {
	in    string   // the language that the name is in
	of    string   // the language named
	name  string   // folded, without endings
	asked []string // texts before and after the name in a request, in pairs
}

// languageNames returns the names of languages, by their first two letters.
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

// stem removes the endings that vary in a language's names of languages.
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

// asksFor returns the languages that a message asks for an answer in, or a translation into; "" stands for an unnamed
// one. A brief message asks for every language that it names: "English please". said is the language of the user.
func asksFor(message, said string, brief bool) (languages []string) {
	text := " " + strings.TrimSpace(fold(message)) + " "
	if slices.ContainsFunc(translating(), func(word string) bool { return strings.Contains(text, word) }) {
		languages = append(languages, "")
	}
	var key [2]rune
	start := 0 // index in key
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
				// Without a word before it, a name may be a different word in another language: Danca, Turkish for Danish.
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

// Limits of the rule for a user's language.
const (
	LookBack    = 20      // messages of the user to read, counted from the last
	leastSaid   = 10      // letters that a message needs to reveal its language
	leastSure   = 0.5     // least probability from the identifier
	sureAlone   = 0.9     // the same, for little text in a language without a thorough word model
	brief       = 20      // letters in a message that asks for another language by naming it
	longMessage = 8 << 10 // bytes to read at each end of a message
)

// UserLanguage returns the expected language of the answer to a user's messages, the oldest first: the language that
// the last message plainly asks for ("answer in French", "translate to German"), or that of the last message that
// reveals one, as a tag with the Chinese script if the characters reveal it. It is "" if no message reveals a language,
// a later one is in another language, or one asks for another language in other words, or before the last message.
func (k Checker) UserLanguage(messages ...string) string {
	k.Threshold = crosstalk.Warn // a message may have names and loan words
	messages = slices.Clone(messages[max(0, len(messages)-LookBack):])
	tag, from := "", 0
	for i, m := range slices.Backward(messages) {
		messages[i] = bothEnds(m)
		if tag == "" {
			tag, from = k.languageOf(messages[i]), i
		}
	}
	base, _, _ := strings.Cut(tag, "-")
	for i, m := range messages {
		few := letters(m) < brief
		if slices.ContainsFunc(asksFor(m, base, few), func(l string) bool { return l != base }) {
			if i == len(messages)-1 {
				return commanded(m, base, few)
			}
			return ""
		}
		if i > from && tag != "" {
			if j, err := k.Check(m, tag); err == nil && j.Verdict == Wrong {
				return ""
			}
		}
	}
	return tag
}

// commanded returns the one language that a message commands for an answer or a translation; "" if that is not plain. A
// question about a language ("How do you write that in Polish?") is answered in another one.
func commanded(message, said string, brief bool) (language string) {
	for _, sentence := range sentence().FindAllString(message, -1) {
		asked := asksFor(sentence, said, false)
		for _, l := range asked {
			switch {
			case l == "":
			case language != "" && l != language, strings.ContainsAny(sentence, "?？؟;") || !brief && !commands(sentence),
				l == "zh" && asked[0] == "", !slices.Contains(languages(), l): // perhaps in one of two scripts
				return ""
			default:
				language = l
			}
		}
	}
	return language
}

// sentence matches text up to a mark that ends a sentence, or announces another one.
var sentence = lazyregexp.New(`[^.!?;:\n。！？؟：।]*[.!?;:\n。！？؟：।]?`)

// languageOf returns the language of a message; "" if it is short, the identifier is not certain, or Check does not
// confirm that the whole message is in that language.
func (k Checker) languageOf(message string) string {
	doc := prose.Parse(message)
	text := (&check{text: message, masks: unquoted(doc.Masks)}).plain(doc.Blocks...)
	if letters(text) < leastSaid {
		return ""
	}
	guess := k.identifier().Identify(text)
	if guess.Probability < leastSure ||
		guess.Probability < sureAlone && len(text) < littleText && !words.Thorough(guess.Language) {
		return ""
	}
	if j, err := k.Check(message, guess.Language); err == nil && j.Verdict != Right {
		return ""
	}
	if guess.Language == "zh" {
		simplified, traditional := chinese.Count(text)
		switch {
		case simplified > 3*traditional && simplified > 1:
			return "zh-Hans"
		case traditional > 3*simplified && traditional > 1:
			return "zh-Hant"
		}
	}
	return guess.Language
}

// letters counts the letters of a text. In Chinese, Japanese, Korean and Thai, a letter counts as three.
func letters(text string) (n int) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			n += 3
		case unicode.IsLetter(r):
			n++
		}
	}
	return n
}

// bothEnds shortens a long message: the user's request is before or after pasted text.
func bothEnds(message string) string {
	if len(message) <= 2*longMessage {
		return message
	}
	first, last := message[:longMessage], message[len(message)-longMessage:]
	return strings.ToValidUTF8(first, "") + "\n" + strings.ToValidUTF8(last, "")
}
