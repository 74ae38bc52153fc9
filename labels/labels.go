// Package labels keeps what people say of a run's answers, and compares it with
// what the instruments say.
//
// Questions shows what people are asked for each instrument. Units are the
// things they are asked about: for leakage a pair of answers, whatever the
// number of similarities that judge it. Export writes questions blind, in an
// order and on sides drawn for each annotator; Import reads the answers and
// un-blinds them. Three files in the run directory keep what people say:
//
//	labels.jsonl  every label: what was asked, who answered what, and when
//	labels.json   the secret that blinds questions, and how samples were drawn
//	notes.jsonl   what a reader noted on the answers
//
// Labels are stored un-blinded: test, control or neither. They belong to the
// answer, not to the score, so that scoring a run again keeps them.
package labels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/plainfile"

	"github.com/gofrs/flock"
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

// Word is a word of the text that a label is about: of the answer, or of its
// line.
type Word struct {
	Start int    `json:"start"` // bytes of that text: [Start, End)
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Key identifies what a label is about, in its run.
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

// check returns an error if the label says too little to be kept.
func (l Label) check() error {
	q, err := QuestionFor(l.Question)
	if err != nil {
		return err
	}
	switch {
	case l.Item == "":
		return errors.New("has no item")
	case strings.TrimSpace(l.Annotator) == "":
		return errors.New("has no annotator")
	case l.Label == "":
		return nil
	}
	return q.takes(l.Label)
}

// Read returns the labels of a run, none if it has no file of them. Of several
// labels of one annotator for one question the last counts. A line that a crash
// cut short, the last one without a line end, is left out.
func Read(run string) ([]Label, error) {
	l := NewLog(run)
	if err := l.Refresh(); err != nil {
		return nil, err
	}
	return l.Labels(), nil
}

// Append adds labels to a run. They are on the disk when it returns, all of them
// or, after an error, perhaps some of the first. Several processes may append
// at once.
func Append(run string, labels ...Label) error {
	var text bytes.Buffer
	for _, l := range labels {
		if err := l.check(); err != nil {
			return fmt.Errorf("label of item %s: %w", l.Item, err)
		}
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	return appendLines(filepath.Join(run, File), text.Bytes())
}

// appendLines adds whole lines to a file that only its owner may read. They are
// on the disk when it returns. Several processes may append at once; a line that
// a crash cut short is dropped.
func appendLines(file string, lines []byte) error {
	// Who drops a torn line must not take one for it that is being written.
	if err := plainfile.Check(file + ".lock"); err != nil {
		return err
	}
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("%s: cannot lock: %w", file, err)
	}
	defer lock.Close()
	f, err := openAppend(file)
	if err != nil {
		return err
	}
	err = dropTorn(f)
	if err == nil {
		_, err = f.Write(lines)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: cannot append: %w", file, err)
	}
	return nil
}

// openAppend opens the regular file at path for reading and appending, and
// makes one that only its owner may read where there is none. What replaces the
// file while it is being opened is refused.
func openAppend(path string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.Base(path)
	if f, err := root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err == nil || !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if err := plainfile.Check(path); err != nil {
		return nil, err
	}
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) || !after.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s: was replaced while it was opened", path), err, f.Close())
	}
	return f, nil
}

// dropTorn removes the end of a line that a crash cut short.
func dropTorn(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	const step = 4096
	buffer := make([]byte, step)
	for end := info.Size(); end > 0; {
		start := max(0, end-step)
		part := buffer[:end-start]
		if _, err := f.ReadAt(part, start); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			if whole := start + int64(i) + 1; whole < info.Size() {
				return f.Truncate(whole)
			}
			return nil
		}
		end = start
	}
	return f.Truncate(0)
}
