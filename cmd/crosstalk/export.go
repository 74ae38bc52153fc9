package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/internal/rescue"
	"crosstalk/internal/statusline"
	"crosstalk/report/export"
	"crosstalk/run"
	"crosstalk/study"

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
		Long: `Write a run's observations or its answers as JSON Lines, CSV or Parquet, or as
the samples of lm-evaluation-harness (--log_samples).

With --answers, every request is written with its answer. Recorded answers
('crosstalk score') are not in the run's journal; the observations have their
texts.`,
		Example: `  crosstalk export RUN > observations.jsonl
  crosstalk export RUN --format parquet --out observations.parquet
  crosstalk export RUN --answers --format csv
  crosstalk export RUN --format lm-eval --out samples_leakage.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return e.run(c, args[0]) },
	}
	f := c.Flags()
	f.BoolVar(&e.answers, "answers", false, "write every request with its answer instead of the observations")
	f.StringVar(&e.format, "format", export.Formats[0], strings.Join(export.Formats, ", "))
	f.StringVar(&e.out, "out", "", "the file to write (default: stdout)")
	config.Path(f, "out")
	config.Harmless(f, "format")
	f.SortFlags = false
	return c
}

func (e *exporting) run(c *cobra.Command, path string) error {
	if err := export.CheckFormat(e.format); err != nil {
		return err
	}
	if e.answers && e.format == export.LMEval {
		return fmt.Errorf("--format %s and --answers cannot be combined: the format is for observations", e.format)
	}
	if _, err := study.ReadManifest(path); err != nil {
		return err
	}
	if e.out != "" {
		return atomicfile.Write(e.out, func(w io.Writer) error { return e.write(w, path) })
	}
	if e.format == export.Parquet && statusline.IsTerminal(c.OutOrStdout()) {
		return fmt.Errorf("parquet is binary and stdout is a terminal; name a file with --out")
	}
	return e.write(c.OutOrStdout(), path)
}

// write writes the export; a defect in a writer is an error.
func (e *exporting) write(w io.Writer, path string) error {
	return rescue.Do("the export", func() error { return e.writeTo(w, path) })
}

func (e *exporting) writeTo(w io.Writer, path string) error {
	if !e.answers {
		if _, err := os.Lstat(filepath.Join(path, "observations.jsonl")); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is not finished: run the same command again to resume it", path)
		}
		if e.format != export.LMEval {
			return export.Observations(w, e.format, run.ReadObservations(path))
		}
	}
	j, err := journal.OpenReader(filepath.Join(path, "answers.db"))
	if err != nil {
		return err
	}
	defer j.Close()
	if e.answers {
		return export.Answers(w, e.format, answersOf(j))
	}
	return export.Samples(w, run.ReadObservations(path), func(key crosstalk.Key) (export.Answer, bool) {
		record, found, err := j.Record(key)
		return exported(key, record), found && err == nil
	})
}

func answersOf(j *journal.Journal) iter.Seq2[export.Answer, error] {
	return func(yield func(export.Answer, error) bool) {
		for record, err := range j.All() {
			if !yield(exported(record.Answer.Key, record), err) {
				return
			}
		}
	}
}

func exported(key crosstalk.Key, r journal.Record) export.Answer {
	return export.Answer{Key: key, Identity: r.Identity, Request: r.Request, Answer: r.Answer}
}
