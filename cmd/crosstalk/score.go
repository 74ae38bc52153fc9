package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/parallel"
	"crosstalk/recorded"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

func scoreCommand() *cobra.Command {
	return group("score", "Score answers recorded elsewhere",
		`Score answers that were recorded elsewhere. No model is asked.`, scoreLeakageCommand(), scoreConfusionCommand(), scoreConsistencyCommand())
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
	remarks, err := s.check(c, files)
	if err != nil {
		return err
	}
	sources := suite.NewSources(files)
	score := func(r surroundings, record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, err error) {
		similarities := place(similarities, r)
		for _, p := range rules {
			in := &leakage.Instrument{Protocol: p, Similarities: similarities, SuiteOf: sources.ID}
			estimates = append(estimates, in.Estimate(func(yield func(crosstalk.Observation) bool) {
				err = s.observe(c, files, in, sources, func(o crosstalk.Observation) (bool, error) {
					if err := record(o); err != nil {
						return false, err
					}
					return yield(o), nil
				})
			}, s.by)...)
			if err != nil {
				return nil, err
			}
		}
		return estimates, nil
	}
	var estimates []crosstalk.Estimate
	if s.out == "" {
		estimates, err = score(alone(), func(crosstalk.Observation) error { return nil })
	} else {
		var scorings []run.Scoring
		for _, p := range rules {
			scorings = append(scorings, run.Scoring{Protocol: p.Name, Rules: p, Similarities: s.similarities, By: s.by})
		}
		estimates, err = s.write(score, sources, scorings)
	}
	if err != nil {
		return err
	}
	if err := report.Write(c.OutOrStdout(), s.format, estimates); err != nil {
		return err
	}
	if !s.quiet {
		remarks.print(c.ErrOrStderr())
	}
	return nil
}

// check reads the files once before anything is scored or written, and notes
// the rows that cannot be scored.
func (s *leakageScore) check(c *cobra.Command, files []string) (remarks notes, err error) {
	type sample struct {
		dataset, model, id string
		number             int
	}
	rows, seen, columns := 0, map[sample]string{}, columns{"similarity": true}
	columns.add(conditionOf("", "", s.protocols))
	for _, file := range files {
		for row, err := range recorded.ReadLeakage(file) {
			if err != nil {
				return remarks, err
			}
			if row.Unusable != "" {
				remarks.add(row.Where + ": not scored: " + row.Unusable)
				continue
			}
			rows++
			columns.add(row.Item.Labels)
			if len(files) == 1 {
				continue // the reader has seen to it
			}
			for k := range max(len(row.Test), len(row.Control)) {
				at := sample{row.Item.Labels["dataset"], s.modelOf(row, file), row.Item.ID, row.First + k}
				if first, again := seen[at]; again {
					return remarks, fmt.Errorf("%s: item %q, sample %d of model %q stands in %s already", row.Where, at.id, at.number, at.model, first)
				}
				seen[at] = row.Where
			}
		}
	}
	if rows == 0 {
		return remarks, fmt.Errorf("%s: no row can be scored%s", strings.Join(files, ", "), remarks.first())
	}
	return remarks, columns.check(c, s.by)
}

// modelOf names the model that gave a row's answers.
func (s *leakageScore) modelOf(row recorded.Leakage, file string) string {
	return cmp.Or(row.Model, s.model, suite.BaseName(file))
}

// parallelRows is how many rows are scored at a time, so that an encoder sees
// many texts together and the same text seldom twice.
const parallelRows = 8192

// observe scores the rows of the files side by side and hands their
// observations on in order.
func (s *leakageScore) observe(c *cobra.Command, files []string, in *leakage.Instrument, sources *suite.Sources, use func(crosstalk.Observation) (bool, error)) error {
	type place struct {
		file string
		row  recorded.Leakage
	}
	type scored struct {
		place
		observations []crosstalk.Observation
	}
	rows := func(yield func(place, error) bool) {
		for _, file := range files {
			for row, err := range recorded.ReadLeakage(file) {
				if row.Unusable == "" && !yield(place{file, row}, err) {
					return
				}
			}
		}
	}
	score := func(ctx context.Context, p place) (scored, error) {
		of := *in
		of.Condition = conditionOf(s.modelOf(p.row, p.file), in.Protocol.Name, s.protocols)
		observations, err := of.Score(ctx, p.row.Item, p.row.First, p.row.Test, p.row.Control)
		return scored{p, observations}, err
	}
	for r, err := range parallel.Map(c.Context(), rows, parallelRows, score) {
		if err != nil {
			return err
		}
		sources.Add(r.file, r.row.Item)
		for _, o := range r.observations {
			if more, err := use(o); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// write scores into a run directory.
func (s *leakageScore) write(score func(surroundings, func(crosstalk.Observation) error) ([]crosstalk.Estimate, error), sources *suite.Sources, scorings []run.Scoring) ([]crosstalk.Estimate, error) {
	return intoRun(s.out, run.Recorded("leakage", sources.Names(), s.model), scorings, func(dir *run.Dir, record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, err error) {
		kept, err := dir.OpenSimilarityCache()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, kept.Close()) }()
		return score(surroundings{ask.NewSession(dir.Journal, ask.Options{}).For, kept}, record)
	})
}

// conditionOf names the condition of recorded answers: their model and, where
// they are scored by several protocols, the protocol.
func conditionOf(model, protocol string, protocols []string) map[string]string {
	name := map[string]string{"model": model}
	if len(protocols) > 1 {
		name["protocol"] = protocol
	}
	return name
}

// intoRun makes a run directory of what score observes and estimates.
func intoRun(out string, plan run.Plan, scorings []run.Scoring, score func(dir *run.Dir, record func(crosstalk.Observation) error) ([]crosstalk.Estimate, error)) (estimates []crosstalk.Estimate, err error) {
	dir, err := run.Create(out, plan)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	err = dir.RecordObservations(func(record func(crosstalk.Observation) error) (err error) {
		estimates, err = score(dir, record)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := dir.SetScoring(scorings...); err != nil {
		return nil, err
	}
	return estimates, dir.WriteEstimates(report.NewDocument(estimates))
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
		fmt.Fprintf(w, "and %d more like these\n", n.more)
	}
}
