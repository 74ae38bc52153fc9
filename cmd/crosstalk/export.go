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
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run's observations or answers for other programs",
		Long: `Write a run's observations or its answers as JSON Lines or CSV, or as the
samples of lm-evaluation-harness (--log_samples).

With --answers, every request is written with its answer. Recorded answers
('crosstalk score') are not in the run's journal; the observations have their
texts.`,
		Example: `  crosstalk export RUN > observations.jsonl
  crosstalk export RUN --answers --format csv
  crosstalk export RUN --format lm-eval --out samples_leakage.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return e.run(c, args[0]) },
	}
	config.Declare(c, "", []config.Flag{
		{Name: "answers", To: &e.answers, Help: "write every request with its answer instead of the observations"},
		formatFlag(&e.format, export.Formats),
		{Name: "out", To: &e.out, Reach: config.Path, Help: "the file to write (default: stdout)"},
	})
	return c
}

func (e *exporting) run(c *cobra.Command, path string) error {
	write := func(w io.Writer) error { return export.WriteRun(w, e.format, path, e.answers) }
	if e.out != "" {
		return atomicfile.Write(e.out, write)
	}
	return write(c.OutOrStdout())
}
