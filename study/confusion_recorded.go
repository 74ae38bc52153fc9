package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/instrument/confusion"
	"crosstalk/internal/parallel"
	"crosstalk/recorded"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/suite"
)

// Recorded opens a study of recorded answers in files (recorded.Reading.Confusion), which may be larger than
// memory. model is the model of rows that name none; by default it is the file's name.
func (c Confusion) Recorded(files []string, model string) (*Study, error) {
	files, err := recorded.Files(files)
	if err != nil {
		return nil, err
	}
	study, instruments, languages, err := c.open()
	if err != nil {
		return nil, err
	}
	if err := recorded.CheckExpect(c.Expect); err != nil {
		return nil, err
	}
	r := &recordedConfusion{
		recordedAnswers: recordedAnswers{
			Study: study, files: files, planned: run.Recorded("confusion", suite.BaseNames(files), model)},
		instruments: instruments, model: model, labeller: languages, items: map[string]*suite.Fingerprint{},
		seed: maphash.MakeSeed(), told: map[uint64]string{}, unjudged: map[string]*unjudged{}}
	r.reading = recorded.Reading{
		Columns: c.Columns, FileName: c.FileName, Expect: c.Expect, Identify: r.tell, Note: r.Notes.say,
		Batches: map[string][]string{}}
	if r.prompts, err = promptsOf(c.Prompts); err != nil {
		return nil, err
	}
	for _, in := range instruments {
		study.add(in.Rules(), run.Scoring{Protocol: in.Protocol.Name}, nil, nil)
	}
	study.columns = figures.Columns{}
	for _, column := range languageColumns { // every row has a language
		study.columns[column] = true
	}
	study.columns.Add(study.conditionOf("", 0))
	study.source, r.rows = r, rowsOf(r.read, r.row)
	r.batch.rows, r.batch.together = 64, parallel.Enough() // a row takes less time than handing it over
	return study, nil
}

// recordedConfusion is the source of recorded answers that should be in a certain language.
type recordedConfusion struct {
	recordedAnswers
	labeller
	instruments []confusion.Instrument // of the protocols
	model       string                 // for rows that name none
	reading     recorded.Reading
	seed        maphash.Seed
	told        map[uint64]string             // the languages that users' messages call for, by hash
	unjudged    map[string]*unjudged          // rows, by reason
	judged      int                           // rows
	items       map[string]*suite.Fingerprint // that a model answered, by model
	prompts     map[string]prompted           // by id, for rows without one; nil: unknown
}

// prompted is a prompt, and the position in it of the instruction on the language of the answer.
type prompted struct{ text, position string }

// check reads all rows if that is needed to determine the groups. Otherwise scoring finds errors, in a single pass.
func (r *recordedConfusion) check(keep bool) error {
	groups := slices.ContainsFunc(r.By, func(column string) bool { return slices.Contains(addedColumns, column) })
	if !keep && !groups {
		return nil
	}
	r.reading.Pipes = map[string]*recorded.File{}
	for row, err := range r.read {
		if err != nil {
			return err
		}
		r.see(row.Item.Labels, r.promptOf(row))
	}
	return r.seen()
}

// read yields the rows of the files one after the other, with their models.
func (r *recordedConfusion) read(yield func(recorded.Confusion, error) bool) {
	for _, file := range r.files {
		for row, err := range r.reading.Confusion(file) {
			if err == nil {
				row.Model = cmp.Or(row.Model, r.model, suite.BaseName(file))
				language := row.Item.Prompt.Language
				if !r.label(row.Item.Prompt) && row.Unjudged == "" {
					row.Unjudged = r.unknown(language) + ": name one that can with --lid"
				}
				err = r.addLength(row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// tell returns the language that the answer to a user's messages should be in, or "" if that is unclear.
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

// maxTold limits the messages whose languages are remembered because files are read several times: to some 10 MB.
const maxTold = 1 << 18

// unjudged counts rows whose language cannot be judged for one reason.
type unjudged struct {
	rows  int
	first string // file:line
}

// maxReasons limits the reasons that are counted separately: if a column is wrong, every row has its own reason.
const maxReasons = 20

// promptsOf returns the prompts of a suite by the ids of recorded answers to them.
func promptsOf(nameOrFile string) (map[string]prompted, error) {
	if nameOrFile == "" {
		return nil, nil
	}
	s, err := suite.LoadFor("confusion", nameOrFile)
	if err != nil {
		return nil, err
	}
	prompts := make(map[string]prompted, s.Items.Len())
	for _, item := range s.Items.All() {
		// Published test sets have the ids of the answers; in a user's suite, the column id names the item.
		p := prompted{text: item.Prompt.Text}
		for position, text := range item.Prompt.Placed {
			if text == p.text {
				p.position = position
			}
		}
		prompts[recorded.ConfusionItem(item.Labels, item.ID, nil).ID] = p
		prompts[item.ID] = p
	}
	return prompts, nil
}

func (r *recordedConfusion) promptOf(row recorded.Confusion) string {
	return cmp.Or(row.Item.Prompt.Text, r.prompts[row.Item.ID].text)
}

// addLength labels a row without a prompt with the length of its prompt in the suite, and with the position of the
// instruction in it. The item stays as recorded, so that signatures only cover the answers.
func (r *recordedConfusion) addLength(row recorded.Confusion) error {
	if r.prompts == nil {
		return nil
	}
	prompt := r.promptOf(row)
	if prompt == "" {
		return fmt.Errorf("%s: no item of --suite has the id %q", row.Where, row.Item.ID)
	}
	if length := crosstalk.LengthOf(prompt); length != "" && row.Item.Labels["length"] == "" {
		row.Item.Labels["length"] = length
	}
	if position := r.prompts[row.Item.ID].position; position != "" && row.Item.Labels["position"] == "" {
		row.Item.Labels["position"] = position
	}
	return nil
}

func (r *recordedConfusion) row(row recorded.Confusion) recordedRow {
	of := recordedRow{item: row.Item, prompt: r.promptOf(row), note: func() { r.note(row) },
		score: func(_ context.Context, protocol int, item crosstalk.Item) ([]crosstalk.Observation, error) {
			in := r.instruments[protocol]
			in.Condition = r.conditionOf(row.Model, protocol)
			return in.Score(item, row.Sample, row.Answer), nil
		}}
	of.add(row.Answer)
	if r.instruments[0].Part == confusion.Reasoning {
		of.thought = 0 // these replies' thoughts are scored, not counted
	}
	return of
}

func (r *recordedConfusion) note(row recorded.Confusion) {
	if row.Unjudged == "" {
		r.judged++
	} else {
		why := row.Unjudged
		if r.unjudged[why] == nil && len(r.unjudged) >= maxReasons {
			why = "other languages that cannot be judged"
		}
		if r.unjudged[why] == nil {
			r.unjudged[why] = &unjudged{first: row.Where}
		}
		r.unjudged[why].rows++
	}
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

// suites returns the ids of the items that each model answered, as Suite.ID does. It is an error if no answer can be
// judged.
func (r *recordedConfusion) suites() (crosstalk.SuiteIDs, error) {
	ids := crosstalk.SuiteIDs{Column: "model", Each: map[string]string{}}
	all, reasons := r.judged, slices.Sorted(maps.Keys(r.unjudged))
	for _, of := range r.unjudged {
		all += of.rows
	}
	for _, why := range reasons {
		of := r.unjudged[why]
		r.Notes.say(fmt.Sprintf("not judged, %d of %d answers: %s (first in %s)", of.rows, all, why, of.first))
	}
	if r.judged == 0 && len(reasons) > 0 {
		return ids, fmt.Errorf("%s: %s; no answer of %s can be judged",
			r.unjudged[reasons[0]].first, reasons[0], strings.Join(r.files, ", "))
	}
	for model, items := range r.items {
		ids.Each[model] = suite.BaseNames(r.files) + "@" + items.String()
	}
	return ids, r.checkBy(r.columns)
}

// Reply is an answer, and the language that it should be in.
type Reply struct {
	Language string // a BCP 47 tag or an English name
	Text     string
}

// Figures returns the figures of replies under the first protocol, each reply having its own prompt. A language that
// the identifier does not know is an error.
func (c Confusion) Figures(replies []Reply) ([]crosstalk.Estimate, error) {
	_, instruments, languages, err := c.open()
	if err != nil {
		return nil, err
	}
	in := instruments[0]
	estimator := in.Rules().Estimator(c.By)
	for i, r := range replies {
		p := &crosstalk.Prompt{}
		if p.Language, p.Tag, err = recorded.LanguageOf(r.Language); err != nil {
			return nil, err
		}
		if !languages.label(p) {
			return nil, errors.New(languages.unknown(r.Language))
		}
		item := crosstalk.Item{ID: strconv.Itoa(i), Labels: new(groups).label(map[string]string{"language": r.Language}, ""),
			Prompt: p}
		for _, o := range in.Score(item, 0, recorded.Answer(r.Text)) {
			estimator.Add(o)
		}
	}
	return estimator.Estimates(crosstalk.SuiteIDs{}), nil
}
