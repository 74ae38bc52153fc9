package main

import (
	"fmt"
	"io"
	"strings"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/recorded"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

func scoreCommand() *cobra.Command {
	return group("score", "Score answers recorded elsewhere",
		`Score answers that were recorded elsewhere. No model is asked.`, scoreLeakageCommand(), scoreConfusionCommand())
}

type leakageScore struct {
	output
	leakageScoring
	model string
	out   string
}

func scoreLeakageCommand() *cobra.Command {
	s := &leakageScore{}
	c := &cobra.Command{
		Use:   "leakage FILE...",
		Short: "Score recorded answers for semantic leakage",
		Long: `Score recorded answers for semantic leakage.

A file is CSV, TSV, JSON Lines or an Excel workbook, gzip-compressed or not. It
has the columns prompt, control_prompt, concept, test and control, one row a
sample; or the lists test_generations and control_generations; or the layout
of Smilga's workbooks. model, category, language and any other column are kept
and can be grouped by. Nothing is printed or written if a row is malformed.`,
		Example: `  crosstalk score leakage answers.jsonl
  crosstalk score leakage answers.csv.gz --by dataset,category --format csv
  crosstalk score leakage answers.xlsx --protocol smilga-2025 --model Qwen2.5-3B`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error { return s.run(c, files) },
	}
	s.leakageScoring.flags(c)
	c.Flags().StringVarP(&s.model, "model", "m", "", "the model's name, for rows without one (default: the file's name)")
	c.Flags().StringVar(&s.out, "out", "", "a run directory to write observations and figures to")
	s.output.flags(c)
	c.Flags().SortFlags = false
	return c
}

func (s *leakageScore) run(c *cobra.Command, files []string) error {
	if err := report.CheckFormat(s.format); err != nil {
		return err
	}
	rules, err := s.rules(c)
	if err != nil {
		return err
	}
	similarities, err := openSimilarities(s.similarities, recordedLanguage(files))
	if err != nil {
		return err
	}
	sources := suite.NewSources(files)
	in := &leakage.Instrument{Protocol: rules, Similarities: similarities, SuiteOf: sources.ID}
	score := func(record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, notes notes, err error) {
		estimates = in.Estimate(func(yield func(crosstalk.Observation) bool) {
			err = s.observe(c, files, in, sources, &notes, func(o crosstalk.Observation) (bool, error) {
				if err := record(o); err != nil {
					return false, err
				}
				return yield(o), nil
			})
		}, s.by)
		return estimates, notes, err
	}
	if s.out == "" {
		estimates, notes, err := score(func(crosstalk.Observation) error { return nil })
		if err != nil {
			return err
		}
		return s.print(c, estimates, notes)
	}
	return s.write(c, score, sources, run.Scoring{Protocol: rules.Name, Rules: rules, Similarities: s.similarities, By: s.by})
}

// observe scores the rows of the files one after the other.
func (s *leakageScore) observe(c *cobra.Command, files []string, in *leakage.Instrument, sources *suite.Sources, n *notes, use func(crosstalk.Observation) (bool, error)) error {
	rows := 0
	for _, file := range files {
		for row, err := range recorded.ReadLeakage(file) {
			if err != nil {
				return err
			}
			if row.Unusable != "" {
				n.add(row.Where + ": not scored: " + row.Unusable)
				continue
			}
			rows++
			sources.Add(file, row.Item)
			model := row.Model
			if model == "" {
				if model = s.model; model == "" {
					model = suite.BaseName(file)
				}
			}
			of := *in
			of.Condition = map[string]string{"model": model}
			observations, err := of.Score(c.Context(), row.Item, row.First, row.Test, row.Control)
			if err != nil {
				return err
			}
			for _, o := range observations {
				if more, err := use(o); err != nil || !more {
					return err
				}
			}
		}
	}
	if rows == 0 {
		return fmt.Errorf("%s: no row can be scored%s", strings.Join(files, ", "), n.first())
	}
	return nil
}

// write scores into a run directory.
func (s *leakageScore) write(c *cobra.Command, score func(func(crosstalk.Observation) error) ([]crosstalk.Estimate, notes, error), sources *suite.Sources, scoring run.Scoring) error {
	var estimates []crosstalk.Estimate
	var n notes
	dir, err := run.Create(s.out, run.Plan{Instrument: "leakage", Suite: sources.Names(),
		Model: crosstalk.Identity{Provider: "recorded", Name: s.model}})
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.RecordObservations(func(record func(crosstalk.Observation) error) (err error) {
		estimates, n, err = score(record)
		return err
	})
	if err != nil {
		return err
	}
	if err := dir.SetScoring(scoring); err != nil {
		return err
	}
	if err := dir.WriteEstimates(report.NewDocument(estimates)); err != nil {
		return err
	}
	return s.print(c, estimates, n)
}

func (s *leakageScore) print(c *cobra.Command, estimates []crosstalk.Estimate, n notes) error {
	if err := report.Write(c.OutOrStdout(), s.format, estimates); err != nil {
		return err
	}
	if !s.quiet {
		n.print(c.ErrOrStderr())
	}
	return nil
}

// notes are remarks on single rows; the first are shown, the rest counted.
type notes struct {
	shown []string
	more  int
}

func (n *notes) add(note string) {
	if len(n.shown) < 10 {
		n.shown = append(n.shown, note)
		return
	}
	n.more++
}

func (n *notes) first() string {
	if len(n.shown) == 0 {
		return ""
	}
	return ": " + n.shown[0]
}

func (n *notes) print(w io.Writer) {
	for _, s := range n.shown {
		fmt.Fprintln(w, s)
	}
	if n.more > 0 {
		fmt.Fprintf(w, "and %d more rows like these\n", n.more)
	}
}
