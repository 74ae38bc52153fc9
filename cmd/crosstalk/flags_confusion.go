package main

import (
	"fmt"
	"io"

	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/measure/langid/embedded"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// confusionFlags set how answers are scored for confusion.
type confusionFlags struct {
	study.Confusion
	by []string
}

func (f *confusionFlags) add(c *cobra.Command) {
	protocols := namesOf(confusion.Protocols, func(p confusion.Protocol) string { return p.Name })
	f.Part, f.by = string(confusion.Answer), confusion.By
	config.Declare(c, scoring, []config.Flag{
		protocolFlag(&f.Protocols, protocols),
		{Name: "lid", To: &f.Identifier, Reach: config.Path,
			Help: "a fastText language identification model: a file, or lid.176 or lid.176.ftz " +
				"after 'crosstalk models pull' (default: a small embedded one)"},
		{Name: "part", To: &f.Part, Choices: []string{string(confusion.Answer), string(confusion.Reasoning)},
			Help: "which part of the answers to score: answer, or reasoning " +
				"(what the model wrote before it, where it is kept apart)"},
		{Name: "threshold", To: &f.Threshold, Reach: config.Nothing,
			Help: "crosstalk-1: count parts in another language with at least this " +
				thresholdHelp},
		{Name: "words", To: &f.Words, Reach: config.Path,
			Help: "lcb protocols: a file of English words, one per line (default: an embedded list)"},
	})
	config.Declare(c, often, []config.Flag{byFlag(&f.by, ", by "+languageGroups+
		", or by length_tertile (thirds of the prompts by length)")})
}

// study returns the study that the flags describe.
func (f *confusionFlags) study(c *cobra.Command) study.Confusion {
	f.By = given(c, "by", f.by)
	return f.Confusion
}

// noteIdentifier warns that published figures use another identifier.
func (f *confusionFlags) noteIdentifier(w io.Writer) {
	protocols, err := f.Resolve()
	if f.Identifier == "" && err == nil && !confusion.OnlyProse(protocols) {
		fmt.Fprintf(w, "A small model (%s) identified the languages; published figures use --lid lid.176.\n",
			embedded.Identifier().Name())
	}
}
