// Package langgroup sorts languages into groups that figures are compared by: language families and scripts.
package langgroup

import (
	_ "embed"
	"strings"

	"crosstalk/internal/lexicon"

	"golang.org/x/text/language"
)

// Undetermined is the family or script of a language that is not known here.
const Undetermined = "undetermined"

// Groups are the groups of a language.
type Groups struct {
	Family string // "Indo-European"; Undetermined for a language without an entry in the table
	Script string // ISO 15924: "Latn", "Cyrl"; Undetermined if CLDR knows none
}

// The groups that Marchisio et al. (2024, tables A15 and A16) compare with all other languages.
const (
	IndoEuropean = "Indo-European"
	Latin        = "Latn"
)

//go:embed families.txt
var families string

// familyOf is the family of each base language.
var familyOf = func() map[string]string {
	of := map[string]string{}
	for family, codes := range lexicon.Parse(families) {
		for code := range strings.FieldsSeq(codes) {
			of[code] = family
		}
	}
	return of
}()

// scripts are the scripts of languages for which CLDR names no likely one.
var scripts = map[string]string{"azb": "Arab", "cbk": "Latn", "mwl": "Latn", "xal": "Cyrl"}

// Of returns the groups of the language of a BCP 47 tag (fr, pt-BR, sr-Latn).
//
// The family depends on the base language alone. The script is the tag's own or,
// without one, the likely script of language and region in CLDR: zh is Hans,
// zh-TW is Hant, sr is Cyrl. Of a tag that is not valid, both are Undetermined.
func Of(tag string) Groups {
	g := Groups{Undetermined, Undetermined}
	t, err := language.Parse(strings.TrimSpace(tag))
	if err != nil {
		return g
	}
	base, confidence := t.Base()
	if confidence != language.Exact { // "und", "und-Latn"
		return g
	}
	if family := familyOf[base.String()]; family != "" {
		g.Family = family
	}
	if script, confidence := t.Script(); confidence != language.No {
		g.Script = script.String()
	} else if script := scripts[base.String()]; script != "" {
		g.Script = script
	}
	return g
}
