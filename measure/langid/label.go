package langid

import "slices"

// equals are codes of one language: the identifiers' models were made with the
// one or the other. Bokmål is what they call Norwegian, and a macrolanguage is
// what they have learnt its standard variety as.
var equals = [][]string{
	{"nb", "no"}, {"fil", "tl"}, {"zh", "cmn"}, {"fa", "pes", "prs"}, {"ar", "arb"}, {"et", "ekk"}, {"lv", "lvs"},
	{"ms", "zsm"}, {"sw", "swh"}, {"ne", "npi"}, {"uz", "uzn"}, {"mn", "khk"}, {"az", "azj"}, {"mg", "plt"}, {"yi", "ydd"},
	{"or", "ory"}, {"om", "gaz"}, {"ps", "pbt"}, {"ku", "kmr"}, {"qu", "quz"}, {"he", "iw"}, {"id", "in"}, {"jv", "jw"},
}

// LabelOf returns the label of a language among those of an identifier: the code
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
