package main

import (
	"io"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/report/export"

	"github.com/spf13/cobra"
)

type exporting struct {
	answers bool
	format  string
	out     string
}

func exportCommand() *cobra.Command {
	e := &exporting{}
	c := command("export", cobra.ExactArgs(1), e.run)
	config.Declare(c, "", []config.Flag{
		{Name: "answers", To: &e.answers, Help: "write every request with its answer instead of the observations"},
		formatFlag(&e.format, export.Formats),
		{Name: "out", To: &e.out, Reach: config.Path, Help: "the file to write (default: stdout)"},
	})
	return c
}

func (e *exporting) run(c *cobra.Command, args []string) error {
	write := func(w io.Writer) error { return export.WriteRun(w, e.format, args[0], e.answers) }
	if e.out != "" {
		return atomicfile.Write(e.out, write)
	}
	return write(c.OutOrStdout())
}
