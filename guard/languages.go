package guard

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid"
	"crosstalk/measure/langid/embedded"
)

// Languages returns the languages that can be judged, as ISO 639 codes. For those without a model of words, lines are
// judged, and words by their script alone.
func Languages() []string { return slices.Clone(languages()) }

// languages are those of the embedded identifier, which knows all that have a model of words.
var languages = sync.OnceValue(func() []string { return slices.Sorted(slices.Values(embedded.Identifier().Labels())) })

// label returns the code of a language that can be judged, or of the same language: "no" for "nb". The variants of
// Norwegian and of Serbo-Croatian are judged as one language.
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

// namings are how languages name others.
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
	for _, n := range namings()[base] {
		if slices.Contains(languages, n.language) && strings.Contains(text, n.stem) {
			return true
		}
	}
	return false
}

// metalinguistic reports whether text, in the language base, speaks of a language or of writing.
func metalinguistic(base, text string) bool {
	return begins(base, phrases["writing "+base], strings.ToLower(text)) ||
		names(base, text, others(benchmark, base)...)
}

// others returns the languages but one.
func others(languages []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(languages), func(l string) bool { return l == one })
}

var benchmark = strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh uk")

// quotes reports whether text, in the language base, announces a quotation.
func quotes(base, text string) bool {
	return begins(base, phrases["quoting "+base], strings.ToLower(text))
}

// begins reports whether a word of text, which is in the language base, begins with one of the stems.
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
