package main

import (
	"fmt"
	"io"
	"strings"

	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/measure/langid/embedded"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// confusionFlags set how answers are scored for confusion.
type confusionFlags struct {
	study.Confusion
	threshold float64
	minWords  int
	by        []string
}

func (f *confusionFlags) add(c *cobra.Command) {
	flags, latins := c.Flags(), namesOf(confusion.Latins, func(l confusion.Latin) string { return string(l) })
	addProtocols(flags, &f.Protocols, namesOf(confusion.Protocols, func(p confusion.Protocol) string { return p.Name }))
	flags.StringVar(&f.Identifier, "lid", "", "a fastText language identification model: a file, or lid.176 or lid.176.ftz "+
		"after 'crosstalk models pull' (default: a small embedded one)")
	flags.StringVar(&f.Part, "part", string(confusion.Answer), "which part of the answers to score: answer, or reasoning "+
		"(what the model wrote before it, where it is kept apart)")
	config.Choices(flags, "part", string(confusion.Answer), string(confusion.Reasoning))
	flags.BoolVar(&f.Strict, "strict", false, "crosstalk-1: count words of another language even if they may be names, "+
		"loans, explanations or quotations, or are doubtful")
	flags.StringVar(&f.Words, "words", "", "lcb protocols: a file of English words, one per line (default: an embedded list)")
	flags.Float64Var(&f.threshold, "threshold", 0,
		"lcb protocols: minimum probability of a line's language, 0 to 1 (default: the protocol's)")
	flags.IntVar(&f.minWords, "min-words", 0, "lcb protocols: skip lines with fewer words (default: the protocol's)")
	flags.StringVar(&f.Latin, "latin", "", "lcb protocols: how to treat letters of other scripts in Latin-script languages: "+
		strings.Join(latins, ", ")+" (default: the protocol's)")
	config.Choices(flags, "latin", latins...)
	flags.BoolVar(&f.Kana, "kana", false,
		"lcb protocols: tell Japanese from Chinese by its kana, since small identifiers confuse the two")
	flags.StringSliceVar(&f.by, "by", confusion.By, "group figures by columns of the suite or the recorded data, by "+
		languageGroups+", or by length_tertile (thirds of the prompts by length)")
	config.Path(flags, "lid", "words")
	config.Harmless(flags, "by")
}

// study returns the study that the flags describe.
func (f *confusionFlags) study(c *cobra.Command) study.Confusion {
	f.Threshold, f.MinWords = pointer(c, "threshold", f.threshold), pointer(c, "min-words", f.minWords)
	f.By = given(c, "by", f.by)
	return f.Confusion
}

// noteIdentifier warns that published figures use another identifier.
func (f *confusionFlags) noteIdentifier(w io.Writer) {
	protocols, err := f.Resolve()
	if f.Identifier == "" && err == nil && !confusion.OnlyProse(protocols) {
		fmt.Fprintf(w, "A small model (%s) identified the languages; published figures use --lid lid.176.\n", embedded.Identifier().Name())
	}
}
