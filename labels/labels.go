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

// Log follows the labels of a run while this process or others add to them. It is
// for one goroutine at a time.
type Log struct {
	lines[Label]
	list []Label // the last one of each annotator and unit
	at   map[[2]string]int
	turn []int // of each label: the line that gave it
}

// maxLabels bounds labels.jsonl: about a million labels.
const maxLabels = 512 << 20 // bytes

// NewLog returns a log of a run's labels, without labels until Refresh.
func NewLog(run string) *Log {
	file := lines[Label]{file: filepath.Join(run, File), what: "label", most: maxLabels}
	return &Log{lines: file, at: map[[2]string]int{}}
}

// Refresh reads the labels that were added.
func (l *Log) Refresh() error {
	return l.next(func() { l.list, l.turn, l.at = nil, nil, map[[2]string]int{} }, l.add)
}

func (l *Log) add(label Label) error {
	if err := label.check(); err != nil {
		return err
	}
	id := [2]string{label.Annotator, label.Key()}
	i, again := l.at[id]
	if !again {
		i = len(l.list)
		l.at[id] = i
		l.list, l.turn = append(l.list, Label{}), append(l.turn, 0)
	}
	l.list[i], l.turn[i] = label, l.n
	return nil
}

// Labels are all labels that count, in the order in which questions were first
// answered.
func (l *Log) Labels() (list []Label) {
	for _, label := range l.list {
		if label.Label != "" {
			list = append(list, label)
		}
	}
	return list
}

// Find returns an annotator's last label of a unit, which may be withdrawn (an empty
// Label), and its place in the file: later ones are larger.
func (l *Log) Find(annotator, key string) (label Label, turn int, found bool) {
	i, found := l.at[[2]string{annotator, key}]
	if !found {
		return label, 0, false
	}
	return l.list[i], l.turn[i], true
}

// Merge adds to a run what people said of its shards: labels, notes, and how samples
// were drawn. Where the run and a shard have something of one annotator on the same
// answer, the later one counts, so merging again has no effect. It returns how many
// labels and notes were added.
//
// A sheet that was exported from a shard is imported into that shard, whose secret
// blinded it.
func Merge(run string, shards []string) (added int, err error) {
	for _, shard := range shards {
		labels, err := mergeLabels(run, shard)
		if err != nil {
			return added, err
		}
		notes, err := mergeNotes(run, shard)
		if err != nil {
			return added, err
		}
		added += labels + notes
		design, err := ReadDesign(shard)
		if err != nil {
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

func mergeLabels(run, shard string) (added int, err error) {
	have, from := NewLog(run), NewLog(shard)
	if err := have.Refresh(); err != nil {
		return 0, err
	}
	if err := from.Refresh(); err != nil {
		return 0, err
	}
	var list []Label
	for _, l := range from.list {
		before, _, found := have.Find(l.Annotator, l.Key())
		if found && l.When.After(before.When) || !found && l.Label != "" {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return 0, nil
	}
	return len(list), Append(run, list...)
}

func mergeNotes(run, shard string) (added int, err error) {
	have, err := lastNotes(run)
	if err != nil {
		return 0, err
	}
	from, err := lastNotes(shard)
	if err != nil {
		return 0, err
	}
	var list []Note
	for key, n := range from {
		before, found := have[key]
		if found && n.When.After(before.When) || !found && !n.Empty() {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b Note) int { return a.When.Compare(b.When) })
	for _, n := range list {
		if err := AddNote(run, n); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
