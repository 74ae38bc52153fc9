package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk"

	"github.com/google/go-cmp/cmp"
)

// record is the i-th of a number of different records.
func record(i int) Record {
	r := Record{
		Identity: crosstalk.Identity{Provider: "test", Endpoint: "http://localhost/v1", Name: "m"},
		Request:  crosstalk.Request{API: crosstalk.Completions, Prompt: "ask", Sample: i},
		Answer: crosstalk.Answer{Status: crosstalk.Text, Text: fmt.Sprint("answer ", i), Attempts: 1,
			Time: time.UnixMilli(int64(i)).UTC()},
	}
	r.Answer.Key = crosstalk.KeyOf(r.Identity, r.Request)
	return r
}

func open(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "answers.db") }

func putAll(t *testing.T, j *Journal, records ...Record) {
	t.Helper()
	for _, r := range records {
		if err := j.Put(r); err != nil {
			t.Fatal(err)
		}
	}
}

// texts are the texts of all answers in the order of arrival.
func texts(t *testing.T, j *Journal) (all []string) {
	t.Helper()
	for r, err := range j.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Answer.Text)
	}
	return all
}

// Get returns what Put stored, before and after the journal was closed.
func TestRoundTrip(t *testing.T) {
	half, seed := 0.5, int64(-7)
	full := record(0)
	full.Request = crosstalk.Request{API: crosstalk.Chat,
		Messages: []crosstalk.Message{{Role: "user", Content: "<é>\x00\n\""}}, Sample: 3, Logprobs: 2,
		Decoding: crosstalk.Decoding{Temperature: &half, TopP: &half, MaxTokens: 9, Seed: &seed, Stop: []string{"."},
			Extra: map[string]any{"k": []any{"v", 1.0, nil}}}}
	full.Answer = crosstalk.Answer{Key: crosstalk.KeyOf(full.Identity, full.Request), Status: crosstalk.Refused,
		Text: "nul\x00 and \xff no UTF-8", Reason: "why",
		Model: "m-2024", Usage: crosstalk.Usage{Prompt: 1, Completion: 2, Reasoning: 3},
		Raw: json.RawMessage("{\"raw\":\x00\xfe}"), Latency: 123456789, Attempts: 4,
		Time: time.Date(2024, 2, 29, 1, 2, 3, 4e6, time.UTC),
		Logprobs: []crosstalk.TokenLogprob{{Token: "a", Logprob: -0.1,
			Top: []crosstalk.CandidateLogprob{{Token: "b", Logprob: -2}}}}}
	bare := Record{Answer: crosstalk.Answer{Status: crosstalk.Empty, Time: time.UnixMilli(0).UTC()}}
	bare.Answer.Key = crosstalk.KeyOf(bare.Identity, bare.Request)
	want := []Record{full, bare, record(1)}

	path := newPath(t)
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, j, want...)
	check := func(j *Journal) {
		t.Helper()
		i := 0
		for r, err := range j.All() {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[i], r); diff != "" {
				t.Errorf("record %d: %s", i, diff)
			}
			i++
		}
		for i, w := range want {
			a, found, err := j.Get(w.Answer.Key)
			if diff := cmp.Diff(w.Answer, a); err != nil || !found || diff != "" {
				t.Errorf("answer %d: %v, %v, %s", i, found, err, diff)
			}
		}
		if a, found, err := j.Get(crosstalk.Key{1}); found || err != nil {
			t.Errorf("an answer to nothing: %+v, %v", a, err)
		}
	}
	check(j)
	beside, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	check(beside)
	if err := beside.Put(record(2)); err == nil || !strings.Contains(err.Error(), "for reading only") {
		t.Errorf("a reader's Put: %v", err)
	}
	if err := errors.Join(j.Close(), beside.Close()); err != nil {
		t.Fatal(err)
	}
	check(open(t, path))
}

// A later answer replaces a failed one and nothing else.
func TestOnlyFailedAnswersAreReplaced(t *testing.T) {
	j := open(t, newPath(t))
	r := record(1)
	for i, step := range []struct {
		status   crosstalk.Status
		text     string
		want     string
		status2  crosstalk.Status
		attempts int
	}{
		{crosstalk.Failed, "", "", crosstalk.Failed, 2},
		{crosstalk.Failed, "", "", crosstalk.Failed, 4},
		{crosstalk.Text, "first", "first", crosstalk.Text, 6},
		{crosstalk.Text, "second", "first", crosstalk.Text, 6},
		{crosstalk.Failed, "", "first", crosstalk.Text, 6},
	} {
		r.Answer.Status, r.Answer.Text, r.Answer.Attempts = step.status, step.text, 2
		r.Answer.Raw = json.RawMessage(step.text)
		putAll(t, j, r)
		a, _, err := j.Get(r.Answer.Key)
		if err != nil || a.Text != step.want || a.Status != step.status2 || a.Attempts != step.attempts ||
			string(a.Raw) != step.want {
			t.Errorf("step %d: %+v, %v", i, a, err)
		}
	}
}

// Puts that come while one is written are written together.
func TestGroupCommit(t *testing.T) {
	j := open(t, newPath(t))
	const n = 100
	commits, first, release := 0, make(chan struct{}), make(chan struct{})
	j.writer.CommitHook(func() bool {
		if commits++; commits == 1 {
			close(first)
			<-release
		}
		return true
	})
	var group sync.WaitGroup
	group.Go(func() { putAll(t, j, record(0)) })
	<-first
	for i := 1; i <= n; i++ {
		group.Go(func() { putAll(t, j, record(i)) })
	}
	for len(j.puts) < n {
		time.Sleep(time.Millisecond)
	}
	close(release)
	group.Wait()
	if commits != 2 || len(texts(t, j)) != n+1 {
		t.Errorf("%d commits of %d answers", commits, len(texts(t, j)))
	}
}

// An answer can be read by others when Put has returned, and not before it is
// committed.
func TestCommittedBeforeUse(t *testing.T) {
	path := newPath(t)
	j := open(t, path)
	reader, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	committing, release := make(chan struct{}), make(chan struct{})
	j.writer.CommitHook(func() bool { close(committing); <-release; return true })
	done := make(chan error)
	go func() { done <- j.Put(record(1)) }()
	<-committing
	for _, r := range []*Journal{j, reader} {
		if _, found, err := r.Get(record(1).Answer.Key); found || err != nil {
			t.Errorf("before the commit: %v, %v", found, err)
		}
	}
	select {
	case <-done:
		t.Error("Put returned before the commit")
	default:
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, found, err := reader.Get(record(1).Answer.Key); !found || err != nil {
		t.Errorf("after the commit: %v, %v", found, err)
	}
}

// A commit that fails is told to all whose answers were in it; the next works.
func TestFailedCommit(t *testing.T) {
	j := open(t, newPath(t))
	fail, first, release := true, make(chan struct{}), make(chan struct{})
	var once sync.Once
	j.writer.CommitHook(func() bool {
		once.Do(func() { close(first); <-release })
		return !fail
	})
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			if err := j.Put(record(i)); err == nil || !strings.Contains(err.Error(), j.path) {
				t.Errorf("%v; want an error that names the file", err)
			}
		})
	}
	<-first
	close(release)
	group.Wait()
	fail = false
	putAll(t, j, record(0))
	if got := texts(t, j); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestConcurrentPutAndGet(t *testing.T) {
	path := newPath(t)
	j := open(t, path)
	reader, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := range 40 {
				r := record(i*4 + w/2) // each is put twice
				if err := j.Put(r); err != nil {
					t.Error(err)
				}
				for _, from := range []*Journal{j, reader} {
					if a, found, err := from.Get(r.Answer.Key); !found || err != nil || a.Text != r.Answer.Text {
						t.Errorf("%+v, %v, %v", a, found, err)
					}
				}
			}
		})
	}
	group.Go(func() {
		for range 20 {
			texts(t, j)
		}
	})
	group.Wait()
	if got := texts(t, j); len(got) != 160 {
		t.Errorf("%d answers", len(got))
	}
}

// Close during Puts neither hangs, panics nor loses what was confirmed.
func TestClose(t *testing.T) {
	for range 10 {
		path := newPath(t)
		j, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		confirmed := 0
		var group sync.WaitGroup
		started := make(chan struct{}, 600)
		for i := range 600 {
			group.Go(func() {
				started <- struct{}{}
				err := j.Put(record(i))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					confirmed++
				} else if !errors.Is(err, errClosed) {
					t.Error(err)
				}
			})
		}
		for range 300 {
			<-started
		}
		if err := errors.Join(j.Close(), j.Close()); err != nil {
			t.Error(err)
		}
		group.Wait()
		if _, _, err := j.Get(crosstalk.Key{}); !errors.Is(err, errClosed) {
			t.Errorf("Get after Close: %v", err)
		}
		for _, err := range j.All() {
			if !errors.Is(err, errClosed) {
				t.Errorf("All after Close: %v", err)
			}
		}
		if err := j.Put(record(0)); !errors.Is(err, errClosed) {
			t.Errorf("Put after Close: %v", err)
		}
		j = open(t, path)
		if got := len(texts(t, j)); got != confirmed {
			t.Errorf("%d answers; %d were confirmed", got, confirmed)
		}
	}
}

func TestOneWriter(t *testing.T) {
	path := newPath(t)
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, j, record(1))
	for range 3 {
		if _, err := Open(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v", err)
		}
	}
	putAll(t, j, record(2)) // the refused did no harm
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, open(t, path)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}
