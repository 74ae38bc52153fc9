package main

import (
	"io"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/report/export"

	"github.com/spf13/cobra"
)

func exportCommand() *cobra.Command {
	var answers bool
	var format, out string
	c := command("export", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		write := func(w io.Writer) error { return export.WriteRun(w, format, args[0], answers) }
		if out != "" {
			return atomicfile.Write(out, write)
		}
		return write(c.OutOrStdout())
	})
	config.Declare(c, "", []config.Flag{
		{Name: "answers", To: &answers, Help: "write every request with its answer instead of the observations"},
		formatFlag(&format, export.Formats),
		{Name: "out", To: &out, Reach: config.Path, Help: "the file to write (default: stdout)"},
	})
	return c
}
