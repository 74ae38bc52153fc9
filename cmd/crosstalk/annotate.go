package main

import (
	"errors"

	"crosstalk/internal/config"
	"crosstalk/web/annotate"

	"github.com/spf13/cobra"
)

func annotateCommand() *cobra.Command {
	var o annotate.Options
	var addr, guideline string
	c := &cobra.Command{
		Use:   "annotate RUN",
		Short: "Ask people about a run's answers in a web browser",
		Long: `Ask people about the answers of a run in a web browser, one question at a time.
The address to open is printed on stderr. Each answer is in RUN/labels.jsonl
before the next question shows, so people can stop at any time and resume later.

  leakage       which of two texts is more related to the word X
  confusion     is the answer in the right language, and which words are not
  lines         the same, for a single line
  consistency   do two answers mean the same
  reading       what does the answer say
  codes         why do two answers differ
  instructions  is the rewritten instruction right (also before the run is finished)

Questions are blind: pages name no model, setting or item. The order, and which
text is A, are drawn for each annotator from --seed and a secret of the run.

By default, only this machine has access, and annotators give their names. With
--annotator, each one needs the token in the address that is printed for them; it
stays the same when the command is run again. Any other --addr needs --annotator.

--sample N asks about N of the answers, as many from each value of the columns in
--by; --only asks about some answers only. Then use 'crosstalk agreement', and
'crosstalk report --corrected'.`,
		Example: `  crosstalk annotate RUN
  crosstalk annotate RUN --sample 200 --by category,finding
  crosstalk annotate RUN --question lines --sample 60 --only doubtful
  crosstalk annotate RUN --addr :8021 --annotator ann,bob     for others, with tokens`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if guideline != "" {
				if o.Guide, err = annotate.ReadGuide(guideline); err != nil {
					return err
				}
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			if err = annotate.Serve(ctx, c.ErrOrStderr(), addr, args[0], o); errors.As(err, new(*annotate.OpenError)) {
				return &usageError{err}
			}
			return err
		},
	}
	config.Declare(c, "", []config.Flag{{Name: "question", To: &o.Questions, Reach: config.Nothing,
		Help: "what to ask (default: all that the run has)"}})
	addSample(c, &o.Sample)
	config.Declare(c, "", []config.Flag{
		{Name: "guideline", To: &guideline, Reach: config.Path,
			Help: "a text file to show in place of the guidelines of the questions"},
		{Name: "annotator", To: &o.Annotators, Reach: config.Access,
			Help: "names of annotators who get a token each (default: everybody enters a name)"},
	})
	addAddress(c, &addr, "127.0.0.1:8021", &o.Hosts)
	return c
}
