package main

import (
	"crosstalk/instrument/consistency"
	"crosstalk/internal/config"
	"crosstalk/model/reference"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func runConsistencyCommand() *cobra.Command {
	var r runFlags
	var f consistencyFlags
	c := &cobra.Command{
		Use:   "consistency",
		Short: "Measure multisense consistency",
		Long: `Measure multisense consistency: whether a model's answer keeps its meaning when
the question is asked in another language or in other words. The model itself
first rewrites inputs and instructions, in separate requests, and then answers
both versions.

Review the rewritten instructions before they are used: the command stops and
prints where they are. --accept-rewrites skips the review.

Without --model, a reference model answers, whose consistency is known.`,
		Example: `  crosstalk run consistency
  crosstalk run consistency --model openai:gpt-4o-mini --to de,zh
  crosstalk run consistency --model ollama:llama3.2 --to paraphrase \
      --accept-rewrites
  crosstalk run consistency --model openai:gpt-4o-mini --suite paws-x \
      --from en,de --to en,de --mixed en,de
  crosstalk run consistency --model openai:gpt-4o-mini --suite paws-x \
      --from en,de --to en,de --rewrite 'de>en=Übersetze ins Englische: {text}'
  crosstalk run consistency --model openai:gpt-4o-mini --suite sums.yaml \
      --rewrite 'equal=Write another formula of the same value. Formula only.' \
      --to equal --free number`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return r.run(c, func() (*study.Study, error) {
				s := f.study(c)
				s.Sweep, s.Suite = r.sweep, r.suite
				return s.Open()
			})
		},
	}
	r.add(c, reference.Provider+":"+reference.DefaultInconsistent, "consistency")
	flags := c.Flags()
	flags.StringSliceVar(&f.From, "from", nil,
		"languages in which to ask the suite's own texts (default: the suite's language)")
	flags.StringSliceVar(&f.To, "to", []string{"de", "zh"},
		"what to rewrite them into: languages, "+consistency.Paraphrase+", or names defined with --rewrite")
	flags.StringSliceVar(&f.Mixed, "mixed", nil,
		"languages whose own instructions are also combined with inputs in other languages")
	flags.StringSliceVar(&f.Parts, "part", nil,
		"what to rewrite: T (instruction and input), I (instruction), X (input) (default: each in turn)")
	flags.StringArrayVar(&f.Rewrite, "rewrite", nil, "NAME=PROMPT: how to tell the model to rewrite into a language (de), "+
		"a pair (en>de), "+consistency.Paraphrase+", or another sense of inputs that this defines; NAME:I=PROMPT only for instructions; "+
		"{text} marks the place of the text (default: after the prompt)")
	flags.IntVar(&f.RewriteTokens, "rewrite-tokens", 0, "maximum tokens per rewritten text (default: the protocol's)")
	flags.StringSliceVar(&f.Texts, "texts", nil, "files of rewritten inputs to use instead of the model's own")
	flags.StringVar(&f.Instructions, "instructions", "", "a file of reviewed instructions to use instead of the model's own")
	flags.BoolVar(&f.AcceptRewrites, "accept-rewrites", false,
		"use the model's rewritten instructions without a review; the signature records this")
	config.Path(flags, "texts", "instructions")
	config.Harmless(flags, "from", "to", "mixed", "rewrite")
	config.Choices(flags, "part", string(consistency.Both), string(consistency.Instructions), string(consistency.Inputs))
	f.add(c)
	flags.SortFlags = false
	return c
}
