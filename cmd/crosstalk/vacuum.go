package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"crosstalk/ask/journal"
	"crosstalk/run"

	"github.com/spf13/cobra"
)

func vacuumCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vacuum RUN...",
		Short: "Rewrite a run's journal in one piece",
		Long: `Rewrite the journals of runs (answers.db) without the room that is free in them,
and with every index in one piece, so that they are smaller and quicker to read.
No answer is changed. Meanwhile the disk needs room for a journal twice more. A
run that is in progress is refused.`,
		Example: "  crosstalk vacuum runs/sweep-merged",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, runs []string) error {
			var failed error
			for _, path := range runs {
				if _, err := run.ReadManifest(path); err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				before, after, err := journal.Vacuum(filepath.Join(path, journal.Name))
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %s, before %s\n", path, megabytes(after), megabytes(before))
			}
			return failed
		},
	}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
