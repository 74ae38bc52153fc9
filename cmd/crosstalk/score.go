package main

import (
	"fmt"
	"io"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/report"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func scoreCommand() *cobra.Command {
	return group("score", "Score answers recorded elsewhere",
		`Score answers that were recorded elsewhere. No model is asked.`, each(func(in instrument) *cobra.Command { return in.score() })...)
}

// scoreFlags are the flags of every scoring of recorded answers.
type scoreFlags struct {
	outputFlags
	model string
	out   string
}

func (s *scoreFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&s.model, "model", "m", "", "the model's name, for rows without one (default: the file's name)")
	c.Flags().StringVar(&s.out, "out", "", "a run directory to write observations and figures to")
	config.Path(c.Flags(), "out")
	config.Harmless(c.Flags(), "model")
	s.outputFlags.add(c)
	c.Flags().SortFlags = false
}

// score opens a study of recorded answers, scores them, and reports.
func (s *scoreFlags) score(c *cobra.Command, open func() (*study.Study, error)) error {
	if err := report.CheckFormat(s.format); err != nil {
		return err
	}
	of, err := open()
	if err != nil {
		return err
	}
	estimates, err := s.estimates(c, of)
	if err != nil {
		return err
	}
	if err := report.Write(c.OutOrStdout(), s.format, estimates); err != nil {
		return err
	}
	if !s.quiet {
		printNotes(c.ErrOrStderr(), of.Notes)
	}
	return nil
}

func (s *scoreFlags) estimates(c *cobra.Command, of *study.Study) ([]crosstalk.Estimate, error) {
	if s.out == "" {
		return of.Score(c.Context())
	}
	result, err := of.Run(c.Context(), s.out, ask.Options{})
	return result.Estimates, err
}

func printNotes(w io.Writer, n study.Notes) {
	for _, s := range n.Shown {
		fmt.Fprintln(w, s)
	}
	if n.More > 0 {
		fmt.Fprintf(w, "and %d more like these\n", n.More)
	}
}

func scoreLeakageCommand() *cobra.Command {
	var s scoreFlags
	var l leakageFlags
	c := &cobra.Command{
		Use:   "leakage FILE...",
		Short: "Score recorded answers for semantic leakage",
		Long: `Score recorded answers for semantic leakage.

A file is CSV, TSV, JSON Lines or an Excel workbook, gzip-compressed or not. It
has the columns prompt, control_prompt, concept, test and control, one row per
sample; or the lists test_generations and control_generations; or the layout
of Smilga's workbooks. model, category, language and all other columns are kept
and can be grouped by. If a row is malformed, nothing is printed or written.`,
		Example: `  crosstalk score leakage answers.jsonl
  crosstalk score leakage answers.csv.gz --by dataset,category --format csv
  crosstalk score leakage answers.xlsx --protocol smilga-2025 --model Qwen2.5-3B`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			return s.score(c, func() (*study.Study, error) { return l.study(c).Recorded(files, s.model) })
		},
	}
	l.add(c)
	s.add(c)
	return c
}

func scoreConfusionCommand() *cobra.Command {
	var s scoreFlags
	var f confusionFlags
	c := &cobra.Command{
		Use:   "confusion FILE...",
		Short: "Score recorded answers for language confusion",
		Long: `Score recorded answers for language confusion: how often an answer is not in
the language that was asked for.

A file is CSV, TSV or JSON Lines, gzip-compressed or not, one row per answer,
with the columns completion and language, and any of model, task, source, id,
prompt and sample. Other columns are kept and can be grouped by. Files may be
larger than memory. If a row is malformed, nothing is printed or written.`,
		Example: `  crosstalk score confusion answers.csv.gz
  crosstalk score confusion answers.jsonl --by language --format csv
  crosstalk score confusion answers.csv --protocol lcb-script --lid lid.176.bin --words words`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			err := s.score(c, func() (*study.Study, error) { return f.study(c).Recorded(files, s.model) })
			if err == nil && !s.quiet {
				f.noteIdentifier(c.ErrOrStderr())
			}
			return err
		},
	}
	f.add(c)
	s.add(c)
	return c
}

func scoreConsistencyCommand() *cobra.Command {
	var s scoreFlags
	var f consistencyFlags
	var task string
	var texts []string
	c := &cobra.Command{
		Use:   "consistency FILE...",
		Short: "Score recorded answers for multisense consistency",
		Long: `Score recorded answers for multisense consistency: whether a model's answer
keeps its meaning when the question is put in another language, or in other
words.

A file is CSV, TSV or JSON Lines, gzip-compressed or not, one row per answer,
with the columns item, input, instruction and answer, and any of task, model
and run. input and instruction are a language (en), or en>de for what the model
itself made of the English. The task file (crosstalk suites) says what answers
mean and which are right. Other columns are kept and can be grouped by. If a row
is malformed or belongs to no item, nothing is printed or written.`,
		Example: `  crosstalk score consistency answers.csv --task task.yaml
  crosstalk score consistency answers.csv.gz --task task.yaml --texts translations.jsonl --by class
  crosstalk score consistency answers.jsonl --task task.yaml --protocol ohmer-2023 --format csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			return s.score(c, func() (*study.Study, error) {
				of := f.study(c)
				of.Texts = texts
				return of.Recorded(files, s.model, task)
			})
		},
	}
	c.Flags().StringVar(&task, "task", "", "the task file: classes, answer words and what is right; an embedded suite or a file")
	c.Flags().StringSliceVar(&texts, "texts", nil, "files of the rewritten texts, for BLEU and ROUGE")
	config.Path(c.Flags(), "task", "texts")
	f.add(c)
	s.add(c)
	return c
}
