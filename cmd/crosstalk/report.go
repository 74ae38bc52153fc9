package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/gate"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/export"
	"crosstalk/report/page"
	"crosstalk/run/view"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

type reportFlags struct {
	outputFlags
	by        []string
	files     page.Files
	corrected bool
	table     tableFlags
	measures  []string
	answers   string
}

func reportCommand() *cobra.Command {
	r := &reportFlags{}
	c := command("report", cobra.MinimumNArgs(1), r.run)
	config.Declare(c, "", []config.Flag{
		{Name: "by", To: &r.by, Reach: config.Nothing,
			Help: "group figures by columns of the suite or the recorded data (default: as when they were measured)"},
		{Name: "html", To: &r.files.HTML, Reach: config.Path,
			Help: "where to write the page: a file, - for stdout instead of the figures, none (default RUN/report.html)"},
		{Name: "figures", To: &r.files.Figures, Reach: config.Path,
			Help: "a directory for the plots as SVG, PDF and PNG and the tables as CSV, markdown and LaTeX"},
		{Name: "corrected", To: &r.corrected, Help: "print figures corrected by people's labels"},
		{Name: "answers", To: &r.answers, Choices: []string{crosstalk.AnyFault, "variance"},
			Help: "print answers instead: faults (those with any fault; --only chooses, also by item), or where their " +
				"variance is"},
		{Name: "measure", To: &r.measures, Values: "measures", Reach: config.Nothing,
			Help: "print only these measures (default: all)"},
	})
	r.table.add(c)
	r.outputFlags.add(c)
	return c
}

func (r *reportFlags) run(c *cobra.Command, paths []string) error {
	collectLarge(20, paths) // of a million answers a third less memory, for a third more CPU time
	path := paths[0]
	by, wrongBy := study.ParseBy(r.by)
	if r.answers != "" {
		variance := r.answers == "variance"
		name := anyGiven(c, "html", "figures", "corrected", "measure", "rows", "columns", "pool", "group", "spread")
		switch {
		case name != "" || len(paths) > 1 || !variance && anyGiven(c, "by") != "" || variance && anyGiven(c, "only") != "":
			return usagef("--answers is of the answers of one run; no other flags but --format and --only go with it")
		case variance && wrongBy != nil:
			return wrongBy
		case variance:
			return compare.WriteVariances(c.OutOrStdout(), r.format, path, by)
		}
		only, err := view.Chosen(r.table.Only)
		if err != nil {
			return err
		}
		return export.WriteFaults(c.OutOrStdout(), r.format, path, only)
	}
	if len(paths) > 1 && r.measures == nil && r.table.wanted(c) == "" && !c.Flags().Changed("by") {
		return r.writeHistory(c, paths)
	}
	relabelled := r.table.wanted(c) == "label" && (r.files.Figures != "" || r.files.HTML != "")
	if r.measures != nil || r.table.wanted(c) != "" && !relabelled || len(paths) > 1 ||
		slices.Contains(r.by, view.SampleColumn) {
		return r.writeTable(c, paths)
	}
	if name := anyGiven(c, "html", "figures"); r.corrected && name != "" {
		return fmt.Errorf("--corrected and --%s cannot be combined: corrected figures are only printed", name)
	}
	if wrongBy != nil {
		return wrongBy
	}
	if r.corrected {
		estimates, remarks, err := labels.CorrectedOf(path, by)
		if err != nil {
			return err
		}
		if err := noteCutShort(c, path); err != nil {
			return err
		}
		for _, note := range remarks {
			fmt.Fprintln(notes(c), note)
		}
		return report.Write(c.OutOrStdout(), r.format, estimates)
	}
	names, err := r.table.NamesOf(paths)
	if err != nil {
		return err
	}
	p, failed := r.files.Read(path, by, names)
	if p.Figures != nil && r.files.HTML != "-" {
		if err := report.WriteNamed(c.OutOrStdout(), r.format, p.Figures, names); err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	to := page.Output{Page: c.OutOrStdout(), Notes: notes(c), Warnings: c.ErrOrStderr()}
	return r.files.Write(to, p)
}

// writeTable prints figures that are laid out in a table, or are about other
// observations than the run's own figures, and draws them.
func (r *reportFlags) writeTable(c *cobra.Command, paths []string) error {
	if name := anyGiven(c, "html", "corrected"); name != "" {
		return fmt.Errorf("--%s cannot be combined with --measure or flags of tables: such figures are in no page", name)
	}
	laid, err := r.table.Of(paths, r.by, r.measures)
	if err != nil {
		return err
	}
	if err := laid.Write(c.OutOrStdout(), r.format); err != nil || r.files.Figures == "" {
		return err
	}
	if !r.table.LaidOut() {
		return fmt.Errorf("--figures of --measure, --pool, --only, --group or --spread needs a table: " +
			"name its --rows and --columns, such as --rows model")
	}
	plots, err := laid.Plots()
	if err != nil {
		return err
	}
	return page.SaveFigures(notes(c), r.files.Figures, plots, laid.Write)
}

// writeHistory prints runs that differ by their date only, and draws them.
func (r *reportFlags) writeHistory(c *cobra.Command, paths []string) error {
	if r.corrected {
		return errors.New("--corrected is of one run")
	}
	h, err := gate.Histories(paths)
	if err != nil {
		return err
	}
	if err := h.FindChange(); err != nil {
		return err
	}
	write := func(w io.Writer) error { return page.WriteHistory(w, h.Title(), h.Tables(), h.Plots()) }
	if r.files.HTML == "-" {
		return write(c.OutOrStdout())
	}
	if err := h.Write(c.OutOrStdout(), r.format); err != nil {
		return err
	}
	if r.files.Figures != "" {
		if err := page.SaveFigures(notes(c), r.files.Figures, h.Plots(), h.Write); err != nil {
			return err
		}
	}
	if r.files.HTML == "" || r.files.HTML == "none" {
		return nil
	}
	return atomicfile.Write(r.files.HTML, write)
}
