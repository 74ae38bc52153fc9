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
	c := command("review", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
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
	})
	config.Declare(c, "", []config.Flag{
		{Name: "approve", To: &approve, Help: "approve all of them unchanged"},
		{Name: "reviewer", To: &reviewer, Reach: config.Nothing, Help: "name of the reviewer (default: none)"},
	})
	return c
}
