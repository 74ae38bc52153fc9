package main

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/internal/parallel"
	"crosstalk/measure/segment/japanese"
	"crosstalk/recorded"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

type confusionScore struct {
	output
	confusionScoring
	model string
	out   string
}

func scoreConfusionCommand() *cobra.Command {
	s := &confusionScore{}
	c := &cobra.Command{
		Use:   "confusion FILE...",
		Short: "Score recorded answers for language confusion",
		Long: `Score recorded answers for language confusion: how often an answer is not in
the language that was asked for.

A file is CSV, TSV or JSON Lines, gzip-compressed or not, one row an answer,
with the columns completion and language, and any of model, task, source, id,
prompt and sample. Other columns are kept and can be grouped by. Files may be
larger than the memory. Nothing is printed or written if a row is malformed.`,
		Example: `  crosstalk score confusion answers.csv.gz
  crosstalk score confusion answers.jsonl --by language --format csv
  crosstalk score confusion answers.csv --protocol lcb-script --lid lid.176.bin --words words`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error { return s.run(c, files) },
	}
	s.confusionScoring.flags(c)
	c.Flags().StringVarP(&s.model, "model", "m", "", "the model's name, for rows without one (default: the file's name)")
	c.Flags().StringVar(&s.out, "out", "", "a run directory to write observations and figures to")
	s.output.flags(c)
	c.Flags().SortFlags = false
	return c
}

func (s *confusionScore) run(c *cobra.Command, files []string) error {
	if err := report.CheckFormat(s.format); err != nil {
		return err
	}
	instruments, lid, err := s.instruments(c)
	if err != nil {
		return err
	}
	a := &answersRead{files: files, model: s.model, languages: lid.Labels(), suites: map[string]*suite.Fingerprint{}, columns: columns{}}
	a.columns.add(conditionOf("", "", s.protocols))
	score := func(record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, err error) {
		for _, in := range instruments {
			in.SuiteOf = a.suiteOf
			estimates = append(estimates, in.Estimate(func(yield func(crosstalk.Observation) bool) {
				for o, failed := range a.observations(&in, s.protocols) {
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
		return estimates, a.columns.check(c, s.by)
	}
	var estimates []crosstalk.Estimate
	if s.out == "" {
		estimates, err = score(func(crosstalk.Observation) error { return nil })
	} else {
		var scorings []run.Scoring
		for _, in := range instruments {
			scorings = append(scorings, run.Scoring{Protocol: in.Protocol.Name, Rules: in.Rules(), By: s.by})
		}
		estimates, err = s.write(c, a, score, scorings)
	}
	if err != nil {
		return err
	}
	if err := report.Write(c.OutOrStdout(), s.format, estimates); err != nil {
		return err
	}
	if !s.quiet {
		s.sayIdentifier(c.ErrOrStderr(), lid)
	}
	return nil
}

// write scores into a run directory.
func (s *confusionScore) write(c *cobra.Command, a *answersRead, score func(func(crosstalk.Observation) error) ([]crosstalk.Estimate, error), scorings []run.Scoring) ([]crosstalk.Estimate, error) {
	for row, err := range a.rows() { // before anything is written
		if err != nil {
			return nil, err
		}
		a.columns.add(row.Item.Labels)
	}
	if err := a.columns.check(c, s.by); err != nil {
		return nil, err
	}
	return intoRun(s.out, run.Recorded("confusion", a.names(), s.model), scorings, func(_ *run.Dir, record func(crosstalk.Observation) error) ([]crosstalk.Estimate, error) {
		return score(record)
	})
}

// answersRead are the answers of some files, with what was met on the way.
type answersRead struct {
	files     []string
	model     string   // of rows that do not say
	languages []string // that can be identified
	suites    map[string]*suite.Fingerprint
	columns   columns
}

// rows yields the rows of the files one after the other, with their models.
func (a *answersRead) rows() iter.Seq2[recorded.Confusion, error] {
	return func(yield func(recorded.Confusion, error) bool) {
		known, japaneseRead := map[string]bool{}, false
		for _, file := range a.files {
			for row, err := range recorded.ReadConfusion(file) {
				if err == nil {
					row.Model = cmp.Or(row.Model, a.model, suite.BaseName(file))
					if code := row.Item.Prompt.Language; !known[code] {
						known[code] = slices.Contains(a.languages, code)
						if !known[code] {
							err = fmt.Errorf("%s: the language %s cannot be identified; the model knows %d others: name one that knows it with --lid", row.Where, code, len(a.languages))
						}
					}
				}
				if err == nil && row.Item.Prompt.Language == "ja" && !japaneseRead {
					japaneseRead = true
					go japanese.Load() // takes a fifth of a second, so not when the first row is scored
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// Rows are scored in batches, since a row takes less time than handing it over.
const (
	batchRows    = 64
	batchBytes   = 1 << 16
	batchesAhead = 64
)

// batches yields the rows in slices of about batchBytes.
func batches(rows iter.Seq2[recorded.Confusion, error]) iter.Seq2[[]recorded.Confusion, error] {
	return func(yield func([]recorded.Confusion, error) bool) {
		var batch []recorded.Confusion
		bytes := 0
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			batch = append(batch, row)
			bytes += len(row.Answer.Text)
			if len(batch) == batchRows || bytes >= batchBytes {
				if !yield(batch, nil) {
					return
				}
				batch, bytes = nil, 0
			}
		}
		if batch != nil {
			yield(batch, nil)
		}
	}
}

// scoredRow is a row and what was observed.
type scoredRow struct {
	recorded.Confusion
	observations []crosstalk.Observation
}

// observations scores the rows by one of the protocols and yields their
// observations in order.
func (a *answersRead) observations(in *confusion.Instrument, protocols []string) iter.Seq2[crosstalk.Observation, error] {
	scored := parallel.Map(context.Background(), batches(a.rows()), batchesAhead, func(_ context.Context, batch []recorded.Confusion) ([]scoredRow, error) {
		rows := make([]scoredRow, len(batch))
		for i, row := range batch {
			of := *in
			of.Condition = conditionOf(row.Model, in.Protocol.Name, protocols)
			rows[i] = scoredRow{row, of.Score(row.Item, row.Sample, row.Answer)}
		}
		return rows, nil
	})
	return func(yield func(crosstalk.Observation, error) bool) {
		for batch, err := range scored {
			if err != nil {
				yield(crosstalk.Observation{}, err)
				return
			}
			for _, row := range batch {
				if in.Protocol.Name == protocols[0] { // each row once
					a.note(row.Confusion)
				}
				for _, o := range row.observations {
					if !yield(o, nil) {
						return
					}
				}
			}
		}
	}
}

// note remembers what the answers are to, and their columns.
func (a *answersRead) note(row recorded.Confusion) {
	a.columns.add(row.Item.Labels)
	if row.Sample > 0 {
		return
	}
	if a.suites[row.Model] == nil {
		a.suites[row.Model] = &suite.Fingerprint{}
	}
	a.suites[row.Model].Add(row.Item)
}

// names are the files' names.
func (a *answersRead) names() string {
	names := make([]string, len(a.files))
	for i, file := range a.files {
		names[i] = suite.BaseName(file)
	}
	return strings.Join(names, "+")
}

// suiteOf names what a model answered, as Suite.ID does.
func (a *answersRead) suiteOf(group map[string]string) string {
	f := a.suites[group["model"]]
	if f == nil {
		return "-"
	}
	return a.names() + "@" + f.String()
}
