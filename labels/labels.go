// Package labels keeps people's judgements of a run's answers, and compares them with what the instruments found.
//
// People are asked about units: for leakage a pair of answers, whatever the number of similarities that judge it.
// Sheets are blind, in an order and on sides drawn for each annotator; importing one un-blinds it. Three files in
// the run directory keep them:
//
//	labels.jsonl  every label: what was asked, who answered what, and when
//	labels.json   the secret that blinds questions, and how samples were drawn
//	notes.jsonl   readers' notes on the answers
//
// Labels are stored un-blinded: test, control or neither. They belong to the
// answer, not to the score, so scoring a run again keeps them.
package labels

import (
	"cmp"
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

// Place tells an answer of a run, or a line of it, from all others.
type Place struct {
	Item      string            `json:"item"`
	Sample    int               `json:"sample"`
	Variant   string            `json:"variant,omitempty"`
	Line      int               `json:"line,omitempty"` // of the answer, from 1; 0: all of it
	Condition map[string]string `json:"condition"`      // without the columns within an answer
}

func (p Place) item() string { return p.Item }

func (p Place) key(question string) string {
	parts := []any{question, p.Item, p.Sample, p.Variant, p.Condition}
	if p.Line > 0 {
		parts = append(parts, p.Line)
	}
	return string(crosstalk.Canonical(parts))
}

// Label is one person's answer to one question: a line of labels.jsonl.
type Label struct {
	Question string `json:"question"` // its name: "leakage"
	Place
	Annotator string    `json:"annotator"`
	Decides   bool      `json:"decides,omitempty"` // it is an adjudicator's: it counts instead of all others
	Label     string    `json:"label"`             // un-blinded; empty: withdrawn
	Words     []Word    `json:"words,omitempty"`   // that the annotator marked
	When      time.Time `json:"when"`
	Seconds   float64   `json:"seconds,omitempty"` // that the answer took, if known
	Comment   string    `json:"comment,omitempty"`
}

// Word is a word of a labelled text: of the answer, or of its line.
type Word struct {
	Start int    `json:"start"` // bytes of that text: [Start, End)
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Key identifies the labelled unit in its run.
func (l Label) Key() string { return l.key(l.Question) }

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

func (l Label) id() string      { return labelID(l.Annotator, l.Key(), l.Decides) }
func (l Label) time() time.Time { return l.When }
func (l Label) empty() bool     { return l.Label == "" }

func unknownLabel(label string, choices []string) error {
	return fmt.Errorf("unknown label %q; choose one of: %s", label, strings.Join(choices, ", "))
}

// Log follows the labels of a run while this process or others add to them. It is for one goroutine at a time.
type Log struct{ ledger[Label] }

// NewLog returns a log of a run's labels, without labels until Refresh.
func NewLog(run string) *Log {
	const most = 512 << 20 // about a million labels
	return &Log{ledger[Label]{file: filepath.Join(run, File), name: "label", most: most}}
}

// Labels are all labels that count, in the order in which questions were first answered.
func (l *Log) Labels() []Label { return slices.DeleteFunc(slices.Clone(l.list), Label.empty) }

func labelID(annotator, key string, decides bool) string {
	return fmt.Sprintf("%s\x00%s\x00%v", annotator, key, decides)
}

// Find returns an annotator's or an adjudicator's last label of a unit, which may be
// withdrawn (an empty Label), and its place in the file: later ones are larger.
func (l *Log) Find(annotator, key string, decides bool) (label Label, turn int, found bool) {
	i, found := l.at[labelID(annotator, key, decides)]
	if !found {
		return label, 0, false
	}
	return l.list[i], l.turn[i], true
}

// Read returns the labels of a run, none if it has no file of them. If an annotator labelled a unit several times,
// the last label counts. A line that a crash cut short, the last one without a line end, is left out.
func Read(run string) ([]Label, error) {
	l := NewLog(run)
	if err := l.Refresh(); err != nil {
		return nil, err
	}
	return l.Labels(), nil
}

// Append adds labels to a run. They are on the disk when it returns; after an error,
// the first ones may be. Several processes may append at once.
func Append(run string, labels ...Label) error { return NewLog(run).append(labels...) }

// Merge adds to a run what people said of its shards: labels, notes, and how samples were drawn. Where the run and
// a shard have something of one annotator on the same answer, the later one counts, so merging again has no effect.
// It returns how many labels and notes were added.
//
// A sheet that was exported from a shard is imported into that shard, whose secret blinded it.
func Merge(run string, shards []string) (added int, err error) {
	for _, shard := range shards {
		labels, err1 := NewLog(run).merge(&NewLog(shard).ledger)
		notes, err2 := newNotes(run).merge(newNotes(shard))
		added += labels + notes
		design, err := ReadDesign(shard)
		if err = cmp.Or(err1, err2, err); err != nil {
			return added, err
		}
		for _, sample := range design.Samples {
			if _, err := Plan(run, sample); err != nil {
				return added, err
			}
		}
	}
	return added, nil
}
