// Package labels keeps people's judgements of a run's answers, and compares them
// with what the instruments found.
//
// People are asked about units: for leakage a pair of answers, whatever the number
// of similarities that judge it. Sheets are blind, in an order and on sides drawn
// for each annotator; importing one un-blinds it. Three files in the run directory
// keep them:
//
//	labels.jsonl  every label: what was asked, who answered what, and when
//	labels.json   the secret that blinds questions, and how samples were drawn
//	notes.jsonl   readers' notes on the answers
//
// Labels are stored un-blinded: test, control or neither. They belong to the
// answer, not to the score, so scoring a run again keeps them.
package labels

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk"
)

// File is the name of the labels in a run directory.
const File = "labels.jsonl"

// Label is one person's answer to one question: a line of labels.jsonl.
type Label struct {
	Question  string            `json:"question"` // its name: "leakage"
	Item      string            `json:"item"`
	Sample    int               `json:"sample"`
	Variant   string            `json:"variant,omitempty"`
	Line      int               `json:"line,omitempty"` // of the answer, from 1; 0: all of it
	Condition map[string]string `json:"condition"`      // of the observation, without the judge
	Annotator string            `json:"annotator"`
	Label     string            `json:"label"`           // un-blinded; empty: withdrawn
	Words     []Word            `json:"words,omitempty"` // that the annotator marked
	When      time.Time         `json:"when"`
	Seconds   float64           `json:"seconds,omitempty"` // that the answer took, if known
	Comment   string            `json:"comment,omitempty"`
}

// Word is a word of a labelled text: of the answer, or of its line.
type Word struct {
	Start int    `json:"start"` // bytes of that text: [Start, End)
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Key identifies the labelled unit in its run.
func (l Label) Key() string {
	return key(l.Question, l.Item, l.Sample, l.Variant, l.Condition, l.Line)
}

func key(question, item string, sample int, variant string, condition map[string]string, line int) string {
	parts := []any{question, item, sample, variant, condition}
	if line > 0 {
		parts = append(parts, line)
	}
	return string(crosstalk.Canonical(parts))
}

// check returns an error if a required field is missing or the label is unknown.
func (l Label) check() error {
	q, err := questionFor(l.Question)
	choices := q.labels()
	switch {
	case err != nil:
		return err
	case l.Item == "":
		return errors.New("has no item")
	case strings.TrimSpace(l.Annotator) == "":
		return errors.New("has no annotator")
	case l.Label == "" || len(choices) == 0 || slices.Contains(choices, l.Label): // without choices, units have their own
		return nil
	}
	return unknownLabel(l.Label, choices)
}

func unknownLabel(label string, choices []string) error {
	return fmt.Errorf("unknown label %q; choose one of: %s", label, strings.Join(choices, ", "))
}

// Read returns the labels of a run, none if it has no file of them. If an annotator
// labelled a unit several times, the last label counts. A line that a crash cut
// short, the last one without a line end, is left out.
func Read(run string) ([]Label, error) {
	l := NewLog(run)
	if err := l.Refresh(); err != nil {
		return nil, err
	}
	return l.Labels(), nil
}

// Append adds labels to a run. They are on the disk when it returns; after an error,
// the first ones may be. Several processes may append at once.
func Append(run string, labels ...Label) error {
	for _, l := range labels {
		if err := l.check(); err != nil {
			return fmt.Errorf("label of item %s: %w", l.Item, err)
		}
	}
	return appendLines(filepath.Join(run, File), labels)
}
