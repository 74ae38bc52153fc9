package journal

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"crosstalk"
)

// A journal takes in what another one has: an answer in the place of a failure,
// and never in that of an answer.
func TestMerge(t *testing.T) {
	failed := func(i int) Record {
		r := record(i)
		r.Answer.Status, r.Answer.Text, r.Answer.Reason = crosstalk.Failed, "", "timeout"
		return r
	}
	other := record(5)
	other.Answer.Text = "another answer 5"
	old, others := newPath(t), newPath(t)
	version1(t, old, record(1), record(2))
	write(t, others, thoughtful(3), record(4), record(5), failed(6), record(7), failed(8), record(2))

	j := open(t, newPath(t))
	putAll(t, j, failed(4), other, failed(6), record(8))
	for again := range 2 {
		for _, from := range []struct {
			path  string
			asks  int
			twice int
		}{{old, 2, 0}, {others, 7, 1}} {
			merged, err := j.Merge(open2(t, from.path))
			if err != nil || merged != (Merged{from.asks, from.twice}) {
				t.Errorf("merge %d: %+v, %v; want %+v", again, merged, err, from)
			}
		}
		for _, want := range []Record{record(1), record(2), thoughtful(3), record(4), other, failed(6), record(7), record(8)} {
			got, found, err := j.Record(want.Answer.Key)
			if err != nil || !found || !reflect.DeepEqual(got, want) {
				t.Errorf("merge %d: %+v, %v; want %+v", again, got, err, want)
			}
		}
		if p, err := j.Progress(); err != nil || p.Done != 8 || p.Failed != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	}
	putAll(t, j, record(9)) // it works as before
	if got := texts(t, j); len(got) != 9 {
		t.Errorf("%q", got)
	}
}

// A damaged row ends the merge with an error that names it.
func TestMergeDamaged(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1), record(2), record(3))
	execute(t, path, "UPDATE asks SET text = 'forged' WHERE rowid = 2")
	j := open(t, newPath(t))
	var corrupt *CorruptError
	if _, err := j.Merge(open2(t, path)); !errors.As(err, &corrupt) || corrupt.Path != path || corrupt.Row != 2 {
		t.Errorf("%v", err)
	}
	for r, err := range j.All() {
		if err != nil || r.Answer.Text == "forged" {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestProgress(t *testing.T) {
	j := open(t, newPath(t))
	if p, err := j.Progress(); err != nil || p.Done != 0 || !p.Last.IsZero() || p.Rate != 0 {
		t.Errorf("an empty journal: %+v, %v", p, err)
	}
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for i := range 40 {
		r := record(i)
		r.Answer.Time = start.Add(time.Duration(i) * 500 * time.Millisecond)
		r.Answer.Usage = crosstalk.Usage{Prompt: 10, Completion: i % 2}
		switch {
		case i == 0: // long before the others
			r.Answer.Time = start.Add(-time.Hour)
		case i == 39:
			r.Answer.Status = crosstalk.Failed
		}
		putAll(t, j, r)
	}
	p, err := j.Progress()
	want := Progress{Done: 40, Failed: 1, Usage: map[string]crosstalk.Usage{"m": {Prompt: 400, Completion: 20}}, Last: start.Add(39 * 500 * time.Millisecond), Rate: 2}
	if p.Last = p.Last.UTC(); err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
}

// Vacuum makes a journal smaller and keeps what it has, in its order.
func TestVacuum(t *testing.T) {
	path := newPath(t)
	var records []Record
	for i := range 300 {
		r := record(i)
		r.Answer.Raw = slices.Repeat([]byte("raw "), 1000)
		records = append(records, r)
	}
	write(t, path, records...)
	execute(t, path, "DELETE FROM asks WHERE rowid % 3 > 0")
	before, after, err := Vacuum(path)
	if err != nil || after > before/2 {
		t.Errorf("%d bytes, before %d: %v", after, before, err)
	}
	j := open(t, path)
	got := texts(t, j)
	var want []string
	for i := 2; i < 300; i += 3 {
		want = append(want, records[i].Answer.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d answers, want %d", len(got), len(want))
	}
	if _, _, err := Vacuum(path); !errors.Is(err, ErrLocked) {
		t.Errorf("while it is open: %v", err)
	}
	if _, _, err := Vacuum(newPath(t)); err == nil {
		t.Error("made a journal")
	}
}
