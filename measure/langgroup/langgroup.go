// Package langgroup sorts languages into groups for comparing figures: language families and scripts.
package langgroup

import (
	_ "embed"
	"strings"

	"crosstalk/internal/lexicon"
	"crosstalk/measure/langid"

	"golang.org/x/text/language"
)

// Undetermined is the family or script of an unknown language.
const Undetermined = "undetermined"

// Groups holds the groups of a language.
type Groups struct {
	Family string // "Indo-European"; Undetermined for a language without an entry in the table
	Script string // ISO 15924: "Latn", "Cyrl"; Undetermined if CLDR has none
}

// Groups that are compared with all other languages, as in tables A15 and A16 of Marchisio et al. (2024). Their "Latin"
// is Latin; their "IE" is de, en, es, fr, hi, it and pt, without Russian.
const (
	IndoEuropean = "Indo-European"
	Latin        = "Latn"
)

//go:embed families.txt
var families string

// familyOf maps base languages to their families.
var familyOf = func() map[string]string {
	of := map[string]string{}
	for family, codes := range lexicon.Parse(families) {
		for code := range strings.FieldsSeq(codes) {
			of[code] = family
		}
	}
	return of
}()

// scripts maps languages for which CLDR has no likely script to theirs.
var scripts = map[string]string{"azb": "Arab", "cbk": "Latn", "mwl": "Latn", "xal": "Cyrl"}

// Of returns the groups of the language with a BCP 47 tag (fr, pt-BR, sr-Latn).
//
// The family depends only on the base language. The script is the tag's or, without one, the likely script of
// language and region in CLDR: zh is Hans, zh-TW is Hant, sr is Cyrl. Of a tag that is not valid, both are
// Undetermined.
func Of(tag string) Groups {
	g := Groups{Undetermined, Undetermined}
	base, t, err := langid.Parse(tag)
	if err != nil {
		return g
	}
	if family := familyOf[base]; family != "" {
		g.Family = family
	}
	if script, confidence := t.Script(); confidence != language.No {
		g.Script = script.String()
	} else if script := scripts[base]; script != "" {
		g.Script = script
	}
	return g
}
