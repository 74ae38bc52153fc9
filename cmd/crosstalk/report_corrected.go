package main

import (
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/labels"
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
	given, design, err := labelsOf(path)
	if err != nil {
		return err
	}
	own, err := study.Estimates(path)
	if err != nil {
		return err
	}
	sheet, err := openSheet(path, "")
	if err != nil {
		return err
	}
	var estimates []crosstalk.Estimate
	for _, q := range labels.QuestionsOf(sheet.Question.Instrument) {
		if q.Fault == "" || !slices.ContainsFunc(given, func(l labels.Label) bool { return l.Question == q.Name }) {
			continue // it says nothing of a figure, or nobody was asked
		}
		sheet, err := labels.OpenQuestion(path, q.Name)
		if err != nil {
			return err
		}
		if err := sheet.ReadWords(path); err != nil {
			return err
		}
		corrected, err := sheet.Correct(design, given, by, own)
		if err != nil {
			return err
		}
		estimates = append(estimates, corrected...)
		if q.Name == labels.Language && !sheet.MarkedWords(given) && !r.quiet {
			fmt.Fprintln(c.ErrOrStderr(), "WPR and LCPR are not corrected: no label marks a word")
		}
	}
	if estimates == nil {
		return fmt.Errorf("%s: no label is of a question whose figure can be corrected", path)
	}
	return report.Write(c.OutOrStdout(), r.format, estimates)
}
