package corpus

import (
	"strings"
	"unicode"
)

// known are the languages that texts are kept of: the labels of lid.176 that packages have.
var known = Set(`af am ar as ast az be bg bn br ca cs cy da de el en eo es et eu fa fi fr ga gd gl gu he hi hr hu hy id
	is it ja ka kk km kn ko lt lv mk ml mr ms my ne nl no oc or pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz
	vi zh`)

// Set returns the words of a text.
func Set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// language maps a locale, as packages write it, to lid.176's label: "" if it has none here.
func languageOf(locale string) string {
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", "_"))
	base, variant, _ := strings.Cut(locale, "@")
	base, _, _ = strings.Cut(base, "_")
	switch {
	case locale == "c":
		return "en"
	case base == "sr" && (strings.Contains(locale, "latn") || variant == "latin"):
		return "hr"
	case variant == "valencia":
		return "ca"
	case variant != "":
		return ""
	}
	switch base {
	case "nb", "nn":
		return "no"
	case "bs":
		return "hr"
	case "iw":
		return "he"
	case "in":
		return "id"
	case "fil":
		return "tl"
	}
	if !known[base] {
		return ""
	}
	return base
}

// Scripts lists the Scripts of the languages that are not written in Latin.
var Scripts = map[string][]*unicode.RangeTable{
	"zh": {unicode.Han},
	"ja": {unicode.Han, unicode.Hiragana, unicode.Katakana},
	"ko": {unicode.Hangul},
}

func init() {
	for table, languages := range map[*unicode.RangeTable]string{
		unicode.Arabic:     "ar fa ur",
		unicode.Armenian:   "hy",
		unicode.Bengali:    "bn as",
		unicode.Cyrillic:   "ru uk bg sr mk be kk",
		unicode.Devanagari: "hi mr ne",
		unicode.Ethiopic:   "am",
		unicode.Georgian:   "ka",
		unicode.Greek:      "el",
		unicode.Gujarati:   "gu",
		unicode.Gurmukhi:   "pa",
		unicode.Hebrew:     "he",
		unicode.Kannada:    "kn",
		unicode.Khmer:      "km",
		unicode.Malayalam:  "ml",
		unicode.Myanmar:    "my",
		unicode.Oriya:      "or",
		unicode.Sinhala:    "si",
		unicode.Tamil:      "ta",
		unicode.Telugu:     "te",
		unicode.Thai:       "th",
	} {
		for language := range Set(languages) {
			Scripts[language] = []*unicode.RangeTable{table}
		}
	}
}

// Unspaced languages put no space between words.
var Unspaced = Set("zh ja th km my")
