package guard

import (
	"slices"
	"strings"
	"unicode"

	"crosstalk/internal/lexicon"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"

	"golang.org/x/text/language"
)

// twins are languages that the identifier mistakes their neighbours for.
var twins = map[string]bool{"ast": true, "gl": true, "ms": true, "oc": true}

// nagari are languages with short lists of words. The identifier is surer, and must confirm what the words say.
var nagari = lexicon.Set("hi mr ne")

// confirmed returns the language of a part whose words look foreign. Between the languages of nagari the identifier
// decides.
func (c *check) confirmed(part prose.Span, language string) string {
	if nagari[language] && nagari[c.want.base] {
		if guess := embedded.Identifier().Identify(c.plain([]prose.Span{part})); nagari[guess.Language] {
			return guess.Language
		}
	}
	return language
}

// enough is how many bytes of a text tell Malay from Indonesian.
const enough = 2000

// inMalay reports whether the prose is in Malay. A line alone tells too little, and letters of other scripts mislead
// the identifier.
func (c *check) inMalay() bool {
	var plain strings.Builder
	for _, b := range c.blocks {
		if c.writePlain(&plain, b); plain.Len() > enough {
			break
		}
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return ' '
		}
		return r
	}, plain.String())
	return lowercase(text) >= 4 && malayOrNot(text)
}

// malayOrNot reports whether a text in Malay or Indonesian is in Malay. Other identifiers than the embedded one take
// much Indonesian for Malay. So Malay needs a word that Indonesian does not have, or two that it seldom has,
// or one of these and the identifier.
func malayOrNot(text string) bool {
	notInWord := func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }
	n, seen := 0, map[string]bool{}
	for w := range strings.FieldsFuncSeq(text, notInWord) {
		switch {
		case seen[w]:
		case malay[w]:
			n += 2
		case rather[w]:
			n++
		}
		seen[w] = true
	}
	if n == 1 {
		if guess := embedded.Identifier().Identify(text); guess.Language == "ms" && guess.Probability >= 0.5 {
			n++
		}
	}
	return n > 1
}

// littleText is the length, in bytes, below which the identifier must be surer.
const littleText = 20

// identify judges a unit by the identifier, which knows more languages than the models of words. It reports whether
// that settles it. Of a mixed line it knows only the part in another script, and that is found word by word.
func (c *check) identify(u *unit, mixed bool) bool {
	e := &u.evidence
	text, supported := c.plain(u.blocks), words.Thorough(c.want.base)
	lower := lowercase(text)
	if len(text) < 12 || supported && lower < 3 {
		return false
	}
	everyday := 10*e.Known >= 6*e.Words
	if c.malay {
		u.state, e.Language, e.LogRatio = Wrong, "ms", max(e.LogRatio, lineWrong)
		return true
	}
	if c.want.base == "id" && everyday {
		return false
	}
	// No more than 0.8, since languages that are alike, such as Norwegian and Danish, divide the rest between them. A
	// few words, or everyday words of the expected language among them, need more: names and terms look like any
	// language.
	least, little := float32(0.8), len(text) < littleText || supported && (lower < 4 || everyday)
	if little {
		least = 0.99
	}
	guess := c.lid.Identify(text)
	c.asked = true
	if c.serbian && (guess.Language == "sr" || slices.Contains(croatian, guess.Language)) {
		guess.Language = c.inSerbian(u.blocks)
	}
	probable := guess.Probability >= 0.5
	switch {
	case c.serbian && c.want.script == "" && strings.HasPrefix(guess.Language, "sr-") && probable:
		// In the script of the fewer letters: all its words would be foreign to the analysis.
		for _, b := range u.blocks {
			c.lines = append(c.lines, Span{Start: b.Start, End: b.End})
		}
		u.state, e.LogRatio = Right, -lineWrong
	case !little && guess.Language == c.want.base && probable && (!supported || e.LogRatio < lineWrong):
		u.state, e.LogRatio = Right, min(e.LogRatio, -lineWrong)
	case twins[guess.Language], c.want.base == "ms" && guess.Language == "id",
		mixed && script(guess.Language) != script(c.want.base):
		return false
	case guess.Language != c.want.base && guess.Probability >= least &&
		(!supported || !words.Thorough(guess.Language)) && c.agrees(u, guess.Language):
		u.state, e.Language, e.LogRatio = Wrong, guess.Language, max(e.LogRatio, lineWrong)
	default:
		return false
	}
	return true
}

// agrees reports whether the words of a unit speak for a language that the identifier names rather than for the
// expected one, if there are models of both: the identifier takes short lines for a relative's. Where the model of the
// expected language is thorough, it is asked only about lines with few known words.
func (c *check) agrees(u *unit, language string) bool {
	if words.Thorough(c.want.base) || !words.Supports(language) || !words.Supports(c.want.base) {
		return true
	}
	least, listed := leastRatios[c.want.base]
	if !listed {
		least = usualRatio
	}
	return c.analysis.Ratio(language, u.blocks...) >= least
}

// script returns the script that a language is written in most.
func script(base string) string {
	s, _ := language.Make(base).Script()
	return s.String()
}

// croatian is what identifiers call Serbian in Latin letters, which is one language with these to them; the embedded
// one has the first alone.
var croatian = []string{"hr", "bs", "sh"}

// inSerbian returns the language of lines in Serbian, in either script: the expected language, or Serbian in the script
// that is not expected.
func (c *check) inSerbian(lines []prose.Span) string {
	switch latin := c.mostlyLatin(lines); {
	case latin == (c.want.base == croatian[0]):
		return c.want.base
	case latin:
		return "sr-Latn"
	}
	return "sr-Cyrl"
}

// mostlyLatin reports whether most letters of blocks are Latin, outside masked parts.
func (c *check) mostlyLatin(blocks []prose.Span) bool {
	latin, others := 0, 0
	for _, r := range c.plain(blocks) {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return latin > others
}
