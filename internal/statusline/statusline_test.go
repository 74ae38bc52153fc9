package statusline

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// write is what a line writes that is first shown, then noted, then shown again.
func write(l *Line) {
	l.Show("1 of 3 files")
	l.Note("a file is missing")
	l.Show("2 of 3 Dateien für später")
	l.Clear()
}

func TestLine(t *testing.T) {
	const again = "\r\x1b[K"
	for _, c := range []struct {
		terminal bool
		width    int
		every    time.Duration
		want     string
	}{
		{false, 0, 10 * time.Second, "1 of 3 files\na file is missing\n2 of 3 Dateien für später\n"},
		{true, 0, 200 * time.Millisecond, again + "1 of 3 files" + again + "a file is missing\n" + again + "2 of 3 Dateien für später" + again},
		{true, 25, 200 * time.Millisecond, again + "1 of 3 files" + again + "a file is missing\n" + again + "2 of 3 Dateien für späte" + again},
		{true, 13, 200 * time.Millisecond, again + "1 of 3 files" + again + "a file is missing\n" + again + "2 of 3 Datei" + again},
	} {
		var b bytes.Buffer
		l := &Line{w: &b, terminal: c.terminal, width: func() int { return c.width }}
		write(l)
		if b.String() != c.want || l.Every() != c.every {
			t.Errorf("%q, every %v; want %q, every %v", b.String(), l.Every(), c.want, c.every)
		}
	}
}

// A buffer, a file and the null device are no terminals.
func TestNoTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if IsTerminal(&bytes.Buffer{}) || IsTerminal(null) || New(null).Terminal() {
		t.Error("a terminal was seen")
	}
}

// Shown soon, then every so often, and not after stop.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := New(io.Discard), new(atomic.Int64)
		stop := l.Repeat(func() { n.Add(1) })
		for _, c := range []struct {
			wait time.Duration
			want int64
		}{{time.Second, 0}, {1500 * time.Millisecond, 1}, {8 * time.Second, 1}, {2 * time.Second, 2}} {
			time.Sleep(c.wait)
			synctest.Wait()
			if n.Load() != c.want {
				t.Errorf("shown %d times, want %d", n.Load(), c.want)
			}
		}
		stop()
		stop()
		time.Sleep(time.Minute)
		if n.Load() != 2 {
			t.Errorf("shown %d times after the end", n.Load())
		}
	})
}
