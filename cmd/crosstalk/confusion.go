package main

import (
	"fmt"
	"io"
	"strings"

	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/internal/ordered"
	"crosstalk/measure/langid/embedded"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// confusionFlags set how answers are scored for confusion.
type confusionFlags struct{ study.Confusion }

func (f *confusionFlags) add(c *cobra.Command) {
	protocols := ordered.Distinct(confusion.Protocols, func(p confusion.Protocol) string { return p.Name })
	f.Part = string(confusion.Answer)
	config.Declare(c, scoring, []config.Flag{
		protocolFlag(&f.Protocols, protocols),
		{Name: "lid", To: &f.Identifier, Reach: config.Path,
			Help: "a fastText language identification model: a file, or lid.176 or lid.176.ftz " +
				"after 'crosstalk models pull' (default: a small embedded one)"},
		{Name: "part", To: &f.Part, Choices: []string{string(confusion.Answer), string(confusion.Reasoning)},
			Help: "which part of the answers to score: answer, or reasoning " +
				"(what the model wrote before it, where it is kept apart)"},
		{Name: "threshold", To: &f.Threshold, Reach: config.Nothing,
			Help: "crosstalk-1: count parts in another language with at least this " + thresholdHelp},
		{Name: "words", To: &f.Words, Reach: config.Path,
			Help: "lcb protocols: a file of English words, one per line (default: an embedded list)"},
	})
	config.Declare(c, often, []config.Flag{byFlag(&f.By, confusion.By, ", by "+languageGroups+
		", or by length_tertile (thirds of the prompts by length)")})
}

func (f *confusionFlags) addRun(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{{Name: "language", To: &f.Languages, Reach: config.Nothing,
		Help: "only request answers in these languages (default: all languages of the suite)"}})
	config.Declare(c, asked, []config.Flag{
		{Name: "position", To: &f.Positions, Choices: confusion.Positions,
			Help: "where cross-lingual prompts have their instruction: " + strings.Join(confusion.Positions, ", ") +
				" (default: drawn for each prompt)"},
		{Name: "shots", To: &f.Shots, Help: "number of demonstrations before each prompt (default 0)"},
		{Name: "template", To: &f.Templates, Choices: []string{string(confusion.Auto), string(confusion.QA)},
			Help: "qa: put Q: and A: around prompts, as base models need; " +
				"auto: only for demonstrations without a chat API (default auto)"},
	})
	config.Declare(c, sampling, []config.Flag{
		{Name: "beams", To: &f.Beams, Help: "beam width, for servers with beam search; 1 samples (default 1)"},
		{Name: "logprobs", To: &f.Logprobs, Help: "number of candidates to request at each token, " +
			"to measure the model's uncertainty where confusion begins (default: none)"},
	})
}

func (f *confusionFlags) addScore(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{{Name: "expect", To: &f.Expect, Reach: config.Nothing,
		Help: "the language that answers should be in: user (that of the user, if the messages tell it), " +
			"prompt (that of all the user wrote), or a language such as en (default: the column language)"}})
	config.Declare(c, asked, []config.Flag{{Name: "suite", To: &f.Prompts, Values: "suites", Reach: config.Path,
		Help: "the suite with the prompts of answers that were recorded without them, found by id, " +
			"to group by length: an embedded suite, a file, or the Language Confusion Benchmark's test sets"}})
}

func (f *confusionFlags) study(r *runFlags) (*study.Study, error) {
	f.Sweep, f.Suite = r.sweep, r.suite
	return f.Open()
}

func (f *confusionFlags) recorded(s *scoreFlags, files []string) (*study.Study, error) {
	f.Columns, f.FileName = s.columns, s.name
	return f.Recorded(files, s.model)
}

// note warns that published figures use another identifier.
func (f *confusionFlags) note(w io.Writer) {
	protocols, err := f.Resolve()
	if f.Identifier == "" && err == nil && !confusion.OnlyProse(protocols) {
		fmt.Fprintf(w, "A small model (%s) identified the languages; published figures use --lid lid.176.\n",
			embedded.Identifier().Name())
	}
}
