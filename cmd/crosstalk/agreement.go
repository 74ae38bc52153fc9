package main

import (
	"fmt"

	"crosstalk/internal/config"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/study"
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
	c := command("agreement", cobra.ExactArgs(1), a.run)
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

func (a *agreementFlags) run(c *cobra.Command, args []string) error {
	var err error
	if a.By, err = study.ParseBy(a.By); err != nil {
		return err
	}
	a.Link = web.ItemPath
	short := !a.all && a.format == report.Formats[0]
	if short {
		a.Worst = 3
	}
	result, err := labels.AgreementOf(args[0], a.question, a.Options)
	if err != nil {
		return err
	}
	if err := noteCutShort(c, args[0]); err != nil {
		return err
	}
	if result.Unmatched > 0 {
		fmt.Fprintf(notes(c), "%d labels are of answers that were not scored; they are left out\n", result.Unmatched)
	}
	return report.AgreementView{Agreement: result, Short: short, Link: a.Link}.Write(c.OutOrStdout(), a.format)
}

// noteCutShort tells of labels that are cut short in these runs.
func noteCutShort(c *cobra.Command, runs ...string) error {
	for _, path := range runs {
		note, err := labels.CutShort(path)
		if err != nil {
			return err
		}
		if note != "" {
			fmt.Fprintln(notes(c), note)
		}
	}
	return nil
}
