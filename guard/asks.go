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

// asking lists how requests in a language name that of the answer, which stands for _, with bars between. A space is the
// start or the end of a word.
var asking = map[string]string{
	"ar": " بال_| لل_|الى ال_|اللغة ال_",
	"be": " на _| па _",
	"bg": " на _",
	"bn": "_তে|_ ভাষা",
	"ca": " en _| al _",
	"cs": " do _| v _| ve _| na _",
	"da": " på _| til _",
	"de": " auf _| ins _| in _| in die _| sprich _| sprechen sie _| sprichst du _",
	"el": " στα _",
	"en": " in _ | into _ | switch to _ | speak _ | speaks _ | use _ | using _ | only _ | in simple _ | in plain _ | in the _ language",
	"es": " en _| al _| habla _| hablas _| idioma _",
	"fa": " به _| زبان _",
	"fi": "_ksi ",
	"fr": " en _| vers l _| vers le _| au _| parle _| parlez vous _| langue _",
	"gl": " en _| ao _",
	"he": " ב_| ל_",
	"hi": "_ में |_ भाषा",
	"hr": " na _",
	"hu": "_ul |_ra |_re ",
	"id": " bahasa _| dalam _",
	"it": " in _| all _| al _| parli _| parla _| lingua _",
	"ja": "_で|_に|_へ|_訳",
	"ko": "_로",
	"mk": " на _",
	"mr": "_मध्ये|_त ",
	"ms": " bahasa _| dalam _",
	"ne": "_मा",
	"nl": " in het _| naar het _| in _| spreek je _",
	"no": " på _| til _",
	"pl": " po _| na _| języku _",
	"pt": " em _| para o _| para _| ao _| fala _| idioma _",
	"ro": " în _| limba _",
	"ru": " на _| по _",
	"sk": " do _| v _| vo _| na _",
	"sl": " v _",
	"sr": " на _",
	"sv": " på _| till _",
	"th": "ภาษา_",
	"tr": " _",
	"uk": "_ою | на _у ",
	"ur": "_ میں |_ زبان",
	"vi": " _",
	"zh": "用_|成_|以_|为_|為_|说_|說_|到_|_回|_版|_写|_寫|_怎",
}

// alsoAsked lists languages that cannot be judged, but asked for.
const alsoAsked = "bo bs ceb ha haw ht ig jv kk ku ky lb lo mg mn mt ps rw sd so su tg tk ug xh yi yo yue zu"

// otherNames adds to the names of languages that Unicode's CLDR has.
var otherNames = map[string]string{
	"en": "zh mandarin fa farsi",
	"es": "es castellano nl holandés",
	"fi": "en englanni",
	"id": "zh mandarin",
	"hi": "en इंग्लिश es स्पैनिश es स्पेनिश fr फ्रांसीसी",
}

// translating lists beginnings of words for translating, and scripts to answer in.
const translating = "繁体|繁體|简体|簡體| traditional chinese| simplified chinese| translat| übersetz| traduc| traduz| tradui| tradur| tradot| tradu | terjemah| diterjemah| menerjemah| tercüme| çevir|" +
	" dịch sang| dịch ra| dịch câu| переклад| перевед| превед|ترجم|翻訳|訳して|訳せ|翻译|翻譯|译成|譯成|번역|अनुवाद| vertaal| översätt| oversæt|" +
	" oversett| tłumacz| przetłumacz| přelož| prelož| fordíts| käännä| μετάφρα| μεταφρά| תרגם| תרגמ|แปลเป็น|แปลว่า|অনুবাদ"

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

// translations returns the words of translating, folded.
var translations = sync.OnceValue(func() (words []string) {
	for word := range strings.SplitSeq(translating, "|") {
		words = append(words, fold(word))
	}
	return words
})

// A languageName is what a language is called in another.
type languageName struct {
	in    string   // the language that has the name
	of    string   // the language that the name is of
	name  string   // folded, without endings
	asked []string // before and after the name in a request, in pairs
}

// languageNames returns the names of languages by their first two letters.
var languageNames = sync.OnceValue(func() map[[2]rune][]languageName {
	all := map[[2]rune][]languageName{}
	for in, patterns := range asking {
		var asked []string
		for pattern := range strings.SplitSeq(patterns, "|") {
			before, after, _ := strings.Cut(pattern, "_")
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
		for _, of := range append(strings.Fields(alsoAsked), languages()...) {
			name := names.Name(language.Make(of))
			add(of, name)
			if in == "zh" {
				name = strings.TrimSuffix(strings.TrimSuffix(name, "语"), "文")
				for _, ending := range []string{"语", "語", "文"} {
					add(of, name+ending)
				}
			}
		}
		for other := range slices.Chunk(strings.Fields(otherNames[in]), 2) {
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
	if slices.ContainsFunc(translations(), func(word string) bool { return strings.Contains(text, word) }) {
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
