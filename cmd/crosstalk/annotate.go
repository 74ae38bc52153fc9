package main

import (
	"crosstalk/internal/config"
	"crosstalk/web/annotate"

	"github.com/spf13/cobra"
)

func annotateCommand() *cobra.Command {
	var o annotate.Options
	var addr, guideline string
	c := command("annotate", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		var err error
		if guideline != "" {
			if o.Guide, err = annotate.ReadGuide(guideline); err != nil {
				return err
			}
		}
		ctx, stop := untilSignal(c.Context())
		defer stop()
		return annotate.Serve(ctx, c.ErrOrStderr(), addr, args[0], o)
	})
	config.Declare(c, "", []config.Flag{{Name: "question", To: &o.Questions, Reach: config.Nothing,
		Help: "what to ask (default: all that the run has)"}})
	addSample(c, &o.Sample)
	config.Declare(c, "", []config.Flag{
		{Name: "guideline", To: &guideline, Reach: config.Path,
			Help: "a text file to show in place of the guidelines of the questions"},
		{Name: "annotator", To: &o.Annotators, Reach: config.Access,
			Help: "names of annotators who get a token each (default: everybody enters a name)"},
		{Name: "overlap", To: &o.Overlap,
			Help: "how many of the --annotator names are asked each question (default: all)"},
		{Name: "adjudicator", To: &o.Adjudicator, Reach: config.Access,
			Help: "who decides: ask this person alone, about answers on which annotators disagree"},
	})
	addAddress(c, &addr, "127.0.0.1:8021", &o.Hosts)
	return c
}
