package study

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/model/reference"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Leakage is a study of semantic leakage. The zero value measures a reference model on the suite leakage-en.
type Leakage struct {
	Sweep
	leakage.Options
	Suite        string   `json:"suite,omitempty"`        // an embedded suite or a file
	Similarities []string `json:"similarities,omitempty"` // similarities.Open; nil: gloss
	By           []string `json:"by,omitempty"`           // nil: leakage.By
	ExecEnv      []string `json:"-"`                      // environment variables with keys that programs (exec:) may see

	Columns  map[string]string  `json:"-"` // of recorded answers, as in recorded.Reading
	FileName *recorded.FileName `json:"-"` // as in recorded.Reading
}

// Open opens suite, models and similarities. It sends no request.
func (l Leakage) Open() (*Study, error) {
	s, err := suite.LoadFor("leakage", cmp.Or(l.Suite, "leakage-en"))
	if err != nil {
		return nil, err
	}
	if s, err = grouped(s.Part(l.Items), unchanged); err != nil {
		return nil, err
	}
	protocols, err := Suited(l.Options, s).Resolve()
	if err != nil {
		return nil, err
	}
	if err := similarities.CheckGloss(l.similarities(), s.Name, s.Languages()); err != nil {
		return nil, err
	}
	study := &Study{Instrument: "leakage", Suite: s, columns: figures.Columns{"similarity": true},
		env: similarities.NewEnv(), settings: kept(&l)}
	study.ask()
	if err := study.group(l.By, leakage.By); err != nil {
		return nil, err
	}
	study.env.Programs(l.keyVars(), l.ExecEnv)
	for _, rules := range protocols {
		in := leakage.Instrument{Protocol: rules, Samples: cmp.Or(l.Samples, rules.Samples)}
		names := similarities.ForProtocol(rules.Name, l.similarities())
		if !l.CountOnly {
			if in.Similarities, err = similarities.OpenAll(names, LanguageOf(s), study.env); err != nil {
				return nil, err
			}
		}
		conditions, err := study.conditions(l.Sweep, rules.Name, defaults{model: reference.DefaultLeaky, system: rules.System,
			decoding: crosstalk.Decoding{MaxTokens: cmp.Or(s.MaxTokens, rules.MaxTokens), Temperature: &rules.Temperature}})
		if err != nil {
			return nil, err
		}
		study.add(in.Rules(), run.Scoring{Protocol: rules.Name, Similarities: names, Samples: in.Samples}, conditions,
			func(c Condition, score bool) crosstalk.Instrument {
				of := in
				of.Prompting, of.Condition, of.AskOnly = c.Prompting, c.Name, !score
				return &of
			})
	}
	return study, nil
}

// Suited returns the options, completed from the suite where the user set none. Answers to open-ended prompts, and to
// questions with a context, are scored whole, since they may leak anywhere.
func Suited(o leakage.Options, s *suite.Suite) leakage.Options {
	o.Windows = cmp.Or(o.Windows, s.Windows)
	if s.Windows != "" || s.InContext() {
		o.Post = cmp.Or(o.Post, string(leakage.None))
	}
	return o
}

func (l Leakage) similarities() []string {
	if l.Similarities == nil {
		return []string{"gloss"}
	}
	return l.Similarities
}

// LanguageOf returns a function for the one language of a suite's items.
func LanguageOf(s *suite.Suite) similarities.Language {
	return func() (string, error) { return similarities.CommonLanguage(s.Languages()) }
}

// Recorded opens a study of recorded answers in files (recorded.Reading.Leakage). model is for rows that name none.
func (l Leakage) Recorded(files []string, model string) (*Study, error) {
	protocols, err := l.Resolve()
	if err != nil {
		return nil, err
	}
	study := &Study{Instrument: "leakage", env: similarities.NewEnv(), columns: figures.Columns{"similarity": true}}
	r := &recordedLeakage{
		recordedAnswers: recordedAnswers{
			Study: study, files: files, planned: run.Recorded("leakage", suite.BaseNames(files), model)},
		reading: recorded.Reading{Columns: l.Columns, FileName: l.FileName, Note: study.Notes.say,
			Pipes: map[string]*recorded.File{}},
		model: model, sources: suite.NewSources(files)}
	if err := study.group(l.By, leakage.By); err != nil {
		return nil, err
	}
	study.env.Programs(nil, l.ExecEnv)
	for _, rules := range protocols {
		names := similarities.ForProtocol(rules.Name, l.similarities())
		list, err := similarities.OpenAll(names, r.language, study.env)
		if err != nil {
			return nil, err
		}
		in := leakage.Instrument{Protocol: rules, Similarities: list}
		r.instruments = append(r.instruments, in)
		study.add(in.Rules(), run.Scoring{Protocol: rules.Name, Similarities: names}, nil, nil)
	}
	study.columns.Add(study.conditionOf("", 0))
	usable := func(yield func(leakageRow, error) bool) {
		for row, err := range r.all {
			if row.Unusable == "" && !yield(row, err) {
				return
			}
		}
	}
	study.source, r.rows = r, rowsOf(usable, r.row)
	// Many rows at a time, so that an encoder gets many texts together, and rarely the same text twice.
	r.batch.rows, r.batch.together = 1, 8192
	return study, nil
}

type recordedLeakage struct {
	recordedAnswers
	instruments []leakage.Instrument // of the protocols
	reading     recorded.Reading
	model       string // for rows that name none
	sources     *suite.Sources
}

type leakageRow struct {
	recorded.Leakage
	file string
}

// all yields the rows of the files one after the other, with their models.
func (r *recordedLeakage) all(yield func(leakageRow, error) bool) {
	for _, file := range r.files {
		for row, err := range r.reading.Leakage(file) {
			row.Model = cmp.Or(row.Model, r.model, suite.BaseName(file))
			if !yield(leakageRow{row, file}, err) || err != nil {
				return
			}
		}
	}
}

func (r *recordedLeakage) language() (string, error) {
	seen := map[string]bool{}
	for row, err := range r.all {
		if err != nil {
			return "", err
		}
		seen[row.Item.Labels["language"]] = true
	}
	return similarities.CommonLanguage(slices.Sorted(maps.Keys(seen)))
}

// check reads the files once before anything is scored or written, and notes the rows that cannot be scored.
func (r *recordedLeakage) check(bool) error {
	type sample struct {
		dataset, model, id string
		number             int
	}
	rows, seen := 0, map[sample]string{}
	for row, err := range r.all {
		if err != nil {
			return err
		}
		if row.Unusable != "" {
			r.Notes.add(row.Where + ": not scored: " + row.Unusable)
			continue
		}
		rows++
		r.see(row.Item.Labels, "")
		if len(r.files) == 1 {
			continue // the reader has already checked it
		}
		for k := range max(len(row.Test), len(row.Control)) {
			one := sample{row.Item.Labels["dataset"], row.Model, row.Item.ID, row.First + k}
			if first, again := seen[one]; again {
				return fmt.Errorf("%s: duplicate sample %d of item %q, model %q (first in %s)",
					row.Where, one.number, one.id, one.model, first)
			}
			seen[one] = row.Where
		}
	}
	if rows == 0 {
		why := ""
		if len(r.Notes.Shown) > 0 {
			why = ": " + r.Notes.Shown[0]
		}
		return fmt.Errorf("%s: no row can be scored%s", strings.Join(r.files, ", "), why)
	}
	return r.seen()
}

func (r *recordedLeakage) row(row leakageRow) recordedRow {
	of := recordedRow{item: row.Item, note: func() { r.sources.Add(row.file, row.Item) },
		score: func(ctx context.Context, protocol int, item crosstalk.Item) ([]crosstalk.Observation, error) {
			in := r.instruments[protocol]
			in.Condition = r.conditionOf(row.Model, protocol)
			return in.Score(ctx, item, row.First, row.Test, row.Control)
		}}
	of.add(row.Test...)
	of.add(row.Control...)
	return of
}

func (r *recordedLeakage) suites() (crosstalk.SuiteIDs, error) { return r.sources.IDs(), nil }
