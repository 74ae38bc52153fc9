package labels

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
)

// NotesFile is the name of the notes in a run directory.
const NotesFile = "notes.jsonl"

// LongestNote is the maximum length of a note's text in characters.
const LongestNote = 4000

// Note is a reader's note on an answer: a line of notes.jsonl. Notes change no figure. They belong to the answer,
// not to the score, so scoring a run again keeps them.
type Note struct {
	Place
	Text     string    `json:"text,omitempty"`
	NotError bool      `json:"not_error,omitempty"` // what the instrument found is no error
	When     time.Time `json:"when"`
}

// NoteOn returns an empty note on the answer of an observation.
func NoteOn(o crosstalk.Observation) Note {
	kind := instrument.Of(o.Measure)
	n := Note{Place: Place{Item: o.Item, Sample: o.Sample, Variant: o.Variant, Condition: map[string]string{}}}
	for c, v := range o.Condition {
		if !kind.Column(c).Within {
			n.Condition[c] = v
		}
	}
	return n
}

// Key identifies the answer in its run.
func (n Note) Key() string { return n.key("") }

// Empty reports whether the note is withdrawn: it has no text and no mark.
func (n Note) Empty() bool { return n.Text == "" && !n.NotError }

func (n Note) id() string      { return n.Key() }
func (n Note) time() time.Time { return n.When }
func (n Note) empty() bool     { return n.Empty() }

func (n Note) check() error {
	switch {
	case n.Item == "":
		return errors.New("has no item")
	case !utf8.ValidString(n.Text):
		return errors.New("is not valid UTF-8")
	case utf8.RuneCountInString(n.Text) > LongestNote:
		return fmt.Errorf("has %d characters; expected at most %d", utf8.RuneCountInString(n.Text), LongestNote)
	}
	return nil
}

// Notes are the notes of a run by their keys.
type Notes map[string]Note

// Of returns the note on the answer of an observation, an empty one if there is none.
func (n Notes) Of(o crosstalk.Observation) Note {
	about := NoteOn(o)
	if note, ok := n[about.Key()]; ok {
		return note
	}
	return about
}

// Noted counts the answers that have a note or a mark, and those that have a mark.
type Noted struct{ Answers, NotError int }

// Add counts a note that is not empty.
func (n *Noted) Add(note Note) {
	n.Answers++
	if note.NotError {
		n.NotError++
	}
}

// String is a sentence with the counts, "" if no answer has a note.
func (n Noted) String() string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprint(n, " ", many)
	}
	switch {
	case n.Answers == 0:
		return ""
	case n.NotError == 0:
		return count(n.Answers, "answer has a note.", "answers have a note.")
	}
	return fmt.Sprintf("%s a note or a mark; %s marked as no error. Figures do not change with a mark.",
		count(n.Answers, "answer has", "answers have"), count(n.NotError, "is", "are"))
}

func newNotes(run string) *ledger[Note] {
	const most = 64 << 20 // more than a hundred thousand notes
	return &ledger[Note]{file: filepath.Join(run, NotesFile), name: "note", most: most}
}

// ReadNotes returns the notes of a run, none if it has no file of them. If an answer
// has several, the last counts. A line that a crash cut short is left out.
func ReadNotes(run string) (Notes, error) {
	l, notes := newNotes(run), Notes{}
	if err := l.Refresh(); err != nil {
		return nil, err
	}
	for _, n := range l.list {
		if !n.Empty() {
			notes[n.Key()] = n
		}
	}
	return notes, nil
}

// AddNote adds a note to a run. It is on the disk when AddNote returns. Several processes may add notes at once.
func AddNote(run string, n Note) error {
	n.Text = strings.TrimSpace(n.Text)
	return newNotes(run).append(n)
}
