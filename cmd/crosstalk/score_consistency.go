package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/transcript"
	"crosstalk/internal/parallel"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

type consistencyScore struct {
	output
	consistencyScoring
	task  string
	texts []string
	model string
	out   string
}

func scoreConsistencyCommand() *cobra.Command {
	s := &consistencyScore{}
	c := &cobra.Command{
		Use:   "consistency FILE...",
		Short: "Score recorded answers for multisense consistency",
		Long: `Score recorded answers for multisense consistency: whether a model gives an
answer of the same meaning when the question is put in another language, or in
other words.

A file is CSV, TSV or JSON Lines, gzip-compressed or not, one row an answer,
with the columns item, input, instruction and answer, and any of task, model
and run. input and instruction are a language (en), or en>de for what the model
itself made of the English. The task file (crosstalk suites) says what answers
mean and which are right. Other columns are kept and can be grouped by. Nothing
is printed or written if a row is malformed or belongs to no item.`,
		Example: `  crosstalk score consistency answers.csv --task task.yaml
  crosstalk score consistency answers.csv.gz --task task.yaml --texts translations.jsonl --by class
  crosstalk score consistency answers.jsonl --task task.yaml --protocol ohmer-2023 --format csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error { return s.run(c, files) },
	}
	c.Flags().StringVar(&s.task, "task", "", "the task file: classes, answer words and what is right; an embedded suite or a file")
	c.Flags().StringSliceVar(&s.texts, "texts", nil, "files of the rewritten texts, for BLEU and ROUGE")
	s.consistencyScoring.flags(c)
	c.Flags().StringVarP(&s.model, "model", "m", "", "the model's name, for rows without one (default: the file's name)")
	c.Flags().StringVar(&s.out, "out", "", "a run directory to write observations and figures to")
	s.output.flags(c)
	c.Flags().SortFlags = false
	return c
}

func (s *consistencyScore) run(c *cobra.Command, files []string) error {
	if err := report.CheckFormat(s.format); err != nil {
		return err
	}
	rules, err := s.rules()
	if err != nil {
		return err
	}
	if s.task == "" {
		return fmt.Errorf("--task names no task file: it says what answers mean and which are right")
	}
	tasks, err := loadTasks(s.task)
	if err != nil {
		return err
	}
	texts, err := transcript.ReadTexts(s.texts, s.task, tasks.Tasks, tasks.Items)
	if err != nil {
		return err
	}
	scorers, err := s.open(tasks.Tasks)
	if err != nil {
		return err
	}
	t := &transcript.Transcript{Tasks: tasks.Tasks, Of: s.task, Files: files, Texts: texts, By: s.by, Languages: scorers.Languages,
		ModelOf: func(file, model string) string { return cmp.Or(model, s.model, suite.BaseName(file)) }}
	if err := t.Check(); err != nil {
		return err
	}
	if err := s.checkColumns(c, tasks, t); err != nil {
		return err
	}
	id := tasks.ID()
	instrument := func(p consistency.Protocol) *consistency.Instrument {
		in := scorers.Instrument
		in.Protocol, in.Rewrites = p, "recorded"
		in.SuiteOf = func(map[string]string) string { return id }
		return &in
	}
	score := func(r surroundings, record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, err error) {
		scorers.in(r)
		for _, p := range rules {
			in := instrument(p)
			estimates = append(estimates, in.Estimate(func(yield func(crosstalk.Observation) bool) {
				for o, failed := range s.observations(c.Context(), in, t) {
					if err = failed; err == nil {
						err = record(o)
					}
					if err != nil || !yield(o) {
						return
					}
				}
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
		scorers.in(alone()) // for their names
		var scorings []run.Scoring
		for _, p := range rules {
			scorings = append(scorings, run.Scoring{Protocol: p.Name, Rules: instrument(p).Rules(), By: s.by})
		}
		estimates, err = intoRun(s.out, run.Recorded("consistency", id, s.model), scorings, func(dir *run.Dir, record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, err error) {
			kept, err := dir.OpenSimilarityCache()
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, kept.Close()) }()
			return score(surroundings{ask.NewSession(dir.Journal, ask.Options{}).For, kept}, record)
		})
	}
	if err != nil {
		return err
	}
	return report.Write(c.OutOrStdout(), s.format, estimates)
}

// loadTasks reads a task file, whose items need no texts, or a suite.
func loadTasks(nameOrFile string) (*suite.Suite, error) {
	load := suite.LoadTasks
	if ext := filepath.Ext(nameOrFile); ext != ".yaml" && ext != ".yml" {
		load = func(name string) (*suite.Suite, error) { return suite.LoadFor("consistency", name) }
	}
	tasks, err := load(nameOrFile)
	if err == nil && len(tasks.Items) == 0 {
		return nil, fmt.Errorf("%s has no items to score answers of", nameOrFile)
	}
	return tasks, err
}

// checkColumns refuses columns that figures cannot be grouped by.
func (s *consistencyScore) checkColumns(c *cobra.Command, tasks *suite.Suite, t *transcript.Transcript) error {
	known := columns{"task": true, "pair": true, "part": true, consistency.ByClass: true}
	known.add(conditionOf("", "", s.protocols))
	maps.Copy(known, t.Columns)
	for _, item := range tasks.Items {
		known.add(item.Labels)
	}
	return known.check(c, s.by)
}

// itemsAhead is how many items are scored at a time.
const itemsAhead = 1024

// observations scores the items side by side and yields their observations in
// order.
func (s *consistencyScore) observations(ctx context.Context, in *consistency.Instrument, t *transcript.Transcript) iter.Seq2[crosstalk.Observation, error] {
	scored := parallel.Map(ctx, t.Joined(), itemsAhead, func(ctx context.Context, a transcript.Answered) ([]crosstalk.Observation, error) {
		of := *in
		of.Condition = conditionOf(a.Model, in.Protocol.Name, s.protocols)
		return of.Score(ctx, nil, a.Item, a.Answers, a.Rewritten)
	})
	return func(yield func(crosstalk.Observation, error) bool) {
		for observations, err := range scored {
			if err != nil {
				yield(crosstalk.Observation{}, err)
				return
			}
			for _, o := range observations {
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}
