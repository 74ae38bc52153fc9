package study

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/parallel"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Recorded opens a study of recorded answers in files (recorded.Reading.Leakage).
// model is the model of rows without one; its default is the file's name.
func (l Leakage) Recorded(files []string, model string) (*Study, error) {
	protocols, err := l.Resolve()
	if err != nil {
		return nil, err
	}
	r := &recordedLeakage{files: files, reading: recorded.Reading{Columns: l.Columns, FileName: l.FileName}, model: model, sources: suite.NewSources(files)}
	r.Study = &Study{Instrument: "leakage", env: similarities.NewEnv(), columns: Columns{"similarity": true}, suites: r.sources.IDs,
		plan: run.Recorded("leakage", r.sources.Names(), model)}
	r.reading.Note = r.Notes.say
	if err := r.group(l.By, leakage.By); err != nil {
		return nil, err
	}
	r.env.Programs(nil, l.ExecEnv)
	r.columns.Add(conditionOf("", "", len(protocols)))
	r.Study.check = r.check
	for _, rules := range protocols {
		names := similarities.ForProtocol(rules.Name, l.similarities())
		list, err := similarities.OpenAll(names, func() (string, error) { return similarities.CommonLanguage(r.items) }, r.env)
		if err != nil {
			return nil, err
		}
		in := leakage.Instrument{Protocol: rules, Similarities: list}
		r.Protocols = append(r.Protocols, Protocol{
			Rules:   in.Rules(),
			Scoring: run.Scoring{Protocol: rules.Name, Rules: crosstalk.Canonical(in.Rules()), Similarities: names, By: r.By},
			recorded: func(ctx context.Context) iter.Seq2[scored, error] {
				return r.observations(ctx, in, len(protocols))
			}})
	}
	return r.Study, nil
}

// recordedLeakage are the answers in some files.
type recordedLeakage struct {
	*Study
	files   []string
	reading recorded.Reading
	model   string // of rows without one
	sources *suite.Sources
	groups  groups // after check
}

// leakageRow is a row of one of the files.
type leakageRow struct {
	recorded.Leakage
	file string
}

// rows yields the rows of the files one after the other, with their models.
func (r *recordedLeakage) rows(yield func(leakageRow, error) bool) {
	for _, file := range r.files {
		for row, err := range r.reading.Leakage(file) {
			row.Model = cmp.Or(row.Model, r.model, suite.BaseName(file))
			if !yield(leakageRow{row, file}, err) || err != nil {
				return
			}
		}
	}
}

// items yields the rows' items.
func (r *recordedLeakage) items(yield func(crosstalk.Item, error) bool) {
	for row, err := range r.rows {
		if !yield(row.Item, err) {
			return
		}
	}
}

// check reads the files once before anything is scored or written, and notes
// the rows that cannot be scored.
func (r *recordedLeakage) check() error {
	type sample struct {
		dataset, model, id string
		number             int
	}
	rows, seen := 0, map[sample]string{}
	for row, err := range r.rows {
		if err != nil {
			return err
		}
		if row.Unusable != "" {
			r.Notes.add(row.Where + ": not scored: " + row.Unusable)
			continue
		}
		rows++
		r.columns.Add(row.Item.Labels)
		r.groups.see(row.Item.Labels, "")
		if len(r.files) == 1 {
			continue // the reader has checked it
		}
		for k := range max(len(row.Test), len(row.Control)) {
			one := sample{row.Item.Labels["dataset"], row.Model, row.Item.ID, row.First + k}
			if first, again := seen[one]; again {
				return fmt.Errorf("%s: duplicate sample %d of item %q, model %q (first in %s)", row.Where, one.number, one.id, one.model, first)
			}
			seen[one] = row.Where
		}
	}
	if rows == 0 {
		return fmt.Errorf("%s: no row can be scored%s", strings.Join(r.files, ", "), r.Notes.first())
	}
	r.groups.done()
	maps.Copy(r.columns, r.groups.columns())
	return r.checkBy(r.columns)
}

// rowsAtOnce is the number of rows scored at a time, so that an encoder gets many
// texts together and rarely the same text twice.
const rowsAtOnce = 8192

// observations scores the rows of the shard concurrently and yields their
// observations in order.
func (r *recordedLeakage) observations(ctx context.Context, in leakage.Instrument, protocols int) iter.Seq2[scored, error] {
	usable := func(yield func(leakageRow, error) bool) {
		for row, err := range r.rows {
			if row.Unusable == "" && !yield(row, err) {
				return
			}
		}
	}
	type result struct {
		row leakageRow
		scored
	}
	score := func(ctx context.Context, of numberedRow[leakageRow]) (result, error) {
		row := of.row
		if !r.has(row.Item) {
			return result{row: row}, nil
		}
		by := in
		by.Condition = conditionOf(row.Model, in.Protocol.Name, protocols)
		row.Item.Labels = r.groups.label(row.Item.Labels, "")
		observations, err := by.Score(ctx, row.Item, row.First, row.Test, row.Control)
		r.countThoughts(in.Protocol.Name, slices.Concat(row.Test, row.Control)...)
		return result{row, scored{of.number, observations}}, err
	}
	return func(yield func(scored, error) bool) {
		for s, err := range parallel.Map(ctx, numbered(usable), rowsAtOnce, score) {
			if err == nil {
				r.sources.Add(s.row.file, s.row.Item)
			}
			if !yield(s.scored, err) {
				return
			}
		}
	}
}
