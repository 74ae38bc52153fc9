package consistency

import (
	"slices"
	"strings"

	"crosstalk/measure/langid"

	"golang.org/x/text/language"
)

// Flags are reasons to doubt a rewritten text. A flagged rewriting is still used, and counted.
const (
	Unchanged = "unchanged" // it is the source
	Length    = "length"    // more than three times as long as the source, or less than a third, in bytes
	Language  = "language"  // identified as another language with a probability above 0.8
	Lines     = "lines"     // it has more lines than the source
	Identical = "identical" // two texts of an input became one
)

// The length and the language of shorter texts are not reliable.
const enough = 24 // bytes

// FlagTexts returns the flags of texts rewritten from sources into a sense, each once. lid may be nil.
func FlagTexts(sense Sense, sources, texts []string, lid langid.Identifier) (flags []string) {
	found := map[string]bool{}
	for i, text := range texts[:min(len(texts), len(sources))] {
		source := sources[i]
		short, long := min(len(source), len(text)), max(len(source), len(text))
		found[Unchanged] = found[Unchanged] || strings.EqualFold(bare(source), bare(text))
		found[Length] = found[Length] || long >= enough && long > 3*short
		found[Lines] = found[Lines] || lines(text) > lines(source)
		for j := range i {
			found[Identical] = found[Identical] || texts[j] == text && sources[j] != source
		}
		if expected := languageOf(sense); lid != nil && expected != "" && len(text) >= enough {
			guess := lid.Identify(text)
			found[Language] = found[Language] || guess.Language != expected && guess.Probability > 0.8
		}
	}
	for _, flag := range []string{Unchanged, Length, Language, Lines, Identical} {
		if found[flag] {
			flags = append(flags, flag)
		}
	}
	return flags
}

// languageOf is the language of texts in a sense: the last step that names one, as a label of identifiers.
func languageOf(s Sense) string {
	steps := strings.Split(string(s), ">")
	for _, step := range slices.Backward(steps) {
		tag, err := language.Parse(step)
		if base, confidence := tag.Base(); err == nil && confidence == language.Exact {
			return base.String()
		}
	}
	return ""
}

// bare is a text without the white space that does not matter.
func bare(text string) string { return strings.Join(strings.Fields(text), " ") }

func lines(text string) int { return strings.Count(strings.TrimSpace(text), "\n") }
