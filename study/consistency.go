package study

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/free"
	"crosstalk/instrument/consistency/review"
	"crosstalk/instrument/consistency/transcript"
	"crosstalk/internal/parallel"
	"crosstalk/labels"
	"crosstalk/model/reference"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Consistency is a study of multisense consistency. The zero value measures a reference model on consistency.
type Consistency struct {
	Sweep
	consistency.Options
	Suite string   `json:"suite,omitempty"` // an embedded suite or a file
	By    []string `json:"by,omitempty"`    // columns, consistency.ByClass among them

	From []string `json:"from,omitempty"` // languages in which to ask the original items; nil: the suite's
	// To are senses to rewrite them into: languages, consistency.Paraphrase, names in Rewrite; nil: de, zh.
	To    []string `json:"to,omitempty"`
	Mixed []string `json:"mixed,omitempty"` // languages whose own instructions are also combined with other inputs
	Parts []string `json:"parts,omitempty"` // the parts to rewrite, one by one; nil: T, I and X

	// Rewrite are prompts NAME=PROMPT: for languages, pairs (en>de) or further senses; NAME:I is for instructions.
	Rewrite        []string `json:"rewrite,omitempty"`
	Texts          []string `json:"texts,omitempty"`           // files of inputs rewritten elsewhere
	Instructions   string   `json:"instructions,omitempty"`    // a file with reviewed instructions
	AcceptRewrites bool     `json:"accept_rewrites,omitempty"` // use the model's rewritten instructions without a review

	Columns  map[string]string  `json:"-"` // of recorded answers, as in recorded.Reading
	FileName *recorded.FileName `json:"-"` // as in recorded.Reading

	Free       string   `json:"free,omitempty"`       // how to compare free answers (free); "": text
	ExecEnv    []string `json:"-"`                    // variables with keys that programs (exec:) may see
	Quality    string   `json:"quality,omitempty"`    // of rewritten texts (similarities.Env.Open); "": none
	Identifier string   `json:"identifier,omitempty"` // as for OpenIdentifier, for flags
	Overrides  string   `json:"overrides,omitempty"`  // a run with people's labels of its answers; "": none
}

// Open opens suite, models and scorers. It sends no request.
func (c Consistency) Open() (*Study, error) {
	protocols, err := c.Resolve()
	if err != nil {
		return nil, err
	}
	s, err := suite.LoadFor("consistency", cmp.Or(c.Suite, "consistency"))
	if err != nil {
		return nil, err
	}
	if s, err = grouped(s.Part(c.Items), unchanged); err != nil {
		return nil, err
	}
	rewriter, err := c.rewriter(s)
	if err != nil {
		return nil, err
	}
	senses, err := c.senses(s, rewriter)
	if err != nil {
		return nil, err
	}
	study := &Study{Instrument: "consistency", Suite: s, env: similarities.NewEnv(),
		columns: figures.Columns{"pair": true, "part": true, consistency.ByClass: true}, settings: kept(&c)}
	study.ask()
	if err := study.group(c.By, consistency.By); err != nil {
		return nil, err
	}
	scoring, err := c.instrument(s.Tasks, study.env)
	if err != nil {
		return nil, err
	}
	scoring.Senses, scoring.Rewriting = senses, rewriter
	reviews := &reviews{Study: study, accept: c.AcceptRewrites, asked: map[string]bool{}}
	if c.Instructions != "" {
		if reviews.imported, err = review.ReadInstructions(c.Instructions); err != nil {
			return nil, err
		}
		if len(reviews.imported) == 0 {
			return nil, fmt.Errorf("%s: has no instructions", c.Instructions)
		}
	}
	study.reviews = reviews
	for _, rules := range protocols {
		conditions, err := study.conditions(c.Sweep, rules.Name, defaults{
			model: reference.DefaultInconsistent, system: rules.System,
			decoding: crosstalk.Decoding{MaxTokens: rules.MaxTokens, Temperature: &rules.Temperature, TopP: &rules.TopP}})
		if err != nil {
			return nil, err
		}
		samples := cmp.Or(c.Samples, rules.Samples)
		set := func(condition Condition) *consistency.Instrument {
			in := scoring
			in.Protocol, in.Prompting, in.Condition, in.Samples = rules, condition.Prompting, condition.Name, samples
			in.Rewriting.Prompting = rewritePrompts(condition, rules)
			if _, asks := in.Free.(free.Asked); asks {
				in.Free = free.Asked{Prompting: condition.Prompting}
			}
			in.Tasks = reviews.tasks(condition)
			in.Rewrites = "own+"
			if len(c.Texts) > 0 {
				in.Rewrites = "elsewhere+"
			}
			if reviews.accepts(condition) {
				in.Rewrites += "accepted"
			} else {
				in.Rewrites += "reviewed"
			}
			if id := rewriter.ID(); id != "" {
				in.Rewrites += "+prompts-" + id
			}
			return &in
		}
		study.add(set(conditions[0]).Rules(), run.Scoring{Protocol: rules.Name, Samples: samples}, conditions,
			func(condition Condition, score bool) crosstalk.Instrument {
				in := set(condition)
				if !score {
					_, asks := in.Free.(free.Asked)
					in.AskOnly, in.Quality = !asks, nil
				}
				return in
			})
		reviews.set = append(reviews.set, set)
	}
	return study, nil
}

// instrument returns the instrument that scores answers, without a protocol yet.
func (c Consistency) instrument(tasks []crosstalk.Task, env *similarities.Env) (in consistency.Instrument, err error) {
	in.Tasks = tasks
	env.Programs(c.keyVars(), c.ExecEnv)
	identifier, err := OpenIdentifier(c.Identifier)
	if err != nil {
		return in, err
	}
	in.Languages = identifier
	if c.Overrides != "" {
		if in.Overrides, err = labels.Overrides(c.Overrides); err != nil {
			return in, err
		}
	}
	several := func() (string, error) {
		return "", fmt.Errorf("the texts are in several languages: name a model, as in " +
			"bertscore:bert-base-multilingual-cased")
	}
	if c.Quality != "" {
		if in.Quality, err = env.Open(c.Quality, several); err != nil {
			return in, crosstalk.BadOption("quality", ": %w", err)
		}
	}
	switch c.Free {
	case "", "text":
		in.Free = free.Text{}
	case "number":
		in.Free = free.Number{}
	case "model":
		in.Free = free.Asked{}
	default:
		name, least, ok := strings.Cut(c.Free, ">=")
		threshold, err := strconv.ParseFloat(strings.TrimSpace(least), 64)
		if !ok || err != nil {
			return in, crosstalk.BadOption("free",
				" is %q; expected text, number, model, or a similarity with its threshold, as in gloss>=0.7", c.Free)
		}
		similarity, err := env.Open(strings.TrimSpace(name), several)
		if err != nil {
			return in, crosstalk.BadOption("free", ": %w", err)
		}
		in.Free = free.Similar{Similarity: similarity, Threshold: threshold}
	}
	return in, nil
}

func (c Consistency) senses(s *suite.Suite, rewriter consistency.Rewriter) (consistency.Senses, error) {
	senses := consistency.Senses{From: c.From, To: c.To, Mixed: c.Mixed}
	if senses.To == nil {
		senses.To = []string{"de", "zh"}
	}
	if len(senses.From) == 0 {
		if s.Language == "" {
			return senses, crosstalk.BadOption("from", " is empty, and the suite %s has several languages: "+
				"name the languages in which to ask its items", s.Name)
		}
		senses.From = []string{s.Language}
	}
	for _, part := range c.Parts {
		if p := consistency.Part(part); p != consistency.Both && p != consistency.Instructions && p != consistency.Inputs {
			return senses, crosstalk.BadOption("part", " is %q; expected %s, %s or %s",
				part, consistency.Both, consistency.Instructions, consistency.Inputs)
		}
		senses.Parts = append(senses.Parts, consistency.Part(part))
	}
	for _, from := range senses.From {
		for _, to := range senses.To {
			if err := rewriter.Check(consistency.Sense(from).To(to)); err != nil {
				return senses, crosstalk.BadOption("to", ": %w", err)
			}
		}
		for _, item := range s.Items.All() {
			if _, ok := item.Input.Texts[from]; !ok {
				return senses, crosstalk.BadOption("from", ": item %s has no text in %s; it has %s",
					item.ID, from, list(item.Input.Texts))
			}
		}
	}
	if err := checkPrompts(senses, rewriter); err != nil {
		return senses, err
	}
	for _, language := range slices.Concat(senses.From, senses.Mixed) {
		for _, task := range s.Tasks {
			if _, ok := task.Instructions[language]; !ok {
				return senses, fmt.Errorf("the task %s has no instruction in %s; it has %s",
					task.Name, language, list(task.Instructions))
			}
		}
	}
	return senses, nil
}

func checkPrompts(senses consistency.Senses, rewriter consistency.Rewriter) error {
	used := map[string]bool{}
	for _, from := range senses.From {
		for _, to := range senses.To {
			sense := consistency.Sense(from).To(to)
			used[to], used[string(sense)] = true, true
			for _, part := range senses.Parts {
				if part != consistency.Inputs && from != to && rewriter.InputsOnly(sense) {
					return crosstalk.BadOption("part", ": %s needs instructions in the sense %s, but its prompt is for inputs only: "+
						"add --rewrite '%s:I=PROMPT' for instructions, or measure the part X", part, to, to)
				}
			}
		}
	}
	unused := func(prompts map[string]string, of string) error {
		for _, key := range slices.Sorted(maps.Keys(prompts)) {
			if !used[key] {
				return crosstalk.BadOption("rewrite", " has a prompt for %s%s, but --to and --from do not ask for that sense",
					of, key)
			}
		}
		return nil
	}
	return cmp.Or(unused(rewriter.Prompts, ""), unused(rewriter.Instructions, "instructions in "))
}

func list[V any](m map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }

func (c Consistency) rewriter(s *suite.Suite) (consistency.Rewriter, error) {
	w := consistency.Rewriter{Prompts: map[string]string{}, Instructions: map[string]string{}}
	for _, text := range c.Rewrite {
		if _, err := consistency.ProtocolNamed(text); err == nil {
			return w, crosstalk.BadOption("rewrite", " is %q, but the authors' prompts are not part of the program: "+
				"take them from their paper or code and pass each, as in 'en>de=PROMPT' and 'en>de:I=PROMPT'", text)
		}
		key, prompt, _ := strings.Cut(text, "=")
		key, of, parted := strings.Cut(strings.TrimSpace(key), ":")
		from, to, pair := strings.Cut(key, ">")
		if key == "" || strings.TrimSpace(prompt) == "" || strings.Contains(key, "/") ||
			strings.Contains(to, ">") || pair && (from == "" || to == "") || parted && of != string(consistency.Instructions) {
			return w, crosstalk.BadOption("rewrite",
				" is %q; expected NAME=PROMPT, as in 'equal=Write another formula of the same value.', "+
					"where NAME can also be a pair, as in en>de, and end in :I for the prompt of instructions", text)
		}
		prompts := w.Prompts
		if parted {
			prompts = w.Instructions
		}
		if _, again := prompts[key]; again {
			return w, crosstalk.BadOption("rewrite", ": duplicate prompt for %s", key)
		}
		prompts[key] = prompt
	}
	if len(c.Texts) > 0 {
		texts, err := transcript.ReadTexts(c.Texts, s.Name, s.Tasks, s.Items.List())
		if err != nil {
			return w, err
		}
		w.Elsewhere = func(item crosstalk.Item, sense consistency.Sense) ([]string, bool) { return texts.Of("", item, sense) }
	}
	return w, nil
}

// rewritePrompts returns the settings for rewriting: those of questions, without what varies in a sweep, so that its
// conditions share them.
func rewritePrompts(c Condition, rules consistency.Protocol) crosstalk.PromptConfig {
	p := c.Prompting
	if c.planned != nil { // the asker adapts it to the model
		p = *c.planned
	}
	p.Prefix, p.Logprobs = "", 0
	p.Decoding.MaxTokens = rules.RewriteTokens
	if _, varies := c.Name["temperature"]; varies {
		p.Decoding.Temperature = &rules.Temperature
	}
	if _, varies := c.Name["top_p"]; varies {
		p.Decoding.TopP = &rules.TopP
	}
	if _, varies := c.Name["system"]; varies && p.API == crosstalk.Chat {
		p.System = rules.System
	}
	p.Decoding.Extra = maps.Clone(p.Decoding.Extra)
	maps.DeleteFunc(p.Decoding.Extra, func(name string, _ any) bool { return c.Name[name] != "" })
	return p
}

// Recorded opens a study of recorded answers in files (recorded.Reading.Consistency) to the items of a task file or
// a suite. model is the model of rows that name none; by default it is the file's name.
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
		columns: figures.Columns{"task": true, "pair": true, "part": true, consistency.ByClass: true}}
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
		Reading: recorded.Reading{Columns: c.Columns, FileName: c.FileName, Note: study.Notes.say,
			Pipes: map[string]*recorded.File{}},
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
	// A few items at a time, because each waits with hundreds of observations. Only a scorer of rewritten texts gains
	// from many, as it gets their texts together.
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
