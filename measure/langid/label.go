package langid

import (
	"slices"

	"golang.org/x/text/language"
)

// equals are codes of one language: the identifiers' models were made with the one or the other. Bokmål is what
// they call Norwegian, and a macrolanguage is what they have learnt its standard variety as.
var equals = [][]string{
	{"nb", "no"}, {"fil", "tl"}, {"zh", "cmn"}, {"fa", "pes", "prs"}, {"ar", "arb"}, {"et", "ekk"}, {"lv", "lvs"},
	{"ms", "zsm"}, {"sw", "swh"}, {"ne", "npi"}, {"uz", "uzn"}, {"mn", "khk"}, {"az", "azj"}, {"mg", "plt"},
	{"yi", "ydd"}, {"or", "ory"}, {"om", "gaz"}, {"ps", "pbt"}, {"ku", "kmr"}, {"qu", "quz"}, {"he", "iw"},
	{"id", "in"}, {"jv", "jw"},
}

// LabelOf returns an identifier's label for a language: the code
// itself, or an equal one; ok is false if there is none.
func LabelOf(code string, labels []string) (label string, ok bool) {
	if slices.Contains(labels, code) {
		return code, true
	}
	for _, group := range equals {
		if !slices.Contains(group, code) {
			continue
		}
		for _, other := range group {
			if slices.Contains(labels, other) {
				return other, true
			}
		}
	}
	return "", false
}

// Script returns the script that a tag of Chinese or Serbian asks for, by its ISO 15924 code. It is empty if either of
// the two will do, and for other languages. A region decides in Chinese, but not in Serbian: both of its scripts are in
// use everywhere.
func Script(tag language.Tag) string {
	base, named, region := tag.Raw()
	script, _ := tag.Script()
	var scripts []string
	switch base.String() {
	case "zh", "cmn":
		scripts = []string{"Hans", "Hant"}
	case "sr":
		scripts, region = []string{"Cyrl", "Latn"}, language.Region{}
	}
	if named == (language.Script{}) && region == (language.Region{}) || !slices.Contains(scripts, script.String()) {
		return ""
	}
	return script.String()
}
