package confusion

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"crosstalk"
	"crosstalk/internal/lexicon"
	"crosstalk/measure/pytext"

	"golang.org/x/text/language"
)

// begins returns the bytes of the answer at which its confusions begin, in order. A confusion is a run of wrong
// lines that were taken for one language, with no right line among them, or, in an answer without wrong lines, a
// run of wrong words with no other letters or digits between them.
func (c checked) begins(expected, answer string) (at []int) {
	for _, i := range c.runs {
		at = append(at, foreignFrom(expected, c.wrong[i], answer))
	}
	if len(c.wrong) > 0 {
		return at
	}
	for i, word := range c.words {
		if i == 0 || strings.ContainsFunc(answer[c.words[i-1].End:word.Start], isWordRune) {
			at = append(at, word.Start)
		}
	}
	return at
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// foreignFrom returns where a wrong line leaves the expected language. If the language that it was taken for shares
// no script with the expected one, that is its first letter of another script than the expected one's: a line may
// begin in the right language. Else nobody can say where, and it is the line's first character.
func foreignFrom(expected string, line crosstalk.Span, answer string) int {
	text := answer[line.Start:line.End]
	own, other := scriptsOf(expected), scriptsOf(line.Language)
	shared := func(script *unicode.RangeTable) bool { return slices.Contains(other, script) }
	if own != nil && other != nil && !slices.ContainsFunc(own, shared) {
		for i, r := range text {
			if unicode.IsLetter(r) && !unicode.In(r, own...) && !unicode.In(r, unicode.Common, unicode.Inherited) {
				return line.Start + i
			}
		}
	}
	return line.Start + len(text) - len(strings.TrimLeftFunc(text, pytext.IsSpace))
}

// scriptsOf returns the scripts that a language is written in, nil where that is not known.
func scriptsOf(code string) []*unicode.RangeTable {
	if code == "" {
		return nil
	}
	script, _ := language.Make(code).Script()
	return scripts()[script.String()]
}

// scripts are the letters of ISO 15924's codes, by their names in Unicode.
var scripts = sync.OnceValue(func() map[string][]*unicode.RangeTable {
	all := map[string][]*unicode.RangeTable{}
	for code, names := range lexicon.Parse(scriptNames) {
		for name := range strings.FieldsSeq(names) {
			all[code] = append(all[code], unicode.Scripts[name])
		}
	}
	return all
})

//go:embed scripts.txt
var scriptNames string
