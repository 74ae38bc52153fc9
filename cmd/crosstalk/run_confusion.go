package main

import (
	"strings"

	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/model/reference"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func runConfusionCommand() *cobra.Command {
	var r runFlags
	var f confusionFlags
	c := command("run confusion", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		err := r.run(c, func() (*study.Study, error) {
			s := f.study(c)
			s.Sweep, s.Suite = r.sweep, r.suite
			return s.Open()
		})
		if err == nil && !r.dry {
			f.noteIdentifier(notes(c))
		}
		return err
	})
	r.add(c, reference.Provider+":"+reference.DefaultConfused, "confusion")
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
	f.add(c)
	return c
}
