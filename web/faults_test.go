package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/labels"
	"crosstalk/run"
	"crosstalk/run/shard"
	"crosstalk/web/index"
)

// faulty is the context of a request in which one reading fails: the one that finds none left.
type faulty struct {
	context.Context
	left atomic.Int64
}

func (f *faulty) Err() error {
	if f.left.Add(-1) == 0 {
		return context.Canceled
	}
	return nil
}

// If any reading of the index fails, the page is an error or reports what is missing.
func TestFailedReadings(t *testing.T) {
	dir := t.TempDir()
	sheetRun(t, filepath.Join(dir, "a"), 1, "rwrw")
	sheetRun(t, filepath.Join(dir, "b"), 2, "rwwr")
	s := newServer(t, dir, Options{})
	a, b := idOf("a"), idOf("b")
	built(t, s, a)
	built(t, s, b)
	post(s, "/runs/"+a+"/answers/2/note", "mark=1&text=a+note")
	get(s, "/compare?a="+a+"&b="+b) // computes the figures in the background
	for _, page := range []struct {
		target string
		handle func(http.ResponseWriter, *http.Request) error
	}{
		{"/runs/A", s.ofRun(s.run)}, {"/runs/A/answers?is.language=de", s.ofRun(s.answers)}, {"/runs/A/answers?noted=note", s.ofRun(s.answers)},
		{"/runs/A/answers.csv", s.ofRun(s.download)},
		{"/runs/A/answers.jsonl", s.ofRun(s.download)}, {"/compare?a=A", s.compare},
		{"/compare?a=A&b=B&show=all", s.compare}, {"/compare?a=B&b=B", s.compare},
	} {
		// ask writes the page with one failed reading. more reports whether the page makes further ones.
		ask := func(without int64) (body string, more bool, err error) {
			for _, l := range s.runs.runs {
				l.notes = &notebook{}
			}
			ctx := &faulty{Context: t.Context()}
			ctx.left.Store(without)
			r := httptest.NewRequest("GET", strings.NewReplacer("A", a, "B", b).Replace(page.target), nil).WithContext(ctx)
			r.SetPathValue("run", a)
			r.SetPathValue("number", "1")
			w := httptest.NewRecorder()
			defer func() {
				if r := recover(); r == http.ErrAbortHandler { // the file is incomplete
					err = http.ErrAbortHandler
				} else if r != nil {
					panic(r)
				}
			}()
			err = page.handle(w, r)
			return w.Body.String(), ctx.left.Load() <= 0, err
		}
		whole, _, err := ask(1 << 40)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for n := int64(1); ; n += 3 { // each reading asks the context several times
			body, more, err := ask(n)
			if !more {
				break
			}
			if err != nil {
				failed++
			} else if body != whole && !strings.Contains(body, "Cannot read the notes") {
				t.Errorf("%s is another page without its reading %d", page.target, n)
			}
		}
		if failed == 0 {
			t.Errorf("%s does without all its readings", page.target)
		}
	}
}

// A list of runs of all kinds: those that differ by their date only are one entry, and so are shards.
func TestSheetOfLists(t *testing.T) {
	dir := t.TempDir()
	day := 0
	date := func(name string) {
		day++
		when := time.Date(2024, 5, 1, day, 0, 0, 0, time.UTC)
		for _, file := range []string{"manifest.json", "estimates.json"} {
			if err := os.Chtimes(filepath.Join(dir, name, file), when, when); err != nil && file == "manifest.json" {
				t.Fatal(err)
			}
		}
	}
	write := func(name string, plan run.Plan, finished bool, estimates ...crosstalk.Estimate) {
		t.Helper()
		d, err := run.Create(filepath.Join(dir, name), plan)
		if err != nil {
			t.Fatal(err)
		}
		recordAll(t, d)
		if finished {
			err = d.WriteEstimates(estimates)
		}
		if err := errors.Join(err, d.Close()); err != nil {
			t.Fatal(err)
		}
		date(name)
	}
	figure := func(measure, model, signature string, value float64) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(value), N: 10, Observations: 10,
			Better: crosstalk.Higher, Signature: signature, By: map[string]string{"model": model, "task": "monolingual", "language": "all"},
			Interval: &crosstalk.Interval{Low: value - .1, High: value + .1, Level: .95}}
	}
	for i := range 5 {
		write(fmt.Sprintf("night-2024050%d", i+1), run.Recorded("confusion", fmt.Sprintf("file-%d@1", i), "m"), true,
			figure("lpr", "m", "s", .5+.05*float64(i)))
		write(fmt.Sprintf("suite-2024050%d", i+1), run.Plan{Instrument: "confusion", Suite: fmt.Sprintf("suite-%d@1", i/4),
			Conditions: []run.Condition{{Model: crosstalk.Identity{Provider: "test", Name: "n"}}}}, true, figure("lpr", "n", "s", .5))
		write(fmt.Sprintf("differs/%d", i), run.Recorded("confusion", "file@1", "d"), true, figure("lpr", "d", fmt.Sprint("s", i), .5))
	}
	many := []crosstalk.Estimate{}
	for i := range 5 {
		for _, measure := range []string{"lpr", "wpr", "lcpr", "wer", "faults"} {
			many = append(many, figure(measure, fmt.Sprint("model-", i), "s", .5+.05*float64(i)))
		}
	}
	write("Many", run.Recorded("confusion", "many@1", "model"), true, many...)
	write("night-20240506", run.Recorded("confusion", "file-5@1", "m"), false)
	write("open", run.Recorded("leakage", "Nightly@1", "m"), false)
	write("broken", run.Recorded("confusion", "broken@1", "m"), true)
	if err := os.WriteFile(filepath.Join(dir, "broken", "estimates.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	date("broken")
	for i, finished := range []bool{true, true, false} {
		of := shard.Shard{Index: 1 + i, Count: 3}
		plan := run.Recorded("confusion", "sharded@1", "m")
		plan.Shard = of
		write("sweep/"+filepath.Base(of.Dir("x")), plan, finished, figure("lpr", "m", "s", .5))
	}
	s := newServer(t, dir, Options{})
	var sheet strings.Builder
	for _, target := range []string{"/", "/?q=NIGHT", "/?q=+night-+&sort=run", "/?sort=measured", "/?sort=models", "/?sort=state", "/?q=many@1", "/?q=+"} {
		w := get(s, target)
		_, body, _ := strings.Cut(dates.ReplaceAllString(drawings.ReplaceAllString(w.Body.String(), "CHART"), "WHEN"), "<main")
		fmt.Fprintf(&sheet, "=== %s %d\n", target, w.Code)
		for _, row := range strings.Split(body, "<li")[1:] { // one entry a line
			row, _, _ = strings.Cut(row, "</form>")
			fmt.Fprintln(&sheet, strings.Join(strings.Fields(tags.ReplaceAllString("<li"+row, " ")), " "))
		}
	}
	golden.Check(t, "testdata/lists.txt", sheet.String())

	// Changes on the disk show, and unchanged files are not read again.
	runs, err := s.listing.all()
	if err != nil {
		t.Fatal(err)
	}
	again(s)
	day = 30
	date("Many")
	now, err := s.listing.all()
	if err != nil || len(now) != len(runs) || now[0].Name != "Many" || now[0].Changed.UTC().Day() != 2 {
		t.Fatalf("%s of %v, %v", now[0].Name, now[0].Changed, err)
	}
	same := 0
	for _, r := range runs {
		for _, x := range now {
			if r == x {
				same++
			}
		}
	}
	if same != len(runs)-1 {
		t.Errorf("%d of %d runs were not read again", same, len(runs))
	}
	// The directory may be a run itself.
	s = newServer(t, filepath.Join(dir, "Many"), Options{})
	if runs, err := s.listing.all(); err != nil || len(runs) != 1 || runs[0].Name != "Many" || runs[0].ID != idOf(".") {
		t.Errorf("%+v, %v", runs, err)
	}
	if got, want := ItemPath("a b&c"), "/runs/"+idOf(".")+"/answers?q=a+b%26c"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Both sides of a comparison can be filtered by the columns of items that both have.
func TestCommonColumns(t *testing.T) {
	columns := func(names ...string) (list []index.Column) {
		for _, n := range names {
			list = append(list, index.Column{Name: n})
		}
		return list
	}
	entry := &runEntry{}
	entry.Manifest.Plan.Instrument = "confusion"
	for _, c := range []struct {
		a, b []index.Column
		in   [2]map[string]string
		want string
	}{
		{columns("language", "task"), columns("task", "language", "model", "odd"), [2]map[string]string{}, "task language"},
		{columns("language"), columns("task", "language"), [2]map[string]string{}, "language"},
		{columns("language", "task"), columns("task"), [2]map[string]string{}, "task"},
		{columns("language", "task"), columns("language", "task"), [2]map[string]string{{"task": "x"}, nil}, "language"},
		{columns("language", "task"), columns("language", "task"), [2]map[string]string{nil, {"language": "x"}}, "task"},
		{columns(), columns("language"), [2]map[string]string{}, ""},
	} {
		p := comparePage{A: side{Run: entry, columns: c.a, Condition: c.in[0]},
			B: side{Run: entry, columns: c.b, Condition: c.in[1]}}
		var got []string
		for _, column := range p.common() {
			got = append(got, column.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v and %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// With unreadable notes, pages still show answers, but no note is added and nothing is downloaded.
func TestUnreadableNotes(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "mine"), judged("m", "rw"))
	file := filepath.Join(dir, "mine", labels.NotesFile)
	if err := os.WriteFile(file, []byte("odd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, dir, Options{})
	built(t, s, idOf("mine"))
	page := "/runs/" + idOf("mine") + "/answers"
	if code, _ := post(s, page+"/1/note", "text=x"); code != http.StatusInternalServerError {
		t.Errorf("a note: %d", code)
	}
	if data, err := os.ReadFile(file); string(data) != "odd\n" {
		t.Errorf("%q, %v", data, err)
	}
	if w := get(s, page+".csv"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "notes.jsonl:1: ") {
		t.Errorf("a file: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{page, page + "/1", "/runs/" + idOf("mine")} {
		if w := get(s, target); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "notes.jsonl:1: ") ||
			strings.Contains(strings.ReplaceAll(w.Body.String(), "crosstalk report "+dir, ""), dir) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// A note on a removed run is not kept, and no index is written outside the cache.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "mine"), judged("m", "rw"))
	s := newServer(t, dir, Options{})
	built(t, s, idOf("mine"))
	r, err := s.listing.run(idOf("mine"))
	if err != nil {
		t.Fatal(err)
	}
	_, done := s.runs.open(r) // a reader holds it
	defer done()
	if err := os.RemoveAll(r.path); err != nil {
		t.Fatal(err)
	}
	s.listing.when = time.Now().Add(time.Hour) // keeps the listing from reading again
	if code, _ := post(s, "/runs/"+idOf("mine")+"/answers/1/note", "text=x"); code != http.StatusNotFound {
		t.Errorf("a note: %d", code)
	}
	for home, want := range map[string]string{dir: filepath.Join(dir, "crosstalk", "browse"), "": filepath.Join(dir, "crosstalk-")} {
		t.Setenv("XDG_CACHE_HOME", home)
		t.Setenv("HOME", "")
		t.Setenv("TMPDIR", dir)
		s, err := New(dir, Options{})
		if err != nil || !strings.HasPrefix(s.runs.cache, want) || filepath.Base(s.runs.cache) != "browse" {
			t.Errorf("%q, %v; want %s", s.runs.cache, err, want)
		}
	}
}

// The index of a run is closed when it makes room for others.
func TestRoomForOthers(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "mine"), judged("m", "rw"))
	o := openRuns{cache: t.TempDir()}
	defer o.close()
	l, done := o.open(&runEntry{ID: "mine", path: filepath.Join(dir, "mine")})
	if err := l.index.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	done()
	for i := range mostOpen {
		_, done := o.open(&runEntry{ID: fmt.Sprint(i), path: filepath.Join(dir, fmt.Sprint(i))})
		done()
	}
	for end := time.Now().Add(20 * time.Second); openFiles(t, dir) != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left open: %v", openFiles(t, dir))
		}
	}
}

// A comparison in a file lists the first 200 changed items, and a failed write is an error.
func TestComparisonFile(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "old"), judged("m", strings.Repeat("r", 201)))
	judgedRun(t, filepath.Join(dir, "new"), judged("m", strings.Repeat("w", 201)))
	judgedRun(t, filepath.Join(dir, "damaged"), judged("m", "r"))
	makeRun(t, filepath.Join(dir, "folder"), "confusion", judged("m", "r"))
	judgedRun(t, filepath.Join(dir, "bad"), judged("m", "r"))
	observations := filepath.Join(dir, "folder", "observations.jsonl")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "bad", "observations.jsonl"), []byte("odd\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "damaged", "estimates.json"), []byte("{"), 0o600), os.Remove(observations),
		os.Mkdir(observations, 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	result := comparedRuns(t, filepath.Join(dir, "old"), filepath.Join(dir, "new"))
	write := func(ctx context.Context, before, after string) (string, error) {
		var file strings.Builder
		err := WriteComparison(ctx, &file, filepath.Join(dir, before), filepath.Join(dir, after), result)
		return file.String(), err
	}
	text, err := write(t.Context(), "old", "new")
	if err != nil || !strings.Contains(text, "1–200 of 201 items") || strings.Count(text, `<span class="badge broken">`) != 200 ||
		strings.Contains(text, `href="/`) {
		t.Errorf("%v in %d bytes", err, len(text))
	}
	if left, err := filepath.Glob("*.db*"); left != nil || err != nil {
		t.Errorf("%v are in the working directory; %v", left, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx           context.Context
		before, after string
		want          string
	}{
		{t.Context(), "old", "damaged", "damaged: " + filepath.Join(dir, "damaged", "estimates.json") + ": invalid estimates: unexpected end"},
		{t.Context(), "folder", "old", "folder has no answers yet."}, {t.Context(), "old", "folder", "folder has no answers yet."},
		{t.Context(), "bad", "old", "observations.jsonl:1: invalid"},
		{t.Context(), "none", "old", "none"}, {gone, "old", "new", "context canceled"},
	} {
		if text, err := write(c.ctx, c.before, c.after); err == nil || text != "" || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "Cannot index") {
			t.Errorf("%s and %s: %v after %q; want %s", c.before, c.after, err, text, c.want)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if _, err := write(t.Context(), "old", "new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a temporary folder: %v", err)
	}
}

// Pages show 300 runs at most; the search finds the others.
func TestManyRuns(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "run-000"), judged("m", "r"))
	for i := 1; i <= mostRows; i++ {
		other := filepath.Join(dir, fmt.Sprintf("run-%03d", i))
		if err := os.Mkdir(other, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"manifest.json", "estimates.json"} {
			data, err := os.ReadFile(filepath.Join(dir, "run-000", name))
			if err == nil && name == "estimates.json" {
				data = bytes.ReplaceAll(data, []byte("lpr|s"), fmt.Appendf(nil, "lpr|%d", i)) // they are no history
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(other, name), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	s := newServer(t, dir, Options{})
	shown := regexp.MustCompile(`<li><div class="run">|<option value="[0-9a-f]{16}"`)
	for target, want := range map[string]int{"/": mostRows, "/?q=run-3": 1, "/?q=run": mostRows, "/?q=run-2": 100,
		"/compare?a=" + idOf("run-000"): 2 * mostRows} {
		body := get(s, target).Body.String()
		rows := len(shown.FindAllString(body, -1))
		if rows != want || strings.Contains(body, "1 more runs are not shown") != (want == mostRows) {
			t.Errorf("%s: %d rows, want %d", target, rows, want)
		}
	}
}

// Observations that change while somebody reads are an error of every page that shows some.
func TestChangedObservations(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "a"), judged("m", "rw"))
	judgedRun(t, filepath.Join(dir, "b"), judged("m", "wr"))
	s := newServer(t, dir, Options{})
	a, b := idOf("a"), idOf("b")
	built(t, s, a)
	built(t, s, b)
	get(s, "/compare?a="+a+"&b="+b)
	r, err := s.listing.run(a)
	if err != nil {
		t.Fatal(err)
	}
	_, done := s.runs.open(r)
	defer done()
	post(s, "/runs/"+a+"/answers/1/note", "text=x")
	if err := os.Truncate(filepath.Join(r.path, "observations.jsonl"), 10); err != nil {
		t.Fatal(err)
	}
	s.runs.runs[a].notes = &notebook{}
	for target, want := range map[string]int{"/runs/" + a: 200, "/runs/" + a + "/answers": 500, "/runs/" + a + "/answers/1": 500,
		"/runs/" + a + "/answers.csv": 500, "/compare?a=" + a + "&b=" + b + "&show=all": 500, "/runs/" + b + "/answers": 200} {
		w := get(s, target)
		if body := w.Body.String(); w.Code != want || strings.Contains(body, "has changed") != (want == 500 || target == "/runs/"+a) ||
			strings.Contains(strings.ReplaceAll(body, "crosstalk report "+dir, ""), dir) {
			t.Errorf("%s: %d %s", target, w.Code, body)
		}
	}
}
