package main

import (
	"fmt"

	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// writeCorrected prints a run's figures corrected by people's labels.
func (r *reportFlags) writeCorrected(c *cobra.Command, path string) error {
	if name := anyGiven(c, "html", "figures"); name != "" {
		return fmt.Errorf("--corrected and --%s cannot be combined: corrected figures are only printed", name)
	}
	by, err := study.ParseBy(given(c, "by", r.by))
	if err != nil {
		return err
	}
	estimates, notes, err := labels.CorrectedOf(path, by)
	if err != nil {
		return err
	}
	for _, note := range notes {
		if !r.quiet {
			fmt.Fprintln(c.ErrOrStderr(), note)
		}
	}
	return report.Write(c.OutOrStdout(), r.format, estimates)
}
