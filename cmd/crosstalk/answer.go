package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/internal/shell"
	"crosstalk/report"
	"crosstalk/report/overview"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// figureFlags are the flags of commands that print the figures of a run.
type figureFlags struct {
	outputFlags
	all bool
}

func (f *figureFlags) add(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{
		{Name: "all", To: &f.all, Help: "print all figures, not only a screenful"}})
	f.outputFlags.add(c)
}

// write prints figures: the short answer, unless other programs read them or all are wanted.
func (f *figureFlags) write(c *cobra.Command, instrument string, figures []crosstalk.Estimate,
	names report.Names, examples *overview.Examples) error {
	if f.all || f.format != report.Formats[0] {
		return report.WriteNamed(c.OutOrStdout(), f.format, figures, names)
	}
	return overview.Write(c.OutOrStdout(), instrument, figures, names, examples)
}

// answerFlags are the output flags of run and score.
type answerFlags struct {
	figureFlags
	labels []string
	names  report.Names

	examples *overview.Examples // of faults
}

func (a *answerFlags) add(c *cobra.Command) {
	config.Declare(c, output, []config.Flag{
		{Name: "label", To: &a.labels, Whole: true, Reach: config.Path.If(`(?s)^@([^@].*)=`),
			Help: "what tables and plots call a model, a system message or another value: VALUE=NAME; " +
				"the value may be @FILE"}})
	a.figureFlags.add(c)
}

// check validates the flags, and reads the values of --label.
func (a *answerFlags) check() error {
	if a.labels == nil {
		return nil
	}
	names, err := report.ParseNames(a.labels)
	a.names = report.Names{}
	for value, name := range names {
		if value, err = config.TextOrFile(value); err != nil {
			break
		}
		a.names[value] = name
	}
	if err != nil {
		return crosstalk.BadOption("label", ": %w", err)
	}
	return nil
}

// follow makes a study name its values, and keeps examples of the faults it finds.
func (a *answerFlags) follow(s *study.Study) {
	s.Names = a.names
	a.examples = overview.NewExamples(s.Instrument, s.By)
	s.Observe = a.examples.Add
}

// print prints the figures.
func (a *answerFlags) print(c *cobra.Command, s *study.Study, result study.Result) error {
	if unused := a.names.Unused(result.Estimates); len(unused) > 0 {
		fmt.Fprintf(notes(c), "note: --label names %s, which no figure has\n", strings.Join(unused, ", "))
	}
	return a.write(c, s.Instrument, result.Estimates, a.names, a.examples)
}

// sayNext says where the answers of a run can be read.
func sayNext(w io.Writer, run string) {
	serve := "crosstalk serve"
	if dir := filepath.Dir(run); dir != "runs" {
		serve += " " + shell.Quote(dir)
	}
	fmt.Fprintf(w, "Every answer: %s\nPage: crosstalk report %s\n", serve, shell.Quote(run))
}
