package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/labels"

	"github.com/spf13/cobra"
)

type sheetFlags struct {
	out, format, annotator, adjudicator, question string
	sample                                        labels.Sample
}

const questionHelp = "leakage; confusion (of answers) or lines; consistency, reading or codes " +
	"(default: the run's instrument)"

// addSample adds the flags that choose what people are asked about.
func addSample(c *cobra.Command, s *labels.Sample) {
	s.Seed = 1
	config.Declare(c, "", []config.Flag{
		{Name: "sample", To: &s.N, Help: "number of questions (default: all)"},
		{Name: "by", To: &s.By, Reach: config.Nothing,
			Help: "columns to stratify the sample by, such as category, language or finding"},
		{Name: "only", To: &s.Only, Reach: config.Nothing,
			Help: "ask about some answers only: COLUMN=VALUE; disputed (similarities disagree) or " +
				"doubtful (near the identifier's threshold, or nearly a tie)"},
		{Name: "seed", To: &s.Seed, Help: "seed of the sample, the order and the sides"},
	})
}

func labelsExportCommand() *cobra.Command {
	var s sheetFlags
	c := command("labels export", cobra.ExactArgs(1), s.run)
	config.Declare(c, "", []config.Flag{
		{Name: "out", To: &s.out, Reach: config.Path, Help: "the file to write: .csv or .json (default: stdout)"},
		{Name: "format", To: &s.format, Choices: labels.Formats,
			Help: strings.Join(labels.Formats, ", ") + " (default: as --out ends, else csv)"},
		{Name: "annotator", To: &s.annotator, Reach: config.Nothing,
			Help: "who is asked: another name draws another order and other sides"},
		{Name: "adjudicator", To: &s.adjudicator, Reach: config.Nothing,
			Help: "who decides: ask only about answers on which annotators disagree"},
		{Name: "question", To: &s.question, Reach: config.Nothing, Help: questionHelp},
	})
	addSample(c, &s.sample)
	return c
}

func (s *sheetFlags) run(c *cobra.Command, args []string) error {
	format := cmp.Or(s.format, labels.FormatOf(s.out))
	if err := cmp.Or(s.sample.Check(), labels.CheckFormat(format)); err != nil {
		return err
	}
	name, decides := cmp.Or(s.annotator, s.adjudicator), s.adjudicator != ""
	if decides && (s.annotator != "" || anyGiven(c, "sample", "by", "only") != "") {
		return usagef("--adjudicator cannot be combined with --annotator, --sample, --by and --only")
	}
	q, err := labels.NewQuestionnaire(args[0], s.question, name, s.sample, decides)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return q.Write(w, format) }
	if s.out == "" {
		return write(c.OutOrStdout())
	}
	if err := atomicfile.Write(s.out, write); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d of %d questions: %s\n", len(q.Asked), q.Of, s.out)
	return nil
}

func labelsImportCommand() *cobra.Command {
	var annotator, adjudicator, question string
	c := command("labels import", cobra.ExactArgs(2), func(c *cobra.Command, args []string) error {
		name := cmp.Or(annotator, adjudicator)
		if (annotator == "") == (adjudicator == "") {
			return usagef("expected --annotator NAME, or --adjudicator NAME")
		}
		imported, err := labels.ImportInto(args[0], question, args[1], name, adjudicator != "", time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "%d labels by %s added; %d questions without a label\n",
			len(imported.Labels), name, imported.Blank)
		if imported.Before > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "%d labels were there before\n", imported.Before)
		}
		for _, odd := range imported.Odd {
			fmt.Fprintf(c.ErrOrStderr(), "left out: %v\n", odd)
		}
		if n := len(imported.Odd); n > 0 {
			return &exitError{exitIncomplete, fmt.Errorf("%d rows were left out", n)}
		}
		return nil
	})
	config.Declare(c, "", []config.Flag{
		{Name: "annotator", To: &annotator, Reach: config.Nothing, Help: "who filled in the sheet"},
		{Name: "adjudicator", To: &adjudicator, Reach: config.Nothing,
			Help: "who filled in the sheet and decides, instead of --annotator"},
		{Name: "question", To: &question, Reach: config.Nothing, Help: questionHelp},
	})
	return c
}
