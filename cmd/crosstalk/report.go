package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/export"
	"crosstalk/report/overview"
	"crosstalk/report/page"
	"crosstalk/report/results"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/web"
	"crosstalk/web/annotate"

	"github.com/spf13/cobra"
)

type reportFlags struct {
	figureFlags
	by    []string
	files page.Files
}

func reportCommand() *cobra.Command {
	r := &reportFlags{}
	c := command("report", cobra.MinimumNArgs(1), r.run)
	config.Declare(c, "", []config.Flag{
		{Name: "by", To: &r.by,
			Help: "group figures by columns of the suite or the recorded data (default: as when they were measured)"},
		{Name: "html", To: &r.files.HTML,
			Help: "where to write the page: a file, - for stdout instead of the figures, none (default RUN/report.html)"},
		{Name: "figures", To: &r.files.Figures,
			Help: "a directory for the plots as SVG and PDF and the tables as CSV, markdown and LaTeX"},
	})
	r.figureFlags.add(c)
	return c
}

func (r *reportFlags) run(c *cobra.Command, paths []string) error {
	collect(20, paths...) // for a million answers: a third less memory, a third more CPU time
	if len(paths) > 1 {
		return r.writeHistory(c, paths)
	}
	path := paths[0]
	by, err := figures.ParseBy(r.by)
	if err != nil {
		return err
	}
	names, err := figures.Names(path)
	if err != nil {
		return err
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	grouped := by
	if by == nil && len(manifest.Scoring) > 0 {
		grouped = manifest.Scoring[0].By
	}
	var examples *overview.Examples
	var observe func(crosstalk.Observation)
	if r.short() && r.files.HTML != "-" {
		examples = overview.NewExamples(manifest.Plan.Instrument, grouped)
		observe = examples.Add
	}
	p, failed := r.files.Read(path, by, names, observe)
	if p.Figures != nil && r.files.HTML != "-" {
		if err := r.write(c, manifest.Plan.Instrument, p.Figures, names, examples); err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	to := page.Output{Page: c.OutOrStdout(), Notes: notes(c), Warnings: c.ErrOrStderr()}
	return r.files.Write(to, p)
}

// writeHistory prints and draws runs that differ only by their date.
func (r *reportFlags) writeHistory(c *cobra.Command, paths []string) error {
	if r.by != nil {
		return usagef("--by is of one run; a history has the totals of each")
	}
	found, err := gate.Histories(paths)
	if err != nil {
		return err
	}
	if err := found.FindChange(); err != nil {
		return err
	}
	h := results.History{History: found}
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

func exportCommand() *cobra.Command {
	var answers bool
	var format, out string
	c := command("export", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		var lost *export.LostError
		write := func(w io.Writer) error {
			err := export.WriteRun(w, format, args[0], answers)
			if errors.As(err, &lost) {
				return nil // the others are worth having
			}
			return err
		}
		var err error
		if out != "" {
			err = atomicfile.Write(out, write)
		} else {
			err = write(c.OutOrStdout())
		}
		if err == nil && lost != nil {
			return &exitError{exitIncomplete, lost}
		}
		return err
	})
	config.Declare(c, "", []config.Flag{
		{Name: "answers", To: &answers, Help: "write every request with its answer instead of the observations"},
		formatFlag(&format, export.Formats),
		{Name: "out", To: &out, Help: "the file to write (default: stdout)"},
	})
	return c
}

const questionHelp = "leakage; confusion (of answers) or lines; consistency, reading or codes " +
	"(default: the run's instrument)"

func addSample(c *cobra.Command, s *labels.Sample) {
	s.Seed = 1
	config.Declare(c, "", []config.Flag{
		{Name: "sample", To: &s.N, Help: "number of questions (default: all)"},
		{Name: "by", To: &s.By,
			Help: "columns to stratify the sample by, such as category, language or finding"},
		{Name: "only", To: &s.Only,
			Help: "ask about some answers only: COLUMN=VALUE; disputed (similarities disagree) or " +
				"doubtful (near the identifier's threshold, or nearly a tie)"},
		{Name: "seed", To: &s.Seed, Help: "seed of the sample, the order and the sides"},
	})
}

type agreementFlags struct {
	outputFlags
	labels.Options
	question  string
	all       bool
	corrected bool
}

func agreementCommand() *cobra.Command {
	var a agreementFlags
	c := command("agreement", cobra.ExactArgs(1), a.run)
	a.Worst, a.Seed = 10, 1
	config.Declare(c, "", []config.Flag{
		{Name: "by", To: &a.By,
			Help: "columns to give figures by, such as category or language (default with --all: as when they were measured)"},
		{Name: "all", To: &a.all, Help: "print all figures, not only a screenful"},
		{Name: "question", To: &a.question, Help: questionHelp},
		{Name: "seed", To: &a.Seed, Help: "seed of the intervals"},
		{Name: "corrected", To: &a.corrected,
			Help: "print the instrument's figures corrected by the labels instead; only --by goes with it"},
	})
	a.outputFlags.add(c)
	return c
}

func (a *agreementFlags) run(c *cobra.Command, args []string) error {
	var err error
	if a.By, err = figures.ParseBy(a.By); err != nil {
		return err
	}
	if a.corrected {
		return a.writeCorrected(c, args[0])
	}
	a.Link = web.ItemPath
	short := !a.all && a.format == report.Formats[0]
	if short {
		a.Worst = 3
	}
	result, err := labels.AgreementOf(args[0], a.question, a.Options)
	if err != nil {
		return err
	}
	if err := noteCutShort(c, args[0]); err != nil {
		return err
	}
	if result.Unmatched > 0 {
		fmt.Fprintf(notes(c), "%d labels are of answers that were not scored; they are left out\n", result.Unmatched)
	}
	return results.Agreement{Agreement: result, Short: short, Link: a.Link}.Write(c.OutOrStdout(), a.format)
}

// writeCorrected prints figures of a run that its labels correct.
func (a *agreementFlags) writeCorrected(c *cobra.Command, path string) error {
	if name := anyGiven(c, "all", "question", "seed"); name != "" {
		return usagef("--corrected and --%s cannot be combined: all questions correct the figures that they are about", name)
	}
	estimates, remarks, err := labels.CorrectedOf(path, a.By)
	if err != nil {
		return err
	}
	if err := noteCutShort(c, path); err != nil {
		return err
	}
	for _, note := range remarks {
		fmt.Fprintln(notes(c), note)
	}
	return report.Write(c.OutOrStdout(), a.format, estimates)
}

func noteCutShort(c *cobra.Command, runs ...string) error {
	for _, path := range runs {
		note, err := labels.CutShort(path)
		if err != nil {
			return err
		}
		if note != "" {
			fmt.Fprintln(notes(c), note)
		}
	}
	return nil
}

type annotateFlags struct {
	annotate.Options
	addr, guideline, export, filled string
}

func annotateCommand() *cobra.Command {
	var a annotateFlags
	c := command("annotate", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		switch {
		case a.export != "" && a.filled != "":
			return usagef("--export and --import cannot be combined: people fill the sheet in between")
		case a.export != "":
			return a.writeSheet(c, args[0])
		case a.filled != "":
			return a.readSheet(c, args[0])
		}
		var err error
		if a.guideline != "" {
			if a.Guide, err = annotate.ReadGuide(a.guideline); err != nil {
				return err
			}
		}
		ctx, stop := untilSignal(c.Context())
		defer stop()
		return annotate.Serve(ctx, c.ErrOrStderr(), a.addr, args[0], a.Options)
	})
	config.Declare(c, "", []config.Flag{{Name: "question", To: &a.Questions,
		Help: "what to ask (default: all that the run has; in a sheet the run's instrument)"}})
	addSample(c, &a.Sample)
	config.Declare(c, "", []config.Flag{
		{Name: "guideline", To: &a.guideline, Rare: true,
			Help: "a text file to show in place of the guidelines of the questions"},
		{Name: "annotator", To: &a.Annotators,
			Help: "names of annotators who get a token each (default: everybody enters a name), or of the one of a sheet"},
		{Name: "overlap", To: &a.Overlap, Rare: true,
			Help: "how many of the --annotator names are asked each question (default: all)"},
		{Name: "adjudicator", To: &a.Adjudicator,
			Help: "who decides: ask this person alone, about answers on which annotators disagree"},
		{Name: "export", To: &a.export, Help: "write the questions to a sheet in CSV instead; - is stdout"},
		{Name: "import", To: &a.filled, Help: "read the labels of a sheet that was filled in instead"},
	})
	addAddress(c, &a.addr, "127.0.0.1:8021", &a.Hosts)
	return c
}

// asked returns the question and the person of a sheet, which has one of each, and whether the person decides.
func (a *annotateFlags) asked() (question, name string, decides bool, err error) {
	names := a.Annotators
	if a.Adjudicator != "" {
		names = append(names, a.Adjudicator)
	}
	if len(a.Questions) > 1 || len(names) > 1 {
		return "", "", false, usagef("a sheet has one question and one annotator or adjudicator")
	}
	return strings.Join(a.Questions, ""), strings.Join(names, ""), a.Adjudicator != "", nil
}

func (a *annotateFlags) writeSheet(c *cobra.Command, path string) error {
	question, name, decides, err := a.asked()
	if err := cmp.Or(err, a.Sample.Check()); err != nil {
		return err
	}
	if decides && anyGiven(c, "sample", "by", "only") != "" {
		return usagef("--adjudicator cannot be combined with --sample, --by and --only")
	}
	q, err := labels.NewQuestionnaire(path, question, name, a.Sample, decides)
	if err != nil {
		return err
	}
	if a.export == "-" {
		return q.Write(c.OutOrStdout())
	}
	if err := atomicfile.Write(a.export, q.Write); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d of %d questions: %s\n", len(q.Asked), q.Of, a.export)
	return nil
}

func (a *annotateFlags) readSheet(c *cobra.Command, path string) error {
	question, name, decides, err := a.asked()
	if err != nil {
		return err
	}
	if name == "" {
		return usagef("expected --annotator NAME, or --adjudicator NAME")
	}
	imported, err := labels.ImportInto(path, question, a.filled, name, decides, time.Now())
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
}
