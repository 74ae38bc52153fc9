package main

import (
	"fmt"

	"crosstalk/report"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// writeCorrected prints a run's figures corrected by people's labels.
func (r *reportFlags) writeCorrected(c *cobra.Command, path string) error {
	for _, name := range []string{"html", "figures"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--corrected and --%s cannot be combined: corrected figures are only printed", name)
		}
	}
	by, err := study.ParseBy(given(c, "by", r.by))
	if err != nil {
		return err
	}
	sheet, err := openSheet(path, "")
	if err != nil {
		return err
	}
	labels, design, err := labelsOf(path)
	if err != nil {
		return err
	}
	own, err := study.Estimates(path)
	if err != nil {
		return err
	}
	estimates, err := sheet.Correct(design, labels, by, own)
	if err != nil {
		return err
	}
	return report.Write(c.OutOrStdout(), r.format, estimates)
}
