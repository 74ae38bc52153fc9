// Package statusline shows progress: a line that is rewritten on a terminal, or an
// occasional plain line elsewhere, such as in the log of a batch job.
package statusline

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Line is a status line.
type Line struct {
	w        io.Writer
	terminal bool
	width    func() int // columns, 0 if unknown
}

// New returns the status line on w.
func New(w io.Writer) *Line {
	l := &Line{w: w, terminal: IsTerminal(w), width: func() int { return 0 }}
	if f, ok := w.(*os.File); ok && l.terminal {
		l.width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	return l
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Terminal reports whether the line is rewritten.
func (l *Line) Terminal() bool { return l.terminal }

// Every is the time between two calls of Show.
func (l *Line) Every() time.Duration {
	if l.terminal {
		return 200 * time.Millisecond
	}
	return 10 * time.Second
}

// Show replaces the line. On a terminal it is cut to the width: a wrapped line could not be rewritten.
func (l *Line) Show(text string) {
	if !l.terminal {
		fmt.Fprintln(l.w, text)
		return
	}
	if width := l.width(); width > 0 {
		if runes := []rune(text); len(runes) >= width {
			text = string(runes[:width-1])
		}
	}
	fmt.Fprint(l.w, "\r\x1b[K", text)
}

// Repeat calls show soon, and then repeatedly until stop is called. stop may be called more than once.
func (l *Line) Repeat(show func()) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTimer(min(l.Every(), 2*time.Second))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
				tick.Reset(l.Every())
			case <-done:
				l.Clear()
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}

// Note writes a permanent line.
func (l *Line) Note(text string) {
	l.Clear()
	fmt.Fprintln(l.w, text)
}

// Clear removes the line from a terminal.
func (l *Line) Clear() {
	if l.terminal {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}
