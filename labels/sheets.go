package labels

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/table"
)

// Imported holds the contents of a sheet.
type Imported struct {
	Labels []Label // un-blinded
	Blank  int     // questions without an answer
	Before int     // questions to which the annotator had given the same label
	Odd    []error // rows that cannot be read, with file and line
}

type filledIn struct {
	Answer
	where string // file and line
	err   error  // why it cannot be read
}

// ImportInto reads a sheet of a finished run that an annotator has filled in, and adds its labels to the run. question
// is the question asked, by default the first of the run's instrument. decides marks the labels as an adjudicator's.
// Odd rows are left out; a sheet without any label is an error.
func ImportInto(path, question, file, annotator string, decides bool, now time.Time) (Imported, error) {
	sheet, err := Open(path, question)
	if err != nil {
		return Imported{}, err
	}
	design, err := ReadDesign(path)
	if err != nil {
		return Imported{}, err
	}
	old, err := Read(path)
	if err != nil {
		return Imported{}, err
	}
	imported, err := sheet.importSheet(design, file, Label{Annotator: annotator, Decides: decides}, old, now)
	switch {
	case err != nil:
		return Imported{}, err
	case len(imported.Labels)+imported.Before > 0:
	case len(imported.Odd) > 0:
		return Imported{}, errors.Join(imported.Odd[:min(len(imported.Odd), 10)]...)
	default:
		return Imported{}, fmt.Errorf("%s: no question has a label; fill in the column label", file)
	}
	return imported, Append(path, imported.Labels...)
}

// importSheet reads a sheet that an annotator has filled in: CSV, TSV, JSON Lines or a workbook with the columns of an
// exported sheet, or the tasks that Label Studio exports (.json). who has the annotator. It counts questions without an
// answer, and questions with the same label in old. Odd rows are unknown ids or labels, questions that the sheet
// repeats, and questions that already have another label.
func (s *Sheet) importSheet(d Design, file string, who Label, old []Label, now time.Time) (Imported, error) {
	if who.Annotator = strings.TrimSpace(who.Annotator); who.Annotator == "" {
		return Imported{}, crosstalk.BadOption("annotator", ": expected a name")
	}
	answers, err := readSheet(file)
	if err != nil {
		return Imported{}, err
	}
	if d.Secret == "" {
		return Imported{}, errors.New("no questions were exported from this run; use 'crosstalk labels export' first")
	}
	in := sheetReader{Blind: s.Blind(d), before: map[string]string{}, first: map[string]string{}}
	for _, l := range old {
		if l.Annotator == who.Annotator && l.Decides == who.Decides {
			in.before[l.Key()] = l.Label
		}
	}
	for _, a := range answers {
		if a.Annotator, a.Decides = who.Annotator, who.Decides; a.When.IsZero() {
			a.When = now
		}
		if err := cmp.Or(a.err, in.add(a)); err != nil {
			in.Odd = append(in.Odd, fmt.Errorf("%s: %w", a.where, err))
		}
	}
	return in.Imported, nil
}

type sheetReader struct {
	Blind
	Imported
	before map[string]string // the annotator's labels, by unit
	first  map[string]string // where a unit was first answered
}

func (r *sheetReader) add(a filledIn) error {
	u, known := r.Unit(a.ID)
	if !known {
		return fmt.Errorf("unknown id %s; expected one of a sheet exported from this run", a.ID)
	}
	if where, again := r.first[u.key]; again {
		return fmt.Errorf("duplicate id %s (first used in %s)", a.ID, where)
	}
	r.first[u.key] = a.where
	if a.Shown == "" {
		r.Blank++
		return nil
	}
	label, err := r.Label(a.Answer)
	before, answered := r.before[u.key]
	switch {
	case err != nil:
		return err
	case answered && before != label.Label:
		return fmt.Errorf("%s has answered question %s before, with another label", a.Annotator, a.ID)
	case answered:
		r.Before++
		return nil
	}
	r.Labels = append(r.Labels, label)
	return nil
}

// readSheet reads a table, or Label Studio's JSON export.
func readSheet(file string) (list []filledIn, err error) {
	for row, err := range table.Read(file) {
		if err != nil {
			return nil, err
		}
		v := row.Values
		a := filledIn{where: fmt.Sprintf("%s:%d", row.File, row.Line)}
		if row.Has("data") {
			a.err = a.readTask(row)
			list = append(list, a)
			continue
		}
		for _, needed := range []string{"id", "label"} {
			if !row.Has(needed) {
				return nil, row.HeaderErrorf("no column %s; expected the columns of an exported sheet", needed)
			}
		}
		a.ID, a.Shown, a.Comment = strings.TrimSpace(v["id"]), strings.TrimSpace(v["label"]), v["comment"]
		if text := strings.TrimSpace(v["seconds"]); text != "" {
			if a.Seconds, err = strconv.ParseFloat(text, 64); err != nil || !(a.Seconds >= 0 && a.Seconds < 1e9) {
				a.err = fmt.Errorf("seconds is %q; expected a number that is not negative", text)
			}
		}
		list = append(list, a)
	}
	return list, nil
}

// Formats lists the formats of sheets; json is a list of Label Studio tasks.
var Formats = []string{"csv", "json"}

// CheckFormat returns an error for an unknown format.
func CheckFormat(format string) error {
	_, err := crosstalk.Chosen("format", format, Formats)
	return err
}

// FormatOf returns the format of a sheet with this file name: the text after the last dot, or the first of Formats.
func FormatOf(file string) string {
	return cmp.Or(strings.TrimPrefix(filepath.Ext(file), "."), Formats[0])
}

// Questionnaire contains the questions of a sheet as shown to one annotator.
type Questionnaire struct {
	Question Question
	Asked    []Asked
	Of       int // number of questions in the run
}

// NewQuestionnaire draws questions about a finished run for an annotator, and records in the run how they were drawn.
// Without a question, it uses the first of the run's instrument. An adjudicator gets the answers on which labels
// disagree.
func NewQuestionnaire(path, question, annotator string, sample Sample, decides bool) (Questionnaire, error) {
	sheet, err := Open(path, question)
	if err != nil {
		return Questionnaire{}, err
	}
	if decides {
		labels, design, err := given(path)
		units := sheet.Disagreed(labels)
		if err == nil && len(units) == 0 {
			err = fmt.Errorf("%s: no labels disagree", path)
		}
		return Questionnaire{sheet.Question, design.Ask(sheet.Question, units, annotator, sample.Seed), len(sheet.Units)}, err
	}
	units, err := sheet.Draw(sample)
	if err != nil {
		return Questionnaire{}, err
	}
	if len(units) == 0 {
		return Questionnaire{}, fmt.Errorf("%s has no answers to ask about: none was scored", path)
	}
	design, err := Plan(path, sample)
	asked := design.Ask(sheet.Question, units, annotator, sample.Seed)
	return Questionnaire{sheet.Question, asked, len(sheet.Units)}, err
}

// Write writes the questions for one annotator, in one of Formats. People fill in the last three columns of a CSV
// sheet. There is a column for what a text answers, if people should see that.
func (q Questionnaire) Write(w io.Writer, format string) error {
	tasks := make([]task, len(q.Asked))
	for i, a := range q.Asked {
		tasks[i].Data = taskData{ID: a.ID, Question: q.Question.Text, X: a.Topic, A: a.A, B: a.B, GivenA: a.Given[0],
			GivenB: a.Given[1], Choices: strings.Join(a.Labels, ", ")}
	}
	switch {
	case format == "csv":
		return writeTasks(csv.NewWriter(w), tasks)
	case format == "json" && q.Question.Several:
		return crosstalk.BadOption("format", " json: Label Studio needs choices, and the question %s has none; use csv",
			q.Question.Name)
	case format == "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(tasks)
	}
	return CheckFormat(format)
}

func writeTasks(w *csv.Writer, tasks []task) error {
	rows := [][]string{{"id", "question", "x", "a", "b", "answered_by_a", "answered_by_b", "choices",
		"label", "seconds", "comment"}}
	for _, t := range tasks {
		d := t.Data
		rows = append(rows, []string{d.ID, d.Question, d.X, d.A, d.B, d.GivenA, d.GivenB, d.Choices, "", "", ""})
	}
	for _, column := range []int{6, 5} {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "" }) {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], column, column+1)
			}
		}
	}
	return w.WriteAll(rows)
}

// task is a task that Label Studio imports.
type task struct {
	Data taskData `json:"data"`
}

type taskData struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	X        string `json:"x"`
	A        string `json:"a"`
	B        string `json:"b"`
	GivenA   string `json:"answered_by_a,omitempty"`
	GivenB   string `json:"answered_by_b,omitempty"`
	Choices  string `json:"choices"`
}

// annotation is an answer to a task in a Label Studio export.
type annotation struct {
	Cancelled bool    `json:"was_cancelled"`
	Seconds   float64 `json:"lead_time"`
	Created   string  `json:"created_at"`
	Result    []struct {
		Value struct {
			Choices []string `json:"choices"`
			Text    texts    `json:"text"`
		} `json:"value"`
	} `json:"result"`
}

// texts is a text or a list of texts: Label Studio writes both.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*t = make(texts, 1)
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

func (a *filledIn) readTask(row table.Row) error {
	var data taskData
	if err := json.Unmarshal([]byte(row.Values["data"]), &data); err != nil {
		return fmt.Errorf("invalid task: %w", err)
	}
	a.ID = data.ID
	var given []annotation
	for _, text := range row.Lists["annotations"] {
		var n annotation
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return fmt.Errorf("invalid task: %w", err)
		}
		if !n.Cancelled {
			given = append(given, n)
		}
	}
	if len(given) > 1 {
		return fmt.Errorf("the task has %d annotations; export those of one annotator", len(given))
	}
	for _, n := range given {
		a.Seconds = n.Seconds
		a.When, _ = time.Parse(time.RFC3339, n.Created)
		var chosen, comments []string
		for _, r := range n.Result {
			chosen = append(chosen, r.Value.Choices...)
			comments = append(comments, r.Value.Text...)
		}
		if len(chosen) > 1 {
			return fmt.Errorf("the task has %d choices; expected one", len(chosen))
		}
		a.Shown, a.Comment = strings.Join(chosen, ""), strings.Join(comments, "\n")
	}
	return nil
}
