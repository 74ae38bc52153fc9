package labels

import (
	"fmt"
	"math"
	"slices"

	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
)

// Question is what people are asked about the answers of an instrument.
type Question struct {
	Instrument string
	Measure    string    // whose observations are judged
	Text       string    // the question; X is the topic, A and B the sides
	Topic      string    // the text of observations that is X, or else the label
	Sides      [2]string // the texts that are A and B; the second is empty where there is one
	Choices    []Choice
	Fault      string   // the label of what the instrument looks for
	FaultValue float64  // the value of observations that found it
	Undecided  string   // the label of a tie between annotators
	Apart      []string // columns whose values never share a figure
}

// Choice is a possible answer to a question.
type Choice struct {
	Label string  // as stored
	Shown string  // as asked; empty: as stored. "A" stands for the first side on the unblinded sheet
	Value float64 // on the scale of the measure; NaN: none
}

// Labels of leakage.
const (
	Test    = "test"
	Control = "control"
	Neither = "neither"
)

// CannotTell is the label of who cannot say.
const CannotTell = "cannot tell"

// Questions are those of all instruments. That of leakage is Gonen et al.'s
// (2024, section 5).
var Questions = []Question{{
	Instrument: "leakage", Measure: leakage.Measure,
	Text:  "Consider the word or phrase X. Which of the following texts (A or B) is more semantically related to X?",
	Topic: leakage.Concept, Sides: [2]string{leakage.Test, leakage.Control},
	Choices: []Choice{{Test, "A", 1}, {Control, "B", 0}, {Label: Neither, Value: 0.5}},
	Fault:   Test, FaultValue: 1, Undecided: Neither, Apart: []string{leakage.DatasetColumn, leakage.LanguageColumn},
}, {
	Instrument: "confusion", Measure: confusion.LPR,
	Text: "Is every line of text A in the language X? Ignore names and single words of another language: " +
		"right, wrong, or cannot tell.",
	Topic: confusion.LanguageColumn, Sides: [2]string{confusion.AnswerText},
	Choices: []Choice{{Label: "right", Value: 1}, {Label: "wrong", Value: 0}, {Label: CannotTell, Value: math.NaN()}},
	Fault:   "wrong", Undecided: CannotTell, Apart: []string{confusion.TaskColumn},
}, {
	Instrument: "consistency", Measure: consistency.Consistency,
	Text:  "A and B answer the question X, perhaps in another language or in other words. Do they mean the same: yes, no, or cannot tell?",
	Topic: consistency.SourceInput, Sides: [2]string{consistency.SourceAnswer, consistency.AnswerText},
	Choices: []Choice{{Label: "yes", Value: 1}, {Label: "no", Value: 0}, {Label: CannotTell, Value: math.NaN()}},
	Fault:   "no", Undecided: CannotTell, Apart: []string{consistency.TaskColumn, consistency.PairColumn, consistency.PartColumn},
}}

// QuestionFor returns the question of an instrument.
func QuestionFor(instrument string) (Question, error) {
	i := slices.IndexFunc(Questions, func(q Question) bool { return q.Instrument == instrument })
	if i < 0 {
		return Question{}, fmt.Errorf("unknown question %q; expected leakage, confusion or consistency", instrument)
	}
	return Questions[i], nil
}

// Labels are the labels of the choices.
func (q Question) Labels() (list []string) {
	for _, c := range q.Choices {
		list = append(list, c.Label)
	}
	return list
}

// shown are the choices as they are asked.
func (q Question) shown() (list []string) {
	for _, c := range q.Choices {
		if c.Shown != "" {
			list = append(list, c.Shown)
		} else {
			list = append(list, c.Label)
		}
	}
	return list
}

// value is that of a label, NaN where it has none.
func (q Question) value(label string) float64 {
	for _, c := range q.Choices {
		if c.Label == label {
			return c.Value
		}
	}
	return math.NaN()
}

// paired reports whether two texts are compared.
func (q Question) paired() bool { return q.Sides[1] != "" }
