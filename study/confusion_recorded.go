package study

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/instrument/confusion"
	"crosstalk/internal/parallel"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/suite"
)

// Recorded opens a study of recorded answers in files (recorded.Reading.Confusion),
// which may be larger than memory. model is the model of rows without one; its
// default is the file's name.
func (c Confusion) Recorded(files []string, model string) (*Study, error) {
	study, instruments, identifier, err := c.open()
	if err != nil {
		return nil, err
	}
	if err := recorded.CheckExpect(c.Expect); err != nil {
		return nil, err
	}
	r := &recordedConfusion{Study: study, files: files, model: model, identifier: identifier, items: map[string]*suite.Fingerprint{},
		labels: map[string]string{}, seed: maphash.MakeSeed(), told: map[uint64]string{}, unjudged: map[string]*unjudged{}}
	r.reading = recorded.Reading{Columns: c.Columns, FileName: c.FileName, Expect: c.Expect, Identify: r.tell, Note: r.Notes.say}
	r.columns = Columns{}
	for _, column := range languageColumns { // every row has a language
		r.columns[column] = true
	}
	r.columns.Add(conditionOf("", "", len(instruments)))
	r.suites, r.plan = r.suiteIDs, run.Recorded("confusion", r.names(), model)
	if r.groupedBy() { // thirds are known only when all rows have been read
		r.Study.check = r.check
	} else {
		r.rescan = r.check
	}
	if r.prompts, err = promptsOf(c.Prompts); err != nil {
		return nil, err
	}
	for i, in := range instruments {
		r.Protocols = append(r.Protocols, Protocol{
			Rules:   in.Rules(),
			Scoring: run.Scoring{Protocol: in.Protocol.Name, Rules: crosstalk.Canonical(in.Rules()), By: r.By},
			recorded: func(ctx context.Context) iter.Seq2[scored, error] {
				return r.observations(ctx, in, i == 0)
			}})
	}
	return r.Study, nil
}

// recordedConfusion are the answers in some files, with the notes on their rows.
type recordedConfusion struct {
	*Study
	files      []string
	model      string // of rows without one
	reading    recorded.Reading
	identifier *fasttext.Model
	labels     map[string]string // the identifier's, "" if it has none, by language
	seed       maphash.Seed
	told       map[uint64]string             // the languages that users' messages ask for, by hash
	unjudged   map[string]*unjudged          // rows, by why
	judged     int                           // rows
	items      map[string]*suite.Fingerprint // that a model answered
	prompts    map[string]string             // by id, of rows without one; nil: unknown
	groups     groups                        // after check
}

// check reads the files before anything is written.
func (r *recordedConfusion) check() error {
	for row, err := range r.rows() {
		if err != nil {
			return err
		}
		r.columns.Add(row.Item.Labels)
		r.groups.see(row.Item.Labels, r.promptOf(row))
		r.count(row)
	}
	if err := r.noneJudged(); err != nil {
		return err
	}
	r.judged = 0 // they are counted again when they are scored
	clear(r.unjudged)
	r.groups.done()
	maps.Copy(r.columns, r.groups.columns())
	return r.checkBy(r.columns)
}

// rows yields the rows of the files one after the other, with their models.
func (r *recordedConfusion) rows() iter.Seq2[recorded.Confusion, error] {
	return func(yield func(recorded.Confusion, error) bool) {
		for _, file := range r.files {
			for row, err := range r.reading.Confusion(file) {
				if err == nil {
					row.Model = cmp.Or(row.Model, r.model, suite.BaseName(file))
					r.label(&row)
				}
				if err == nil && r.prompts != nil {
					err = r.addLength(row)
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// label gives a row's language the identifier's label.
func (r *recordedConfusion) label(row *recorded.Confusion) {
	language := row.Item.Prompt.Language
	label, seen := r.labels[language]
	if !seen {
		label, _ = labelOf(r.identifier, language)
		r.labels[language] = label
	}
	if label == "" && row.Unjudged == "" {
		row.Unjudged = unknown(r.identifier, language) + ": name one that can with --lid"
	}
	if label != language {
		row.Item.Prompt.Tag = cmp.Or(row.Item.Prompt.Tag, language)
	}
	row.Item.Prompt.Language = label
}

// tell returns the language that the answer to a user's messages should be in, ""
// if it cannot be told.
func (r *recordedConfusion) tell(messages ...string) string {
	messages = messages[max(0, len(messages)-guard.LookBack):]
	var hash maphash.Hash
	hash.SetSeed(r.seed)
	for _, m := range messages {
		maphash.WriteComparable(&hash, m)
	}
	key := hash.Sum64()
	language, known := r.told[key]
	if !known {
		language = guard.Checker{Identifier: r.identifier}.UserLanguage(messages...)
		if len(r.told) < maxTold {
			r.told[key] = language
		}
	}
	return language
}

// maxTold limits the messages whose languages are remembered, since files are read
// several times: to some 10 MB.
const maxTold = 1 << 18

// unjudged counts rows whose language cannot be judged, for one reason.
type unjudged struct {
	rows  int
	first string // file:line
}

// maxReasons limits the reasons that are told apart: in a wrong column, every row
// has its own.
const maxReasons = 20

// count notes whether a row can be judged.
func (r *recordedConfusion) count(row recorded.Confusion) {
	if row.Unjudged == "" {
		r.judged++
		return
	}
	why := row.Unjudged
	if r.unjudged[why] == nil && len(r.unjudged) >= maxReasons {
		why = "other languages that cannot be judged"
	}
	if r.unjudged[why] == nil {
		r.unjudged[why] = &unjudged{first: row.Where}
	}
	r.unjudged[why].rows++
}

// noneJudged is an error if no row can be judged.
func (r *recordedConfusion) noneJudged() error {
	for _, why := range slices.Sorted(maps.Keys(r.unjudged)) {
		if r.judged == 0 {
			return fmt.Errorf("%s: %s; no answer of %s can be judged", r.unjudged[why].first, why, strings.Join(r.files, ", "))
		}
	}
	return nil
}

// tellUnjudged lists the rows that cannot be judged.
func (r *recordedConfusion) tellUnjudged() {
	all := r.judged
	for _, of := range r.unjudged {
		all += of.rows
	}
	for _, why := range slices.Sorted(maps.Keys(r.unjudged)) {
		of := r.unjudged[why]
		r.Notes.say(fmt.Sprintf("not judged, %d of %d answers: %s (first in %s)", of.rows, all, why, of.first))
	}
}

// promptsOf returns the prompts of a suite by the ids that recorded answers to
// them have.
func promptsOf(nameOrFile string) (map[string]string, error) {
	if nameOrFile == "" {
		return nil, nil
	}
	s, err := suite.LoadFor("confusion", nameOrFile)
	if err != nil {
		return nil, err
	}
	prompts := make(map[string]string, s.Items.Len())
	for _, item := range s.Items.All() {
		// Published test sets have the answers' ids; in a suite of one's own, the
		// column id names the item.
		prompts[recorded.ConfusionItem(item.Labels, item.ID, nil).ID] = item.Prompt.Text
		prompts[item.ID] = item.Prompt.Text
	}
	return prompts, nil
}

// promptOf is the prompt of a row, "" if it is unknown.
func (r *recordedConfusion) promptOf(row recorded.Confusion) string {
	return cmp.Or(row.Item.Prompt.Text, r.prompts[row.Item.ID])
}

// addLength labels a row that has no prompt with the length of its prompt in the
// suite. The item stays as recorded, so signatures are those of the answers alone.
func (r *recordedConfusion) addLength(row recorded.Confusion) error {
	prompt := r.promptOf(row)
	if prompt == "" {
		return fmt.Errorf("%s: no item of --prompts has the id %q", row.Where, row.Item.ID)
	}
	if length := crosstalk.LengthOf(prompt); length != "" && row.Item.Labels["length"] == "" {
		row.Item.Labels["length"] = length
	}
	return nil
}

// Rows are scored in batches, since a row takes less time than handing it over.
const (
	batchRows  = 64
	batchBytes = 1 << 16
)

// batch is some of the rows that were read one after the other.
type batch struct {
	first int // the number of the first
	rows  []recorded.Confusion
}

// batches yields the rows in slices of about batchBytes.
func batches(rows iter.Seq2[recorded.Confusion, error]) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		var next batch
		bytes := 0
		for row, err := range rows {
			if err != nil {
				yield(next, err)
				return
			}
			next.rows = append(next.rows, row)
			bytes += len(row.Answer.Text)
			if len(next.rows) == batchRows || bytes >= batchBytes {
				if !yield(next, nil) {
					return
				}
				next, bytes = batch{first: next.first + len(next.rows)}, 0
			}
		}
		if next.rows != nil {
			yield(next, nil)
		}
	}
}

// observations scores the rows of the shard and yields their observations in
// order. The first protocol collects the notes on the rows.
func (r *recordedConfusion) observations(ctx context.Context, in confusion.Instrument, first bool) iter.Seq2[scored, error] {
	type result struct {
		batch
		scored []scored
	}
	protocols := len(r.Protocols)
	score := func(_ context.Context, b batch) (result, error) {
		s := result{batch: b}
		for i, row := range b.rows {
			if !r.has(row.Item) {
				continue
			}
			of := in
			of.Condition = conditionOf(row.Model, in.Protocol.Name, protocols)
			item := row.Item
			item.Labels = r.groups.label(item.Labels, r.promptOf(row))
			s.scored = append(s.scored, scored{b.first + i, of.Score(item, row.Sample, row.Answer)})
			if in.Part != confusion.Reasoning {
				r.countThoughts(in.Protocol.Name, row.Answer)
			}
		}
		return s, nil
	}
	return func(yield func(scored, error) bool) {
		for s, err := range parallel.Map(ctx, batches(r.rows()), parallel.Enough(), score) {
			if err != nil {
				yield(scored{}, err)
				return
			}
			if first {
				for _, row := range s.rows {
					r.note(row)
				}
			}
			for _, of := range s.scored {
				if !yield(of, nil) {
					return
				}
			}
		}
		if first {
			r.tellUnjudged()
			if err := r.noneJudged(); err != nil {
				yield(scored{}, err)
			}
		}
	}
}

// note records the items and columns of the answers.
func (r *recordedConfusion) note(row recorded.Confusion) {
	r.count(row)
	r.columns.Add(row.Item.Labels)
	if r.promptOf(row) != "" {
		r.columns[tertileColumn] = true
	}
	if row.Sample > 0 {
		return
	}
	if r.items[row.Model] == nil {
		r.items[row.Model] = &suite.Fingerprint{}
	}
	r.items[row.Model].Add(row.Item)
}

// names are the files' names.
func (r *recordedConfusion) names() string {
	names := make([]string, len(r.files))
	for i, file := range r.files {
		names[i] = suite.BaseName(file)
	}
	return strings.Join(names, "+")
}

// suiteIDs are the ids of the items that each model answered, as suite.Suite.ID.
func (r *recordedConfusion) suiteIDs() crosstalk.SuiteIDs {
	ids := crosstalk.SuiteIDs{Column: "model", Each: map[string]string{}}
	for model, items := range r.items {
		ids.Each[model] = r.names() + "@" + items.String()
	}
	return ids
}
