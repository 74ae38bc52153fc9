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
	c := command("run consistency", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		return r.run(c, func() (*study.Study, error) {
			s := f.study(c)
			s.Sweep, s.Suite = r.sweep, r.suite
			return s.Open()
		})
	})
	r.add(c, reference.Provider+":"+reference.DefaultInconsistent, "consistency")
	f.To = []string{"de", "zh"}
	config.Declare(c, often, []config.Flag{
		{Name: "from", To: &f.From, Reach: config.Nothing,
			Help: "languages in which to ask the suite's own texts (default: the suite's language)"},
		{Name: "to", To: &f.To, Reach: config.Nothing,
			Help: "what to rewrite them into: languages, " + consistency.Paraphrase + ", or names defined with --rewrite"},
	})
	config.Declare(c, asked, []config.Flag{
		{Name: "mixed", To: &f.Mixed, Reach: config.Nothing,
			Help: "languages whose own instructions are also combined with inputs in other languages"},
		{Name: "part", To: &f.Parts,
			Choices: []string{string(consistency.Both), string(consistency.Instructions), string(consistency.Inputs)},
			Help:    "what to rewrite: T (instruction and input), I (instruction), X (input) (default: each in turn)"},
		{Name: "rewrite", To: &f.Rewrite, Whole: true, Reach: config.Nothing,
			Help: "NAME=PROMPT: how to tell the model to rewrite into a language (de), a pair (en>de), " +
				consistency.Paraphrase + ", or another sense of inputs that this defines; NAME:I=PROMPT only for " +
				"instructions; {text} marks the place of the text (default: after the prompt)"},
		{Name: "texts", To: &f.Texts, Reach: config.Path,
			Help: "files of rewritten inputs to use instead of the model's own"},
		{Name: "instructions", To: &f.Instructions, Reach: config.Path,
			Help: "a file of reviewed instructions to use instead of the model's own"},
		{Name: "accept-rewrites", To: &f.AcceptRewrites,
			Help: "use the model's rewritten instructions without a review; the signature records this"},
	})
	f.add(c)
	return c
}
