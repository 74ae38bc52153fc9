package labels

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"crosstalk"
)

// Formats are those of sheets. The second is the tasks of Label Studio.
var Formats = []string{"csv", "json"}

// columns are those of a CSV sheet. People fill in the last three.
var columns = []string{"id", "question", "x", "a", "b", "choices", "label", "seconds", "comment"}

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
	if sheet.Question.Several {
		return Questionnaire{}, crosstalk.BadOption("question", " %s has no sheets of this form; use 'crosstalk review pairs', or 'crosstalk annotate'", question)
	}
	units, err := sheet.Draw(sample)
	if err != nil {
		return Questionnaire{}, err
	}
	if len(units) == 0 {
		return Questionnaire{}, fmt.Errorf("%s has no answers to ask about: none was scored", path)
	}
	design, err := Plan(path, sample)
	return Questionnaire{sheet.Question, design.Ask(sheet.Question, units, annotator, sample.Seed), len(sheet.Units)}, err
}

// Write writes the questions, in one of Formats.
func (q Questionnaire) Write(w io.Writer, format string) error {
	return WriteSheet(w, format, q.Question, q.Asked)
}

// WriteSheet writes questions for one annotator, in one of Formats.
func WriteSheet(w io.Writer, format string, q Question, asked []Asked) error {
	choices := func(a Asked) string { return strings.Join(a.Labels, ", ") }
	switch format {
	case "csv":
		c := csv.NewWriter(w)
		if err := c.Write(columns); err != nil {
			return err
		}
		for _, a := range asked {
			if err := c.Write([]string{a.ID, q.Text, a.Topic, a.A, a.B, choices(a), "", "", ""}); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	case "json":
		tasks := make([]task, len(asked))
		for i, a := range asked {
			tasks[i].Data = taskData{ID: a.ID, Question: q.Text, X: a.Topic, A: a.A, B: a.B, Choices: choices(a)}
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(tasks)
	}
	return CheckFormat(format)
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
