package main

import (
	"fmt"
	"path/filepath"

	"crosstalk/instrument/consistency/review"
	"crosstalk/internal/config"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func reviewCommand() *cobra.Command {
	return group("review", "Export items for human review",
		`Export what a program cannot judge in a consistency run, for human review:
rewritten instructions, ambiguous answers, and inconsistent pairs of answers.`,
		reviewInstructionsCommand(), reviewAnswersCommand(), reviewPairsCommand(), reviewCodesCommand())
}

func reviewInstructionsCommand() *cobra.Command {
	var approve bool
	var reviewer string
	c := &cobra.Command{
		Use:   "instructions RUN",
		Short: "List the rewritten instructions of a run, or approve them all",
		Long: `List the rewritten instructions of a run with the program's doubts about them.
To review them, edit text and words in RUN/instructions.yaml and set approved to
true; or use 'crosstalk annotate RUN'. --approve approves all of them unchanged.`,
		Example: `  crosstalk review instructions RUN
  crosstalk review instructions RUN --approve --reviewer NAME`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path := filepath.Join(args[0], study.InstructionsFile)
			list, err := review.ReadRunInstructions(path)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return fmt.Errorf("%s: no rewritten instructions; expected a file written by 'crosstalk run consistency'", path)
			}
			if approve {
				review.Approve(list, reviewer)
			}
			if err := review.List(c.OutOrStdout(), list); err != nil || !approve {
				return err
			}
			return review.WriteInstructions(path, list)
		},
	}
	config.Declare(c, "", []config.Flag{
		{Name: "approve", To: &approve, Help: "approve all of them unchanged"},
		{Name: "reviewer", To: &reviewer, Reach: config.Nothing, Help: "name of the reviewer (default: none)"},
	})
	return c
}

func reviewAnswersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "answers RUN",
		Short: "Write the ambiguous answers, for people to classify",
		Long: `Write a CSV table of the answers that have no label, or a doubtful one, most
frequent first, with the rule that was applied. Fill in reviewed_class (none for
no class), reviewer and reason, and pass the table to run or score with
--overrides: figures are then printed with and without it. What most people say
in 'crosstalk annotate' is filled in.`,
		Example: `  crosstalk review answers RUN > answers.csv
  crosstalk score consistency answers.csv.gz --task task.yaml --overrides answers.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return labels.WriteDoubts(c.OutOrStdout(), args[0]) },
	}
}

func reviewPairsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pairs RUN",
		Short: "Write the inconsistent pairs of answers, for people to code",
		Long: `Write a CSV table of the pairs of answers that differ in meaning, with the texts
behind them. Fill in the column code (separate several codes with ;), and count
the codes with 'crosstalk review codes'. Codes that at least half of the people
gave in 'crosstalk annotate' are filled in.`,
		Example: `  crosstalk review pairs RUN > pairs.csv
  crosstalk review codes pairs.csv --by pair,part`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return labels.WritePairs(c.OutOrStdout(), args[0]) },
	}
}

func reviewCodesCommand() *cobra.Command {
	var o outputFlags
	var by []string
	c := &cobra.Command{
		Use:   "codes FILE...",
		Short: "Count the codes of inconsistent pairs",
		Long: `Count the codes in tables written by 'crosstalk review pairs': print the share
of each code among the coded pairs.`,
		Example: "  crosstalk review codes pairs.csv --by pair,part --format csv",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			columns, err := study.ParseBy(by)
			if err != nil {
				return err
			}
			estimates, err := review.Codes(files, columns)
			if err != nil {
				return err
			}
			if len(estimates) == 0 {
				return fmt.Errorf("no pair has a code; fill in the column code")
			}
			return report.Write(c.OutOrStdout(), o.format, estimates)
		},
	}
	config.Declare(c, "", []config.Flag{{Name: "by", To: &by, Reach: config.Nothing,
		Help: "group shares by columns of the table"}})
	o.add(c)
	return c
}
