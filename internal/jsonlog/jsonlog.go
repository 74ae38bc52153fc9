// Package jsonlog turns what a command writes for people, line by line, into
// structured logs: JSON objects with time, level and msg, one per line.
package jsonlog

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// Writer writes each line that it gets as a record. Lines that begin with
// "note: " are warnings, those with "crosstalk: " errors; the rest, and what Log
// gets, is information. It is safe for concurrent use.
type Writer struct {
	log *slog.Logger

	mu   sync.Mutex
	part []byte // of a line
}

// New returns a writer of logs to w.
func New(w io.Writer) *Writer { return &Writer{log: slog.New(slog.NewJSONHandler(w, nil))} }

// Write implements io.Writer. A line is logged when it has ended.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part = append(w.part, b...)
	for {
		line, rest, ended := bytes.Cut(w.part, []byte("\n"))
		if !ended {
			return len(b), nil
		}
		w.line(string(line))
		w.part = append([]byte(nil), rest...)
	}
}

func (w *Writer) line(text string) {
	text = strings.TrimSpace(text)
	for prefix, level := range map[string]slog.Level{"note: ": slog.LevelWarn, "crosstalk: ": slog.LevelError} {
		if message, is := strings.CutPrefix(text, prefix); is {
			w.log.Log(context.Background(), level, message)
			return
		}
	}
	if text != "" {
		w.log.Info(text)
	}
}

// Log writes a record with attributes: names and values in turn, as slog takes
// them.
func (w *Writer) Log(message string, attributes ...any) { w.log.Info(message, attributes...) }
