package labels

import (
	"cmp"
	"encoding/csv"
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

// importSheet reads a sheet that an annotator has filled in. who has the annotator. It counts questions without an
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
		return Imported{},
			errors.New("no questions were exported from this run; use 'crosstalk annotate RUN --export FILE' first")
	}
	in := sheetReader{Blind: s.Blind(d), before: map[string]string{}, first: map[string]string{}}
	for _, l := range old {
		if l.Annotator == who.Annotator && l.Decides == who.Decides {
			in.before[l.Key()] = l.Label
		}
	}
	for _, a := range answers {
		a.Annotator, a.Decides, a.When = who.Annotator, who.Decides, now
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

// readSheet reads a sheet in CSV.
func readSheet(file string) (list []filledIn, err error) {
	if ending := strings.ToLower(filepath.Ext(file)); ending != ".csv" {
		return nil, fmt.Errorf("%s: expected a sheet in CSV, as --export writes it", file)
	}
	for row, err := range table.Read(file) {
		if err != nil {
			return nil, err
		}
		v := row.Values
		a := filledIn{where: fmt.Sprintf("%s:%d", row.File, row.Line)}
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

// Write writes the questions for one annotator as CSV. People fill in the last three columns. There is a column for
// what a text answers, if people should see that.
func (q Questionnaire) Write(w io.Writer) error {
	rows := [][]string{{"id", "question", "x", "a", "b", "answered_by_a", "answered_by_b", "choices",
		"label", "seconds", "comment"}}
	for _, a := range q.Asked {
		rows = append(rows, []string{a.ID, q.Question.Text, a.Topic, a.A, a.B, a.Given[0], a.Given[1],
			strings.Join(a.Labels, ", "), "", "", ""})
	}
	for _, column := range []int{6, 5} {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "" }) {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], column, column+1)
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
