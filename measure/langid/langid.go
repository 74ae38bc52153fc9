// Package langid identifies the language of a line of text.
//
// Its subpackages are identifiers: fasttext reads models of the fastText tool, such as lid.176; embedded is a small
// model of our own for machines without downloads.
package langid

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Guess is the result of an identifier for a text.
type Guess struct {
	// Language is the ISO 639-1 code if the language has one, otherwise its ISO 639-3 code, as lid.176 labels it:
	// "en", "zh", "yue". It is empty if the identifier has no guess.
	Language string

	// Probability is the identifier's confidence in Language, from 0 to 1. That of fastText can exceed 1 by up to 1e-5.
	// No identifier here is calibrated, so thresholds cannot be transferred between identifiers.
	Probability float32
}

// Identifier identifies the language of a line of text.
//
// An Identifier is safe for concurrent use and gives the same guess for the same text each time.
type Identifier interface {
	// Name is short, stable and printable, and differs between two identifiers that can disagree:
	// "lid.176.ftz@8f3472cf". It goes into the signature of every figure obtained with the identifier.
	Name() string

	// Identify returns the most probable language of text. Line breaks count as spaces. The text may have any length and
	// need not be valid UTF-8. A text without a word (empty or white space) gives the zero Guess.
	Identify(text string) Guess
}

// equals are codes of the same language: models use one or the other. Their Norwegian is Bokmål, and a macrolanguage
// is the standard variety that they were trained on. Figures use the first.
var equals = [][]string{
	{"no", "nb"}, {"tl", "fil"}, {"zh", "cmn"}, {"fa", "pes", "prs"}, {"ar", "arb"}, {"et", "ekk"}, {"lv", "lvs"},
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
		if slices.Contains(group, code) {
			if i := slices.IndexFunc(group, func(l string) bool { return slices.Contains(labels, l) }); i >= 0 {
				return group[i], true
			}
		}
	}
	return "", false
}

// Parse parses a BCP 47 tag, in which case and underscores do not matter, or the English name of a language ("German").
// It returns the code of the language: ISO 639-1 if there is one, otherwise ISO 639-3. A tag without a language, such
// as und-Latn, is an error.
func Parse(tag string) (code string, parsed language.Tag, err error) {
	name := strings.TrimSpace(tag)
	if parsed, err = language.Parse(name); err != nil {
		if base, known := named()[strings.ToLower(name)]; known {
			parsed, err = language.Compose(base)
		}
	}
	if base, confidence := parsed.Base(); err == nil && confidence == language.Exact {
		return base.String(), parsed, nil
	}
	return "", parsed, fmt.Errorf("%q is not a valid language; expected a code such as fr, zh or pt-BR", tag)
}

// named maps the English names of languages in CLDR, in lower case, to the languages. CLDR calls no and tl by the names
// of nb and fil.
var named = sync.OnceValue(func() map[string]language.Base {
	of := map[string]language.Base{"norwegian": language.MustParseBase("no"), "tagalog": language.MustParseBase("tl")}
	names := display.English.Languages()
	for _, base := range language.Supported.BaseLanguages() {
		name := strings.ToLower(names.Name(base))
		if other, again := of[name]; name != "" && (!again || len(base.String()) < len(other.String())) {
			of[name] = base // Chinese is zh, not cmn
		}
	}
	return of
})

// Canonical returns the code by which a language is grouped and compared, whatever its script, region and spelling:
// "de" for de-DE, DE_de, deu and German, "no" for nb. locale is the whole tag in BCP 47: "de-DE". Of a tag that is not
// valid, both are the tag.
func Canonical(tag string) (code, locale string) {
	code, parsed, err := Parse(tag)
	if err != nil {
		return tag, tag
	}
	for _, group := range equals {
		if slices.Contains(group, code) {
			code = group[0]
		}
	}
	return code, parsed.String()
}

// Script returns the ISO 15924 code of the script that a tag of Chinese or Serbian asks for. It is empty if either
// script will do, and for other languages. A region determines the script of Chinese, but not of Serbian, which uses
// both scripts everywhere.
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
