package main

import (
	"fmt"

	"crosstalk/internal/config"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/web"

	"github.com/spf13/cobra"
)

type agreementFlags struct {
	outputFlags
	labels.Options
	question string
	all      bool
}

func agreementCommand() *cobra.Command {
	var a agreementFlags
	c := &cobra.Command{
		Use:   "agreement RUN",
		Short: "Compare people's labels with each other and with the instrument",
		Long: `Compare the labels of a run ('crosstalk labels') with each other and with what the
instrument found:

rate, share        the human figure, such as the human Leak-Rate (test counts 1,
                   neither 0.5, control 0), and the share of each label
kappa, alpha       agreement between annotators: Cohen's kappa of two,
                   Krippendorff's alpha of all (nominal); and kappa of the
                   instrument and the majority
tau-b              Kendall's tau-b between annotators, and between each similarity
                   and people; similarity differences within 0.03 are tied
sensitivity        share of the faults by the majority of people that the instrument
                   finds too
specificity        share of the other answers in which it finds nothing

Then come a confusion matrix of what was found and what the majority says, and the
largest disagreements. --by gives figures for each value of columns too; --all
prints everything, with tau-b over the slack and the shares of each label.

A tie between annotators counts as neither or cannot tell. If the sample was
stratified, rates, shares, sensitivity and specificity are weighted, so that they
are those of the whole run. Read the interval first: where few labelled answers
were missed by the instrument, its sensitivity looks better than it is.`,
		Example: `  crosstalk agreement RUN
  crosstalk agreement RUN --by category
  crosstalk agreement RUN --format json > agreement.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.run(c, args[0]) },
	}
	a.Worst, a.Seed = 10, 1
	config.Declare(c, "", []config.Flag{
		{Name: "by", To: &a.By, Reach: config.Nothing,
			Help: "columns to give figures by, such as category or language (default with --all: as when they were measured)"},
		{Name: "all", To: &a.all, Help: "print all figures, not only a screenful"},
		{Name: "question", To: &a.question, Reach: config.Nothing, Help: questionHelp},
		{Name: "seed", To: &a.Seed, Help: "seed of the intervals"},
	})
	a.outputFlags.add(c)
	return c
}

func (a *agreementFlags) run(c *cobra.Command, path string) error {
	var err error
	if a.By, err = givenColumns(c, a.By); err != nil {
		return err
	}
	a.Link = web.ItemPath
	short := !a.all && a.format == report.Formats[0]
	if short {
		a.Worst = 3
	}
	result, err := labels.AgreementOf(path, a.question, a.Options)
	if err != nil {
		return err
	}
	if result.Unmatched > 0 {
		fmt.Fprintf(notes(c), "%d labels are of answers that were not scored; they are left out\n", result.Unmatched)
	}
	return report.AgreementView{Agreement: result, Short: short, Link: a.Link}.Write(c.OutOrStdout(), a.format)
}
