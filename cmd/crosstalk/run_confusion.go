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
	c := &cobra.Command{
		Use:   "confusion",
		Short: "Measure language confusion",
		Long: `Measure language confusion: how often an answer is not in the requested
language.

To compare settings, give several values to --temperature, --top-p, --beams,
--shots, --template, --position or --model. Each combination is a condition of
the run.

--suite also reads a table (CSV, JSON Lines, ...) of prompts with the columns
language and prompt, or messages, and optionally system.

Without --model, a reference model answers, whose confusion is known.`,
		Example: `  crosstalk run confusion
  crosstalk run confusion --model openai:gpt-4o-mini \
      --language ar,ja,ko --temperature 0.3,0.7,1
  crosstalk run confusion --suite prompts.csv --model ollama:llama3.2 \
      --system @system.txt
  crosstalk run confusion --model ollama:llama3.2 --position start,integrated
  crosstalk run confusion --model vllm:my-base-model --api completions \
      --template qa --shots 0,5
  crosstalk run confusion --model vllm:my-model --beams 1,4 --logprobs 20
  crosstalk run confusion \
      --model ollama:llama3.2:3b,ollama:llama3.2:3b-instruct-q4_0`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := r.run(c, func() (*study.Study, error) {
				s := f.study(c)
				s.Sweep, s.Suite = r.sweep, r.suite
				return s.Open()
			})
			if err == nil && !r.dry {
				f.noteIdentifier(notes(c))
			}
			return err
		},
	}
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
