package study

import (
	"cmp"
	"context"
	"fmt"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/transcript"
	"crosstalk/internal/parallel"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Recorded opens a study of recorded answers in files (recorded.Reading.Consistency) to the items of a task file or
// a suite. model is the model of rows without one; its default is the file's name.
func (c Consistency) Recorded(files []string, model, task string) (*Study, error) {
	protocols, err := c.Resolve()
	if err != nil {
		return nil, err
	}
	if task == "" {
		return nil, crosstalk.BadOption("task",
			" is missing; expected a task file with the classes of answers and the correct ones")
	}
	tasks, err := suite.LoadTasks(task)
	if err != nil {
		return nil, err
	}
	if tasks.Items.Len() == 0 {
		return nil, fmt.Errorf("%s has no items, so its answers cannot be scored", task)
	}
	texts, err := transcript.ReadTexts(c.Texts, task, tasks.Tasks, tasks.Items.List())
	if err != nil {
		return nil, err
	}
	study := &Study{Instrument: "consistency", env: similarities.NewEnv(),
		columns: Columns{"task": true, "pair": true, "part": true, consistency.ByClass: true}}
	if err := study.group(c.By, consistency.By); err != nil {
		return nil, err
	}
	scoring, err := c.instrument(tasks.Tasks, study.env)
	if err != nil {
		return nil, err
	}
	scoring.Rewrites = "recorded"
	r := &recordedConsistency{
		recordedAnswers: recordedAnswers{
			Study: study, files: files, planned: run.Recorded("consistency", tasks.ID(), model)},
		tasks: tasks}
	r.transcript = transcript.Transcript{Tasks: tasks.Tasks, Of: task, Files: files, Texts: texts, By: study.By,
		Reading:   recorded.Reading{Columns: c.Columns, FileName: c.FileName, Note: study.Notes.say},
		Languages: scoring.Languages,
		ModelOf:   func(file, of string) string { return cmp.Or(of, model, suite.BaseName(file)) }}
	for _, rules := range protocols {
		in := scoring
		in.Protocol = rules
		r.instruments = append(r.instruments, in)
		study.add(in.Rules(), run.Scoring{Protocol: rules.Name}, nil, nil)
	}
	study.columns.Add(study.conditionOf("", 0))
	study.source, r.rows = r, rowsOf(r.transcript.Joined(), r.row)
	// A few items at a time, since each waits with hundreds of observations. Only a scorer of rewritten texts gains from
	// many: it gets their texts together.
	r.batch.rows, r.batch.together = 1, parallel.Enough()
	if scoring.Quality != nil {
		r.batch.together = 1024
	}
	return study, nil
}

type recordedConsistency struct {
	recordedAnswers
	instruments []consistency.Instrument // of the protocols
	tasks       *suite.Suite
	transcript  transcript.Transcript
}

func (r *recordedConsistency) check(bool) error {
	if err := r.transcript.Check(); err != nil {
		return err
	}
	own := map[string]string{}
	for column := range r.transcript.Columns {
		own[column] = ""
	}
	r.see(own, "") // columns of the answers keep their values
	for _, item := range r.tasks.Items.All() {
		r.see(item.Labels, "")
	}
	return r.seen()
}

func (r *recordedConsistency) row(row transcript.Answered) recordedRow {
	of := recordedRow{item: row.Item,
		score: func(ctx context.Context, protocol int, item crosstalk.Item) ([]crosstalk.Observation, error) {
			in := r.instruments[protocol]
			in.Condition = r.conditionOf(row.Model, protocol)
			return in.Score(ctx, nil, item, row.Answers, row.Rewritten)
		}}
	for _, answers := range row.Answers {
		of.add(answers...)
	}
	return of
}

func (r *recordedConsistency) suites() (crosstalk.SuiteIDs, error) {
	return crosstalk.SuiteIDs{All: r.planned.Suite}, nil
}
