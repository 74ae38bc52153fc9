package study

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/run"
)

// What ends a measurement early says what is saved, and who stopped it.
func TestExplain(t *testing.T) {
	begun := func() *Measurement {
		return &Measurement{Session: ask.NewSession(&ask.Memory{}, ask.Options{}), Dir: &run.Dir{Path: "runs/a"}, Planned: 7,
			study: &Study{}}
	}
	m := begun()
	m.Session.Stop()
	const saved = "interrupted: 0 of 7 requests are answered and saved in runs/a; run the same command again to resume"
	for _, err := range []error{ask.ErrStopped, fmt.Errorf("item 3: %w", context.Canceled)} {
		if got := m.Explain(err); !errors.As(got, new(*InterruptedError)) || got.Error() != saved {
			t.Errorf("%v: %v", err, got)
		}
	}
	for _, err := range []error{errors.New("disk full"), &ReviewError{}, fmt.Errorf("x: %w", journal.ErrGone)} {
		if got := begun().Explain(err); got != err { // nothing is saved
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestMissing(t *testing.T) {
	m := &Measurement{Session: ask.NewSession(&ask.Memory{}, ask.Options{}), study: &Study{}}
	if err := m.Missing(Result{}); err != nil {
		t.Errorf("all is there: %v", err)
	}
	limit := &ask.LimitError{}
	if err := m.Missing(Result{Limit: limit, NotMeasured: 2}); !errors.As(err, new(*IncompleteError)) ||
		!errors.Is(err, limit) ||
		!strings.HasSuffix(err.Error(), "; run the same command again to resume") {
		t.Errorf("%v", err)
	}
	hopeless := &ask.ModelError{Err: errors.New("no key")}
	if err := m.Missing(Result{NotMeasured: 2, Hopeless: []*ask.ModelError{hopeless}}); !errors.As(err,
		new(*IncompleteError)) ||
		!strings.HasPrefix(err.Error(), "2 of 0 items were not measured: ") {
		t.Errorf("%v", err)
	}
}

func TestRemarks(t *testing.T) {
	var s Study
	s.Notes.say("a.csv: reading x as y")
	for i := range 12 {
		s.Notes.add(fmt.Sprint("row ", i))
	}
	s.thought.Store(3)
	got := s.Remarks()
	if len(got) != 13 || got[0] != "a.csv: reading x as y" || got[1] != "row 0" || got[11] != "and 2 more like these" || !strings.HasPrefix(got[12], "note: 3 answers had ") {
		t.Errorf("%q", got)
	}
}
