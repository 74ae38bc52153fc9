package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
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
	later := record(7) // asked again, and answered in the same way
	later.Answer.Time = later.Answer.Time.Add(time.Hour)
	old, others, third := newPath(t), newPath(t), newPath(t)
	write(t, old, record(1), record(2))
	write(t, others, thoughtful(3), record(4), record(5), failed(6), record(7), failed(8), record(2))

	refused := record(9) // with the same text
	refused.Answer.Status = crosstalk.Refused
	write(t, third, record(9))

	j := open(t, newPath(t))
	putAll(t, j, failed(4), other, failed(6), later, refused, record(8))
	for again := range 2 {
		for _, from := range []struct {
			path string
			want Merged
		}{{old, Merged{Asks: 2}}, {others, Merged{Asks: 7, Twice: 1, Behind: 1}}, {third, Merged{Asks: 1, Twice: 1}}} {
			merged, err := j.Merge(open2(t, from.path))
			if err != nil || merged != from.want {
				t.Errorf("merge %d: %+v, %v; want %+v", again, merged, err, from.want)
			}
		}
		for _, want := range []Record{record(1), record(2), thoughtful(3), record(4), other, failed(6), later, record(8),
			refused} {
			got, found, err := j.Record(want.Answer.Key)
			if err != nil || !found || !reflect.DeepEqual(got, want) {
				t.Errorf("merge %d: %+v, %v; want %+v", again, got, err, want)
			}
		}
		if p, err := j.Progress(); err != nil || p.Done != 9 || p.Failed != 1 {
			t.Errorf("%+v, %v", p, err)
		}
		checkCounts(t, j)
	}
	putAll(t, j, record(10)) // it works as before
	if got := texts(t, j); len(got) != 10 {
		t.Errorf("%q", got)
	}
}

// A damaged row ends the merge with an error that names it.
func TestMergeDamaged(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1), record(2), record(3))
	execute(t, path, "UPDATE asks SET text = 'forged' WHERE rowid = 2")
	j := open(t, newPath(t))
	var corrupt *DamageError
	if _, err := j.Merge(open2(t, path)); !errors.As(err, &corrupt) || corrupt.Path != path || corrupt.Row != 2 {
		t.Errorf("%v", err)
	}
	for r, err := range j.All() {
		if err != nil || r.Answer.Text == "forged" {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// Rows are numbered from 1. A lower number is forged, and no row of it is merged or passed over.
func TestMergeNumbers(t *testing.T) {
	for number, wrong := range map[int64]bool{math.MinInt64: true, math.MinInt64 + 1: true, -1: true, 0: true,
		math.MaxInt64: false} {
		path := newPath(t)
		write(t, path, record(1), record(2), record(3))
		execute(t, path, fmt.Sprintf("UPDATE asks SET rowid = %d WHERE rowid = 2", number))
		j := open(t, newPath(t))
		var corrupt *DamageError
		merged, err := j.Merge(open2(t, path))
		refused := errors.As(err, &corrupt) && corrupt.Path == path && corrupt.Row == number &&
			errors.Is(err, errOrder) && len(texts(t, j)) == 0
		if wrong && !refused || !wrong && (err != nil || merged.Asks != 3) {
			t.Errorf("row %d: %+v, %v, %q", number, merged, err, texts(t, j))
		}
	}
}

// What is wrong with the other file is said of that one.
func TestMergeHole(t *testing.T) {
	path := newPath(t)
	var records []Record
	for i := range 300 {
		records = append(records, record(i))
	}
	write(t, path, records...)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(content[len(content)/2:], bytes.Repeat([]byte{0xa5}, len(content)/2))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, newPath(t)).Merge(open2(t, path))
	if want := path + ": is not a readable journal: put a copy of the file in its place"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}

// What takes the place of the file during a run may be another run's: nothing more is merged into it.
func TestMergeGone(t *testing.T) {
	path, other, from := newPath(t), newPath(t), newPath(t)
	write(t, other, record(1))
	write(t, from, record(2))
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := os.Rename(other, path); err != nil {
		t.Skip(err)
	}
	reader := open2(t, from)
	if _, err := j.Merge(reader); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Skip(err)
	}
	if _, err := j.Merge(reader); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if _, err := reader.Merge(reader); !errors.Is(err, errReading) {
		t.Error(err)
	}
}

// To find out that the disk is not full leaves nothing behind.
func TestNotFull(t *testing.T) {
	j := open(t, newPath(t))
	full := j.full()
	left, err := filepath.Glob(j.path + ".full-*")
	if full || err != nil || len(left) > 0 {
		t.Errorf("%v, %v, %q", full, err, left)
	}
}

// checkCounts compares the counts that a journal keeps with its answers.
func checkCounts(t *testing.T, j *Journal) {
	t.Helper()
	counts := func(sql string) (list []string) {
		err := j.query(sql+" ORDER BY model, status", func(s *sqlite3.Stmt) error {
			if n := s.ColumnInt(2); n != 0 {
				list = append(list, fmt.Sprint(s.ColumnText(0), " ", s.ColumnText(1), ": ", n, " ", s.ColumnInt(3), " ", s.ColumnInt(4)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got, want := counts("SELECT * FROM counts"),
		counts("SELECT model, status, count(*), sum(prompt_tokens), sum(completion_tokens) FROM asks GROUP BY model, status"); !slices.Equal(got, want) {
		t.Errorf("counts are %q, want %q", got, want)
	}
}

// The journal's counts match its rows, whatever replaces what.
func TestCounts(t *testing.T) {
	j := open(t, newPath(t))
	for i, status := range []crosstalk.Status{crosstalk.Failed, crosstalk.Text, crosstalk.Failed, crosstalk.Empty,
		crosstalk.Text, crosstalk.Failed} {
		r := record(i % 4)
		r.Identity.Name = fmt.Sprint("m", i%2)
		r.Answer.Status, r.Answer.Usage = status, crosstalk.Usage{Prompt: 10 + i, Completion: 20 * i}
		putAll(t, j, r)
		checkCounts(t, j)
	}
	if err := j.change(func() error { return errors.Join(j.store(record(9)), errors.New("the disk is full")) }); err == nil {
		t.Error("a change that failed")
	}
	putAll(t, j, record(10))
	checkCounts(t, j)
}

// Large rows, and more of them than are read at a time, come as they are.
func TestMergeMany(t *testing.T) {
	if testing.Short() {
		t.Skip("many rows of one kind")
	}
	path := newPath(t)
	var records []Record
	for i := range spanRows + 1 {
		r := thoughtful(i)
		if i%1000 == 7 {
			r.Answer.Raw = bytes.Repeat([]byte{byte(i)}, spanBytes*(i%4+1)/3)
		}
		records = append(records, r)
	}
	write(t, path, records...)
	j := open(t, newPath(t))
	if merged, err := j.Merge(open2(t, path)); err != nil || merged.Asks != len(records) {
		t.Fatalf("%+v, %v", merged, err)
	}
	i := 0
	for r, err := range j.All() {
		if err != nil || !reflect.DeepEqual(r, records[i]) {
			t.Fatalf("row %d: %v", i, err)
		}
		i++
	}
	if i != len(records) {
		t.Errorf("%d rows, want %d", i, len(records))
	}
}

func TestProgress(t *testing.T) {
	j := open(t, newPath(t))
	if p, err := j.Progress(); err != nil || p.Done != 0 || !p.Last.IsZero() || p.Rate != 0 {
		t.Errorf("an empty journal: %+v, %v", p, err)
	}
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	first := record(99)
	first.Answer.Time = start
	putAll(t, j, first)
	if p, err := j.Progress(); err != nil || p.Done != 1 || !p.Last.Equal(start) || p.Rate != 0 {
		t.Errorf("one answer: %+v, %v", p, err)
	}
	j = open(t, newPath(t))
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
	want := Progress{Done: 40, Failed: 1, Status: map[crosstalk.Status]int{crosstalk.Text: 39, crosstalk.Failed: 1},
		Usage: map[string]crosstalk.Usage{"m": {Prompt: 400, Completion: 20}}, Last: start.Add(39 * 500 * time.Millisecond),
		Rate: 2}
	if p.Last = p.Last.UTC(); err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
}

// The rate covers the last minute, to the millisecond, and at most 500 answers.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		times []int64 // in ms
		rate  float64
	}{
		{[]int64{0, 20_000, 60_000}, 2 / 60.}, {[]int64{0, 30_001, 60_001}, 1 / 30.}, {[]int64{7, 7}, 0},
		{append([]int64{0, 1}, slices.Repeat([]int64{10_000, 12_000}, 250)...), 499 / 2.},
		{append([]int64{0, 2000}, slices.Repeat([]int64{2000}, 498)...), 499 / 2.},
	} {
		j := open(t, newPath(t))
		must(t, j.change(func() error {
			for i, at := range c.times {
				r := record(i)
				r.Answer.Time = time.UnixMilli(at)
				if err := j.store(r); err != nil {
					return err
				}
			}
			return nil
		}))
		if p, err := j.Progress(); err != nil || math.Abs(p.Rate-c.rate) > 1e-9 {
			t.Errorf("%d answers: %v a second, %v; want %v", len(c.times), p.Rate, err, c.rate)
		}
	}
}
