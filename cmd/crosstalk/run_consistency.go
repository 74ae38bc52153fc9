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
	var of study.Consistency
	c := &cobra.Command{
		Use:   "consistency",
		Short: "Measure multisense consistency",
		Long: `Measure multisense consistency: whether a model's answer keeps its meaning when
the question is put in another language, or in other words. The model itself
rewrites inputs and instructions, in requests of their own, and then answers in
both senses.

People should review the rewritten instructions before they are used: the
command stops and says where they are. --accept-rewrites skips the review.

Without --model a reference model answers, whose consistency is known.`,
		Example: `  crosstalk run consistency
  crosstalk run consistency --model openai:gpt-4o-mini --to de,zh
  crosstalk run consistency --model ollama:llama3.2 --to paraphrase --accept-rewrites
  crosstalk run consistency --model openai:gpt-4o-mini --suite paws-x --from en,de --to en,de --mixed en,de
  crosstalk run consistency --model openai:gpt-4o-mini --suite sums.yaml --rewrite 'equal=Write another formula of the same value. Reply with the formula only.' --to equal --free number`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return r.run(c, func() (*study.Study, error) {
				s, scoring := of, f.study(c)
				s.Options, s.Free, s.Quality, s.Identifier, s.Overrides, s.By =
					scoring.Options, scoring.Free, scoring.Quality, scoring.Identifier, scoring.Overrides, scoring.By
				s.Sweep, s.Suite, s.ExecEnv = r.sweep, r.suite, scoring.ExecEnv
				return s.Open()
			})
		},
	}
	r.add(c, reference.Provider+":"+reference.DefaultInconsistent, "consistency")
	flags := c.Flags()
	flags.StringSliceVar(&of.From, "from", nil, "languages to ask the suite's items in as they are written (default: the suite's)")
	flags.StringSliceVar(&of.To, "to", []string{"de", "zh"}, "what to rewrite them into: languages, "+consistency.Paraphrase+", or names that --rewrite defines")
	flags.StringSliceVar(&of.Mixed, "mixed", nil, "languages whose own instructions are also put to inputs in other languages")
	flags.StringSliceVar(&of.Parts, "part", nil, "what to rewrite at a time: T (instruction and input), I (instruction), X (input) (default: each)")
	flags.StringArrayVar(&of.Rewrite, "rewrite", nil, "another sense of inputs, NAME=PROMPT: how the model is told to rewrite, with {text} or the text after it")
	flags.IntVar(&of.RewriteTokens, "rewrite-tokens", 0, "maximum tokens of a rewritten text (default: the protocol's)")
	flags.StringSliceVar(&of.Texts, "texts", nil, "files of inputs rewritten elsewhere, to use instead of the model's own")
	flags.StringVar(&of.Instructions, "instructions", "", "a file of reviewed instructions to use instead of the model's own")
	config.Path(flags, "texts", "instructions")
	config.Harmless(flags, "from", "to", "mixed", "rewrite")
	flags.BoolVar(&of.AcceptRewrites, "accept-rewrites", false, "use the model's rewritten instructions without a review; the signature says so")
	config.Choices(flags, "part", string(consistency.Both), string(consistency.Instructions), string(consistency.Inputs))
	f.add(c)
	flags.SortFlags = false
	return c
}
