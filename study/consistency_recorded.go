package study

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"path/filepath"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/transcript"
	"crosstalk/internal/parallel"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Recorded opens a study of recorded answers in files (recorded.Reading.Consistency)
// to the items of a task file or a suite. model is the model of rows without one;
// its default is the file's name.
func (c Consistency) Recorded(files []string, model, task string) (*Study, error) {
	protocols, err := c.Resolve()
	if err != nil {
		return nil, err
	}
	if task == "" {
		return nil, crosstalk.BadOption("task", " is missing; expected a task file with the classes of answers and the correct ones")
	}
	tasks, err := LoadTasks(task)
	if err != nil {
		return nil, err
	}
	texts, err := transcript.ReadTexts(c.Texts, task, tasks.Tasks, tasks.Items.List())
	if err != nil {
		return nil, err
	}
	id := tasks.ID()
	study := &Study{Instrument: "consistency", env: similarities.NewEnv(), plan: run.Recorded("consistency", id, model),
		columns: Columns{"task": true, "pair": true, "part": true, consistency.ByClass: true},
		suites:  func() crosstalk.SuiteIDs { return crosstalk.SuiteIDs{All: id} }}
	if err := study.group(c.By, consistency.By); err != nil {
		return nil, err
	}
	scoring, err := c.instrument(tasks.Tasks, study.env)
	if err != nil {
		return nil, err
	}
	scoring.Rewrites = "recorded"
	t := &transcript.Transcript{Tasks: tasks.Tasks, Of: task, Files: files, Reading: recorded.Reading{Columns: c.Columns, FileName: c.FileName, Note: study.Notes.say}, Texts: texts, By: study.By, Languages: scoring.Languages,
		ModelOf: func(file, of string) string { return cmp.Or(of, model, suite.BaseName(file)) }}
	var groups groups // after check
	study.check = func() error {
		if err := t.Check(); err != nil {
			return err
		}
		maps.Copy(study.columns, t.Columns)
		own := map[string]string{}
		for column := range t.Columns {
			own[column] = ""
		}
		groups.see(own, "") // columns of the answers keep their values
		for _, item := range tasks.Items.All() {
			study.columns.Add(item.Labels)
			groups.see(item.Labels, "")
		}
		groups.done()
		maps.Copy(study.columns, groups.columns())
		return study.checkBy(study.columns)
	}
	study.columns.Add(conditionOf("", "", len(protocols)))
	for _, rules := range protocols {
		in := scoring
		in.Protocol = rules
		study.Protocols = append(study.Protocols, Protocol{
			Rules:   in.Rules(),
			Scoring: run.Scoring{Protocol: rules.Name, Rules: crosstalk.Canonical(in.Rules()), By: study.By},
			recorded: func(ctx context.Context) iter.Seq2[scored, error] {
				return parallel.Map(ctx, numbered(t.Joined()), answeredAtOnce(in), func(ctx context.Context, row numberedRow[transcript.Answered]) (scored, error) {
					a := row.row
					if !study.has(a.Item) {
						return scored{}, nil
					}
					of := in
					of.Condition = conditionOf(a.Model, rules.Name, len(protocols))
					for _, answers := range a.Answers {
						study.countThoughts(rules.Name, answers...)
					}
					a.Item.Labels = groups.label(a.Item.Labels, "")
					observations, err := of.Score(ctx, nil, a.Item, a.Answers, a.Rewritten)
					return scored{row.number, observations}, err
				})
			}})
	}
	return study, nil
}

// answeredAtOnce is the number of items with recorded answers scored at a time. Only
// a scorer of rewritten texts gains from many, since it gets their texts together;
// each item waits with hundreds of observations.
func answeredAtOnce(in consistency.Instrument) int {
	if in.Quality != nil {
		return 1024
	}
	return parallel.Enough()
}

// LoadTasks reads a task file, whose items need no texts, or a suite.
func LoadTasks(nameOrFile string) (*suite.Suite, error) {
	load := suite.LoadTasks
	if ext := filepath.Ext(nameOrFile); ext != ".yaml" && ext != ".yml" {
		load = func(name string) (*suite.Suite, error) { return suite.LoadFor("consistency", name) }
	}
	tasks, err := load(nameOrFile)
	if err == nil && tasks.Items.Len() == 0 {
		return nil, fmt.Errorf("%s has no items, so its answers cannot be scored", nameOrFile)
	}
	return tasks, err
}
