package labels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"crosstalk/internal/plainfile"
)

// Log follows the labels of a run while they are added, by this process or by
// others. It is for one goroutine at a time.
type Log struct {
	file string
	read int64 // bytes: whole lines
	line int   // number of lines

	list []Label // of several by one annotator for one question the last
	at   map[[2]string]int
	turn []int // of each label: the line that gave it
}

// NewLog returns a log of a run's labels, without labels until Refresh.
func NewLog(run string) *Log {
	return &Log{file: filepath.Join(run, File), at: map[[2]string]int{}}
}

// maxFile bounds labels.jsonl: about a million labels.
const maxFile = 512 << 20 // bytes

// Refresh reads the labels that were added. No file of labels has none.
func (l *Log) Refresh() error {
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
	case info.Size() > maxFile:
		return fmt.Errorf("%s: is larger than %d MiB", l.file, maxFile>>20)
	case info.Size() < l.read: // another file is in its place
		*l = Log{file: l.file, at: map[[2]string]int{}}
	}
	text, err := io.ReadAll(io.NewSectionReader(f, l.read, info.Size()-l.read))
	if err != nil {
		return fmt.Errorf("%s: %w", l.file, err)
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return nil
		}
		var label Label
		if err := json.Unmarshal(line, &label); err != nil {
			return fmt.Errorf("%s:%d: invalid label: %w", l.file, l.line+1, err)
		}
		if err := label.check(); err != nil {
			return fmt.Errorf("%s:%d: %w", l.file, l.line+1, err)
		}
		l.add(label)
		text = rest
		l.read += int64(len(line)) + 1
		l.line++
	}
}

func (l *Log) add(label Label) {
	id := [2]string{label.Annotator, label.Key()}
	i, again := l.at[id]
	if !again {
		i = len(l.list)
		l.at[id] = i
		l.list, l.turn = append(l.list, Label{}), append(l.turn, 0)
	}
	l.list[i], l.turn[i] = label, l.line
}

// Labels are all that count, in the order in which questions were first answered.
func (l *Log) Labels() (list []Label) {
	for _, label := range l.list {
		if label.Label != "" {
			list = append(list, label)
		}
	}
	return list
}

// Find returns an annotator's last label of a unit, which may be a withdrawn one
// (with an empty Label), and its place in the file: later ones are larger.
func (l *Log) Find(annotator, key string) (label Label, turn int, found bool) {
	i, found := l.at[[2]string{annotator, key}]
	if !found {
		return label, 0, false
	}
	return l.list[i], l.turn[i], true
}
