package labels

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
)

// Formats are the formats of sheets; json is a list of Label Studio's tasks.
var Formats = []string{"csv", "json"}

// CheckFormat returns an error for an unknown format.
func CheckFormat(format string) error {
	_, err := crosstalk.Chosen("format", format, Formats)
	return err
}

// FormatOf is the format of a sheet that is written to a file of this name: what
// follows the last dot, and the first of Formats without a dot.
func FormatOf(file string) string {
	return cmp.Or(strings.TrimPrefix(filepath.Ext(file), "."), Formats[0])
}

// Questionnaire is the questions of a sheet as one annotator is asked them.
type Questionnaire struct {
	Question Question
	Asked    []Asked
	Of       int // number of questions that the run has
}

// NewQuestionnaire draws questions about a finished run for an annotator, and
// keeps in the run how they were drawn. Without a question, it asks the first of
// the run's instrument.
func NewQuestionnaire(path, question, annotator string, sample Sample) (Questionnaire, error) {
	sheet, err := Open(path, question)
	if err != nil {
		return Questionnaire{}, err
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

// Write writes the questions for one annotator, in one of Formats. People fill in the
// last three columns of a CSV sheet. If a text answers something that people should
// see, there is a column for that.
func (q Questionnaire) Write(w io.Writer, format string) error {
	tasks := make([]task, len(q.Asked))
	for i, a := range q.Asked {
		tasks[i].Data = taskData{ID: a.ID, Question: q.Question.Text, X: a.Topic, A: a.A, B: a.B, GivenA: a.Given[0],
			GivenB: a.Given[1], Choices: strings.Join(a.Labels, ", ")}
	}
	switch format {
	case "csv":
		return writeTasks(csv.NewWriter(w), tasks)
	case "json":
		if q.Question.Several {
			return crosstalk.BadOption("format", " json: Label Studio needs choices, and the question %s has none; use csv",
				q.Question.Name)
		}
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

// task is a task of Label Studio, as it imports and exports them.
type task struct {
	Data        taskData     `json:"data"`
	Annotations []annotation `json:"annotations,omitempty"`
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

// texts is a text or a list of them: Label Studio writes both.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = make(texts, 1)
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}
