//go:build unix

package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"crosstalk"
	"crosstalk/internal/plainfile"
	"crosstalk/internal/rescue"
	"crosstalk/run"
)

// Observations that are no regular file are refused at once.
func TestNotPlain(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(3))
	file := filepath.Join(dir, "observations.jsonl")
	elsewhere := filepath.Join(t.TempDir(), "observations.jsonl")
	if err := os.Rename(file, elsewhere); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"a link":      func() error { return os.Symlink(elsewhere, file) },
		"a FIFO":      func() error { return syscall.Mkfifo(file, 0o600) },
		"a directory": func() error { return os.Mkdir(file, 0o700) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, t.TempDir(), &book{}); !errors.Is(err, plainfile.ErrNotPlain) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// An index of observations that are not those of the run says so and is not
// kept.
func TestChangedObservations(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d, err := run.Create(dir, run.Recorded("leakage", "s@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range answered(5) {
		if err := r.AddAt(o, run.Place{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Commit(), d.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil), d.Close()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, t.TempDir()).Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, answered(4))
	for range 2 {
		x, err := Open(dir, t.TempDir(), &book{})
		if err != nil {
			t.Fatal(err)
		}
		changed := (*run.ChangedError)(nil)
		if err := x.Wait(t.Context()); !errors.As(err, &changed) || changed.Want != 10 || changed.Got != 8 {
			t.Errorf("%v", err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A sparse file of any size is refused without reading it.
func TestHole(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(1))
	if err := os.Truncate(filepath.Join(dir, "observations.jsonl"), 60<<30); err != nil {
		t.Skip(err)
	}
	x, err := Open(dir, t.TempDir(), &book{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Wait(t.Context()); err == nil || !strings.HasSuffix(err.Error(), `:3: invalid character '\x00' looking for beginning of value`) {
		t.Errorf("%v", err)
	}
}

// broken is a book with a defect.
type broken struct{ book }

func (b *broken) Pages() ([]byte, error) { panic("broken") }

// A plot that cannot be drawn is an error of the index; the server goes on.
func TestBrokenPlot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(3))
	x, err := Open(dir, t.TempDir(), &broken{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Wait(t.Context()); !errors.As(err, new(*rescue.PanicError)) {
		t.Errorf("%v", err)
	}
}
