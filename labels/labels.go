// Package labels keeps people's judgements of a run's answers, and compares them with the instruments' findings.
//
// People are asked about units: for leakage a pair of answers, however many similarities judge it. Sheets are blind,
// with order and sides drawn for each annotator; importing a sheet un-blinds it. Three files in the run directory keep
// them:
//
//	labels.jsonl  every label: what was asked, who answered what, and when
//	labels.json   the secret that blinds questions, and how samples were drawn
//	notes.jsonl   readers' notes on the answers
//
// Labels are stored un-blinded: test, control or neither. They belong to the
// answer, not to the score, so scoring a run again keeps them.
package labels

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/plainfile"

	"github.com/gofrs/flock"
)

// File is the name of the labels in a run directory.
const File = "labels.jsonl"

// Place identifies an answer of a run, or a line of one.
type Place struct {
	Item      string            `json:"item"`
	Sample    int               `json:"sample"`
	Variant   string            `json:"variant,omitempty"`
	Line      int               `json:"line,omitempty"` // line of the answer, from 1; 0: all of it
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
	Decides   bool      `json:"decides,omitempty"` // an adjudicator's label: it overrides all others
	Label     string    `json:"label"`             // un-blinded; empty: withdrawn
	Words     []Word    `json:"words,omitempty"`   // marked by the annotator
	When      time.Time `json:"when"`
	Seconds   float64   `json:"seconds,omitempty"` // time taken, if known
	Comment   string    `json:"comment,omitempty"`
}

// Word is a word of a labelled text: of the answer, or of its line.
type Word struct {
	Start int    `json:"start"` // byte offsets in that text: [Start, End)
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

// Log follows the labels of a run while this process or others add to them. It is not safe for concurrent use.
type Log struct{ ledger[Label] }

// NewLog returns a log of a run's labels, which is empty until Refresh.
func NewLog(run string) *Log {
	const most = 512 << 20 // about a million labels
	return &Log{ledger[Label]{file: filepath.Join(run, File), name: "label", most: most}}
}

// Labels returns all labels that count, in the order in which questions were first answered.
func (l *Log) Labels() []Label { return slices.DeleteFunc(slices.Clone(l.list), Label.empty) }

func labelID(annotator, key string, decides bool) string {
	return fmt.Sprintf("%s\x00%s\x00%v", annotator, key, decides)
}

// Find returns the latest label of a unit by an annotator or an adjudicator, which may be withdrawn (an empty Label),
// and its position in the file: later ones are larger.
func (l *Log) Find(annotator, key string, decides bool) (label Label, turn int, found bool) {
	i, found := l.at[labelID(annotator, key, decides)]
	if !found {
		return label, 0, false
	}
	return l.list[i], l.turn[i], true
}

// Read returns the labels of a run, none if it has no file of them. If an annotator labelled a unit several times, the
// last label counts. A line that a crash cut short, the last one without a line end, is left out.
func Read(run string) ([]Label, error) {
	l := NewLog(run)
	if err := l.Refresh(); err != nil {
		return nil, err
	}
	return l.Labels(), nil
}

// Append adds labels to a run. They are on the disk when it returns. Several processes may append concurrently.
func Append(run string, labels ...Label) error { return NewLog(run).append(labels...) }

// Merge adds what people recorded on a run's shards to the run: labels, notes, and how samples were drawn. If the run
// and a shard have a label or note by one annotator on the same answer, the later one counts, so merging again has no
// effect. It returns how many labels and notes were added.
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

// NotesFile is the name of the notes in a run directory.
const NotesFile = "notes.jsonl"

// LongestNote is the maximum length of a note's text in characters.
const LongestNote = 4000

// Note is a reader's note on an answer: a line of notes.jsonl. Notes change no figure. They belong to the answer,
// not to the score, so scoring a run again keeps them.
type Note struct {
	Place
	Text     string    `json:"text,omitempty"`
	NotError bool      `json:"not_error,omitempty"` // the instrument's finding is not an error
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

// Notes has the notes of a run by key.
type Notes map[string]Note

// Of returns the note on an observation's answer, or an empty note.
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

// String returns a sentence with the counts, "" if no answer has a note.
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

// ReadNotes returns the notes of a run, none if it has no file of them. If an answer has several, the last counts. A
// line that a crash cut short is left out.
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

// AddNote adds a note to a run. It is on the disk when AddNote returns. Several processes may add notes concurrently.
func AddNote(run string, n Note) error {
	n.Text = strings.TrimSpace(n.Text)
	return newNotes(run).append(n)
}

// dropTorn removes an incomplete last line, which a crash cut short.
func dropTorn(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
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
			return f.Truncate(start + int64(i) + 1)
		}
		end = start
	}
	return f.Truncate(0)
}

// CutShort describes that the last line of a run's labels was cut short, for instance by a crash or an interrupted
// copy, and left out; "" if it was not. A process that is labelling now may be about to complete it. Zeros in place of
// lines, which file systems leave after a power failure, are told as the labels that they probably were.
func CutShort(run string) (string, error) {
	l := NewLog(run)
	if err := l.Refresh(); err != nil || !l.torn {
		return "", err
	}
	text, err := os.ReadFile(l.file)
	if err != nil {
		return "", err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if zeros := bytes.Count(text[end:], []byte{0}); zeros > 0 {
		lost := "all"
		if lines := bytes.Count(text, []byte("\n")); lines > 0 {
			lost = fmt.Sprintf("about %d", max(1, len(text[end:])*lines/end))
		}
		return fmt.Sprintf("%s: its last %d bytes are zeros, as after a power failure: labels that are lost, and to be "+
			"given again: %s", l.file, zeros, lost), nil
	}
	return l.file + ": its last line is cut short and left out: the label in it is to be given again", nil
}

type entry interface {
	check() error
	id() string // identifies its subject
	item() string
	time() time.Time
	empty() bool // it withdraws earlier ones
}

// ledger is a file of JSON Lines that may grow while it is read. The last entry with an id counts.
type ledger[T entry] struct {
	file string
	name string // what entries are called: "label"
	most int64  // limit on the file's bytes
	read int64  // bytes read: whole lines
	n    int    // lines read
	torn bool   // an incomplete line follows

	list []T            // the last entry with each id, in the order of first entries
	turn []int          // the lines of these entries
	at   map[string]int // their indexes by id
}

// Refresh reads what was added since the last call, whole lines only. A shorter file in its place is read from the
// beginning; a missing file has no lines.
func (l *ledger[T]) Refresh() error {
	f, err := plainfile.Open(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() > l.most:
		return fmt.Errorf("%s: is larger than %d MiB", l.file, l.most>>20)
	case info.Size() < l.read || l.at == nil:
		l.read, l.n, l.list, l.turn, l.at = 0, 0, nil, nil, map[string]int{}
	}
	text, err := io.ReadAll(io.NewSectionReader(f, l.read, info.Size()-l.read))
	if err != nil {
		return fmt.Errorf("%s: %w", l.file, err)
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			l.torn = len(line) > 0
			return nil
		}
		var value T
		err := json.Unmarshal(line, &value)
		if err = cmp.Or(err, value.check()); err != nil {
			return fmt.Errorf("%s:%d: invalid %s: %w", l.file, l.n+1, l.name, err)
		}
		i, again := l.at[value.id()]
		if !again {
			i = len(l.list)
			l.at[value.id()] = i
			l.list, l.turn = append(l.list, value), append(l.turn, 0)
		}
		l.list[i], l.turn[i] = value, l.n
		text = rest
		l.read += int64(len(line)) + 1
		l.n++
	}
}

// append adds values to the file, which only its owner may read. They are on the disk when it returns. Several
// processes may append concurrently; a line that a crash cut short is dropped.
func (l *ledger[T]) append(values ...T) error {
	var lines bytes.Buffer
	for _, v := range values {
		if err := v.check(); err != nil {
			return fmt.Errorf("%s on item %s: %w", l.name, v.item(), err)
		}
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	// Without the lock, a line that is being written could be dropped as incomplete.
	if err := plainfile.Check(l.file + ".lock"); err != nil {
		return err
	}
	lock := flock.New(l.file+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("%s: cannot lock: %w", l.file, err)
	}
	defer lock.Close()
	f, err := plainfile.Append(l.file)
	if err != nil {
		return err
	}
	err = dropTorn(f)
	if err == nil {
		_, err = f.Write(lines.Bytes())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: cannot append: %w", l.file, err)
	}
	return nil
}

// merge adds the entries of another ledger that are new or later, and returns their number.
func (l *ledger[T]) merge(other *ledger[T]) (added int, err error) {
	if err := cmp.Or(l.Refresh(), other.Refresh()); err != nil {
		return 0, err
	}
	list := slices.DeleteFunc(other.list, func(v T) bool {
		i, found := l.at[v.id()]
		return found && !v.time().After(l.list[i].time()) || !found && v.empty()
	})
	if len(list) == 0 {
		return 0, nil
	}
	slices.SortStableFunc(list, func(a, b T) int { return a.time().Compare(b.time()) })
	return len(list), l.append(list...)
}
