package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"crosstalk/guard"
)

// event is a verdict, or that there is none, as it is logged, counted and shown: without the text.
type event struct {
	Time     time.Time       `json:"time"`
	ID       json.RawMessage `json:"id,omitempty"` // of the record
	Call     string          `json:"call,omitempty"`
	Route    string          `json:"route"` // check, stream, litellm, promptfoo, portkey
	Model    string          `json:"model,omitempty"`
	Team     string          `json:"team,omitempty"`
	Expected string          `json:"expected"` // empty: not known
	Language string          `json:"language"` // found
	Verdict  guard.Verdict   `json:"verdict"`  // or unchecked
	Reason   string          `json:"reason,omitempty"`
	P        float64         `json:"p"`
	Action   string          `json:"action"`
	Spans    []guard.Span    `json:"spans"`
	MS       float64         `json:"ms"` // time to judge the text, in milliseconds
}

// unchecked is the verdict of an event about what passed without a check.
const unchecked guard.Verdict = "unchecked"

// sent holds what callers send about an answer besides its text.
type sent struct{ Model, Team string }

// of returns the event of a verdict.
func (s sent) of(route, call string, v Verdict) event {
	return event{Route: route, Call: call, Model: label(s.Model), Team: label(s.Team), ID: short(v.ID),
		Expected: label(v.Expected), Language: v.Language, Verdict: v.Verdict, P: v.P, Action: v.Action,
		Spans: slices.Clone(v.Spans[:min(len(v.Spans), mostSpans)]),
		MS:    float64(v.took) / float64(time.Millisecond)}
}

// label shortens a name that a caller sends, and leaves out what a log or a metric cannot have.
func label(name string) string {
	const most = 100
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name[:min(len(name), most)])
}

// short leaves out an id that is too long for a log.
func short(id json.RawMessage) json.RawMessage {
	if len(id) > mostCallID {
		return nil
	}
	return id
}

// mostLog is the size at which a log of verdicts begins anew, in bytes. What it had is kept as FILE.1.
const mostLog = 64 << 20

// mostSpans is how many parts of an answer an event has.
const mostSpans = 20

// mostRecent is how many verdicts are kept to be shown.
const mostRecent = 50

// verdicts logs and keeps the last verdicts.
type verdicts struct {
	path   string // empty: no log
	most   int64
	report io.Writer // of errors

	mu     sync.Mutex
	failed bool
	recent []event // the newest last
}

func (l *verdicts) add(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent = append(l.recent, e)
	l.recent = l.recent[max(0, len(l.recent)-mostRecent):]
	if l.path == "" {
		return
	}
	if e.Spans == nil {
		e.Spans = []guard.Span{}
	}
	line, err := json.Marshal(e)
	if err == nil {
		err = l.write(append(line, '\n'))
	}
	if err != nil && !l.failed && l.report != nil {
		fmt.Fprintf(l.report, "The log of verdicts cannot be written; the service goes on without it: %v\n", err)
	}
	l.failed = err != nil
}

// write appends a line to the log, if there is one. It opens the file each time: another program may move it away.
func (l *verdicts) write(line []byte) error {
	if l.path == "" {
		return nil
	}
	if info, err := os.Stat(l.path); err == nil && info.Size() > 0 && info.Size()+int64(len(line)) > l.most {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

// last returns the last verdicts, the newest first.
func (l *verdicts) last() []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.recent)
	slices.Reverse(all)
	return all
}
