package main

import (
	"fmt"
	"path/filepath"

	"crosstalk/instrument/consistency/review"
	"crosstalk/internal/config"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func reviewCommand() *cobra.Command {
	var approve bool
	var reviewer string
	c := &cobra.Command{
		Use:   "review RUN",
		Short: "List the rewritten instructions of a run, or approve them all",
		Long: `List the rewritten instructions of a consistency run with the program's doubts
about them. To review them, edit text and words in RUN/instructions.yaml and set
approved to true; or use 'crosstalk annotate RUN'. --approve approves all of them
unchanged. ('crosstalk annotate' and 'crosstalk labels' ask people about answers.)`,
		Example: `  crosstalk review RUN
  crosstalk review RUN --approve --reviewer NAME`,
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
