package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"crosstalk/instrument/consistency/review"
	"crosstalk/internal/config"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func reviewCommand() *cobra.Command {
	return group("review", "Have people look at what a program cannot judge",
		`Have people look at what a program cannot judge in a run of consistency: what
the model made of instructions, answers that are hard to read, and inconsistent
pairs of answers.`,
		reviewInstructionsCommand(), reviewAnswersCommand(), reviewPairsCommand(), reviewCodesCommand())
}

func reviewInstructionsCommand() *cobra.Command {
	var approve bool
	var reviewer string
	c := &cobra.Command{
		Use:   "instructions RUN",
		Short: "List the rewritten instructions of a run, or approve them all",
		Long: `List the rewritten instructions of a run with their doubts. They stand in the
run directory, in instructions.yaml: edit text and words there, and set approved
to true. --approve does that for all that can be used.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path := filepath.Join(args[0], study.InstructionsFile)
			list, err := review.ReadInstructions(path)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return fmt.Errorf("%s: there are no rewritten instructions; 'crosstalk run consistency' writes them", path)
			}
			for i := range list {
				in := &list[i]
				if approve && !in.Approved {
					in.Approved, in.Reviewer = true, reviewer
				}
				state := "waits"
				if in.Approved {
					state = "approved"
				}
				fmt.Fprintf(c.OutOrStdout(), "%s %s %s: %s\n", in.Model, in.Task, in.Sense, state)
				for _, p := range in.Parts {
					fmt.Fprintf(c.OutOrStdout(), "  %s: %q -> %q\n", p.Part, p.Source, p.Text)
				}
				for _, w := range in.Words {
					fmt.Fprintf(c.OutOrStdout(), "  %s: %q\n", w.Class, w.Word)
				}
				for _, doubt := range in.Doubts {
					fmt.Fprintf(c.OutOrStdout(), "  doubt: %s\n", doubt)
				}
			}
			if approve {
				return review.WriteInstructions(path, list)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&approve, "approve", false, "approve all of them as they are")
	c.Flags().StringVar(&reviewer, "reviewer", "", "who approves")
	config.Harmless(c.Flags(), "reviewer")
	return c
}

func reviewAnswersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "answers RUN",
		Short: "Write the answers whose reading is doubtful, for people to read",
		Long: `Write a CSV table of the answers that have no label, or one that may not be
meant, the most frequent first, with the rule that read them. Fill in
reviewed_class (none for no class), reviewer and reason, and give the table to
run or score with --overrides: figures are then given with and without it.`,
		Example: `  crosstalk review answers RUN > answers.csv
  crosstalk score consistency answers.csv.gz --task task.yaml --overrides answers.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := finished(args[0]); err != nil {
				return err
			}
			doubts, err := review.Doubts(run.ReadObservations(args[0]))
			if err != nil {
				return err
			}
			return review.WriteDoubts(c.OutOrStdout(), doubts)
		},
	}
}

func reviewPairsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pairs RUN",
		Short: "Write the inconsistent pairs of answers, for people to code",
		Long: `Write a CSV table of the pairs of answers that do not mean the same, with the
texts behind them. Fill in code, several with ; between, and count them with
'crosstalk review codes'.`,
		Example: `  crosstalk review pairs RUN > pairs.csv
  crosstalk review codes pairs.csv --by pair,part`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := finished(args[0]); err != nil {
				return err
			}
			return review.WritePairs(c.OutOrStdout(), run.ReadObservations(args[0]))
		},
	}
}

// finished refuses what is no finished run of consistency.
func finished(path string) error {
	manifest, err := run.ReadManifest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not a run directory: expected one written by 'crosstalk run consistency' or 'score consistency --out'", path)
	case err != nil:
		return err
	case manifest.Plan.Instrument != "consistency":
		return fmt.Errorf("%s is a run of %s; expected one of consistency", path, manifest.Plan.Instrument)
	case len(manifest.Scoring) == 0:
		return fmt.Errorf("%s is not finished: run the same command again to resume it", path)
	}
	return nil
}

func reviewCodesCommand() *cobra.Command {
	var o outputFlags
	var by []string
	c := &cobra.Command{
		Use:     "codes FILE...",
		Short:   "Count the codes that people gave inconsistent pairs",
		Long:    `Count the codes of tables that 'crosstalk review pairs' wrote: the share of each among the coded pairs.`,
		Example: "  crosstalk review codes pairs.csv --by pair,part --format csv",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			if err := report.CheckFormat(o.format); err != nil {
				return err
			}
			columns, err := study.ParseBy(by)
			if err != nil {
				return err
			}
			estimates, err := review.Codes(files, columns)
			if err != nil {
				return err
			}
			if len(estimates) == 0 {
				return fmt.Errorf("no pair has a code: fill in the column code")
			}
			return report.Write(c.OutOrStdout(), o.format, estimates)
		},
	}
	c.Flags().StringSliceVar(&by, "by", nil, "group shares by columns of the table")
	config.Harmless(c.Flags(), "by")
	o.add(c)
	return c
}
