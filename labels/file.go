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
	"slices"
	"time"

	"crosstalk/internal/plainfile"

	"github.com/gofrs/flock"
)

// dropTorn removes the end of a line that a crash cut short.
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

// CutShort says that the last line of a run's labels was cut short, as by a crash or a copy that broke off, so that
// it is left out; "" if it was not. A person who is labelling now may be about to end it.
func CutShort(run string) (string, error) {
	l := NewLog(run)
	if err := l.Refresh(); err != nil || !l.torn {
		return "", err
	}
	return l.file + ": its last line is cut short and left out: the label in it is to be given again", nil
}

type entry interface {
	check() error
	id() string // of what it is about
	item() string
	time() time.Time
	empty() bool // it withdraws those before
}

// ledger is a file of JSON Lines that may grow while it is read. Of the entries with the
// same id the last one counts.
type ledger[T entry] struct {
	file string
	name string // of an entry: "label"
	most int64  // bytes that the file may have
	read int64  // bytes: whole lines
	n    int    // lines that were read
	torn bool   // there is part of another line

	list []T            // the last entry of each id, in the order of the first ones
	turn []int          // the lines that these are in
	at   map[string]int // their places by id
}

// Refresh reads what was added since the last call, whole lines only. A file in its
// place that is shorter is read from its beginning; one that does not exist has no lines.
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
// processes may append at once; a line that a crash cut short is dropped.
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
	// Without the lock, a line that is being written could be dropped as a torn one.
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

// merge adds the entries of another ledger that are new or later, and counts them.
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
