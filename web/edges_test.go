package web

import (
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/instrument"
	"crosstalk/report/results"
	"crosstalk/run"
	"crosstalk/run/shard"
	"crosstalk/run/watch"
	"crosstalk/web/index"
)

// The text of rows on pages.
func TestRowsOfPages(t *testing.T) {
	for _, c := range []struct {
		o    crosstalk.Observation
		want observationRow
	}{
		{crosstalk.Observation{Measure: "lpr", Value: 0.123456}, observationRow{Value: "0.1235"}},
		{crosstalk.Observation{Measure: "lpr", Value: 1, Finding: "wrong_language"}, observationRow{Value: "1"}},
		{crosstalk.Observation{Measure: "lpr", Value: crosstalk.Undefined, NotScored: "empty", Finding: "odd",
			Condition: map[string]string{"model": "m", "a": "b"}},
			observationRow{Value: "-", Why: "not scored: empty", Of: "a b · model m"}},
	} {
		got := observe(c.o)
		if c.o.Finding == "wrong_language" {
			if got.Why == "" {
				t.Errorf("%+v: no finding", got)
			}
			got.Why = ""
		}
		if c.want.Measure = instrument.Of("lpr").Measure("lpr").Label; got != c.want {
			t.Errorf("%+v; want %+v", got, c.want)
		}
	}

	columns := []index.Column{{Name: "model", Values: []index.Value{{Name: "m", N: 9}}}, {Name: "system", Values: make([]index.Value, 2)},
		{Name: "similarity", Values: make([]index.Value, 2)}, {Name: "other", Values: make([]index.Value, 2)}}
	if got := conditionOf([]crosstalk.Observation{{Measure: "leak_rate", Condition: map[string]string{"model": "m", "system": "s",
		"similarity": "gloss"}}}, columns); got != "system s" {
		t.Errorf("the condition is %q", got)
	}

	all := []map[string]string{{"model": "m", "top": "1"}, {"model": "n", "top": "1"}}
	if got := differing(all[0], all); got != "m" {
		t.Errorf("differing: %q", got)
	}
	if got := differing(all[0], all[:1]); got != "" {
		t.Errorf("one condition: %q", got)
	}

	tokens := make([]crosstalk.Token, 500)
	for i := range tokens {
		tokens[i] = crosstalk.Token{Text: fmt.Sprint(i), Entropy: 1, Fault: i == 3}
	}
	strip := func(n int) []template.HTML {
		var p answerPage
		p.strip(tokens[:n])
		return p.Strips
	}
	if one := strip(1); len(one) != 1 || !strings.Contains(string(one[0]), "The model&#39;s uncertainty, token by token") {
		t.Errorf("%q", one)
	}
	if !slices.Equal(strip(500), strip(400)) || slices.Equal(strip(400), strip(399)) {
		t.Error("a strip is not of the first 400 tokens")
	}
	for n, strips := range []int{0, 1} {
		var p answerPage
		p.fill([]crosstalk.Observation{{Measure: "lpr", Tokens: tokens[:n]}}, nil)
		if len(p.Strips) != strips || len(p.Observations) != 1 {
			t.Errorf("%+v", p)
		}
	}

	for want, at := range map[string]watch.Part{
		"":      {},
		"0.5/s": {Totals: watch.Totals{Rate: 0.5}},
		"1.5/s · about 2 min left · 1 empty · 2 refused · 3 failed · 36 tokens": {Totals: watch.Totals{Rate: 1.5, Left: 2 * time.Minute},
			Status: map[crosstalk.Status]int{crosstalk.Empty: 1, crosstalk.Refused: 2, crosstalk.Failed: 3, crosstalk.Text: 9},
			Usage:  map[string]crosstalk.Usage{"a": {Prompt: 1, Completion: 2}, "b": {Prompt: 11, Completion: 22}}},
		"cannot read the journal: odd␛": {Error: "odd\x1b"},
	} {
		if got := detail(at); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}

	for want, c := range map[string]compare.Comparison{
		"no difference shown": {Difference: 1, Better: crosstalk.Higher},
		"better":              {Difference: 1, Better: crosstalk.Higher, Shown: true},
		"worse":               {Difference: 1, Better: crosstalk.Lower, Shown: true},
		"higher":              {Difference: 1, Shown: true},
		"lower":               {Difference: -1, Shown: true},
		"nothing to compare":  {Difference: crosstalk.Undefined, Better: crosstalk.Higher},
	} {
		c.Measure = "lpr"
		r := rowOfFigure(c, "x")
		if r.Verdict != want || r.Better != (want == "better") || r.Worse != (want == "worse") || (r.Difference == "~") != (want == "no difference shown") {
			t.Errorf("%s: %+v", want, r)
		}
	}
}

// The names of the sides of a comparison.
func TestLabels(t *testing.T) {
	x := side{Run: &runEntry{ID: "1", Name: "one"}, Conditions: []option{{"0", "m", false}, {"1", "n", true}}, at: 1}
	alone := side{Run: x.Run, Conditions: x.Conditions[:1]}
	other := side{Run: &runEntry{ID: "2", Name: "two"}}
	for _, c := range []struct {
		of, among side
		want      string
	}{{x, x, "n"}, {x, other, "one · n"}, {alone, alone, "one"}, {alone, other, "one"}, {other, x, "two"}} {
		if got := c.of.Label(c.among); got != c.want {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
}

// What pages load, and what the server does not do.
func TestStaticFiles(t *testing.T) {
	s := newServer(t, t.TempDir(), Options{})
	for target, want := range map[string]string{"/style.css": "text/css; charset=utf-8",
		"/script.js": "text/javascript; charset=utf-8", "/icon.svg": "image/svg+xml"} {
		if w := get(s, target); w.Code != 200 || w.Header().Get("Content-Type") != want || w.Body.Len() < 100 {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	for target, want := range map[string]int{"/": 405, "/nosuch": 405, "/runs/x": 405} {
		r := httptest.NewRequest("POST", target, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d %v", target, w.Code, w.Header())
		}
	}
}

// A run that is scored again gets a new index, once nobody reads from the old one.
func TestScoredAgain(t *testing.T) {
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "a"), judged("m", "rwr"))
	s := newServer(t, dir, Options{})
	built(t, s, idOf("a"))
	r, err := s.listing.run(idOf("a"))
	if err != nil {
		t.Fatal(err)
	}
	old, done := s.runs.open(r)
	if err := os.RemoveAll(r.path); err != nil {
		t.Fatal(err)
	}
	judgedRun(t, r.path, judged("m", "rwrwrw"))
	if now, end := s.runs.open(r); now.index != old.index {
		t.Error("an index goes away while somebody reads from it")
	} else {
		end()
	}
	done()
	now, end := s.runs.open(r)
	end()
	if same, end := s.runs.open(r); same.index != now.index {
		t.Error("an index is opened anew without a change")
	} else {
		end()
	}
	now, end = s.runs.open(r)
	defer end()
	if err := now.index.Wait(t.Context()); err != nil || now.index == old.index || now.index.Progress().Answers != 6 {
		t.Errorf("%+v, %v", now.index.Progress(), err)
	}
	none := filepath.Join(dir, "none")
	if l, end := s.runs.open(&runEntry{ID: "none", path: none}); l.index != nil || l.err != nil {
		t.Errorf("%+v", l)
	} else {
		end()
	}
	if err := os.MkdirAll(filepath.Join(none, "observations.jsonl"), 0o777); err != nil {
		t.Fatal(err)
	}
	if l, end := s.runs.open(&runEntry{ID: "folder", path: none}); l.index != nil || l.err == nil {
		t.Errorf("%+v", l)
	} else {
		end()
	}
}

// The progress of runs, from the files in their directories.
func TestStates(t *testing.T) {
	dir := t.TempDir()
	d, err := run.Create(filepath.Join(dir, "mine"), run.Recorded("leakage", "suite@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := run.ReadManifest(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	for ago, want := range map[time.Duration]string{
		0:                              "running",
		watch.Silence - 10*time.Second: "running",
		watch.Silence + time.Second:    "not finished and not running; run the same command again to resume it",
	} {
		r := &runEntry{path: d.Path, Manifest: m, Changed: time.Now().Add(-ago)}
		if p := progressOf(r, openRun{}); p.State != want || !p.Running || !p.Changing {
			t.Errorf("%v: %+v; want %s", ago, p, want)
		}
	}
	if p := progressOf(&runEntry{path: d.Path, Manifest: m, finished: true}, openRun{}); p.State != "finished" || p.Running {
		t.Errorf("%+v", p)
	}

	s := newServer(t, dir, Options{})
	shards := func(finished ...bool) (rows []listRow) {
		for i, f := range finished {
			m := m
			m.Plan.Shard = shard.Shard{Index: i + 1, Count: 2}
			rows = append(rows, listRow{runEntry: &runEntry{path: filepath.Join(dir, "none", "shard"), Manifest: m, finished: f}})
		}
		return rows
	}
	for want, rows := range map[string][]listRow{
		"2 of 2 shards finished; merge them to see the figures of all": shards(true, true),
		"1 of 2 shards finished": shards(true, false),
		"0 of 2 shards finished": shards(false),
	} {
		if got := s.stateOf(rows); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// The directory may not exist yet. Any other error is shown without the path.
func TestDirectoryOfRuns(t *testing.T) {
	dir := t.TempDir()
	s := newServer(t, filepath.Join(dir, "later"), Options{})
	if w := get(s, "/"); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	makeRun(t, filepath.Join(s.listing.dir, "one"), "leakage", nil)
	again(s)
	if w := get(s, "/runs/"+idOf("one")); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	again(s)
	s.listing.dir = filepath.Join(dir, "later", "one", "manifest.json", "below")
	for _, target := range []string{"/", "/runs/" + idOf("one"), "/compare?a=" + idOf("one"), "/runs/" + idOf("one") + "/answers/1"} {
		w := get(s, target)
		if body := w.Body.String(); w.Code != http.StatusInternalServerError || !strings.Contains(body, "not a directory") ||
			strings.Contains(body, dir) {
			t.Errorf("%s: %d %s", target, w.Code, body)
		}
	}
	for err, want := range map[error]int{fs.ErrNotExist: 404, index.ErrNone: 404, errors.New("odd"): 500} {
		w := httptest.NewRecorder()
		s.fail(w, httptest.NewRequest("GET", "/", nil), err)
		if w.Code != want || (want == 404) != strings.Contains(w.Body.String(), "Page not found") {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}

// openFiles are the files below a directory that this process has open.
func openFiles(t *testing.T, dir string) (open []string) {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
			open = append(open, to)
		}
	}
	return open
}

// Pages leave no file open, but for the indexes, which closing the server closes.
func TestFilesAreClosed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	dir := t.TempDir()
	sheetRun(t, filepath.Join(dir, "runs", "a"), 1, "rwrw")
	sheetRun(t, filepath.Join(dir, "runs", "b"), 2, "rwwr")
	s, err := New(filepath.Join(dir, "runs"), Options{Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	a, b := idOf("a"), idOf("b")
	built(t, s, a)
	built(t, s, b)
	for _, target := range []string{"/", "/runs/" + a, "/runs/" + a + "/answers", "/runs/" + a + "/answers/1", "/runs/" + a + "/answers.csv",
		"/runs/" + a + "/live.json", "/compare?a=" + a, "/compare?a=" + a + "&b=" + b + "&show=all"} {
		if w := get(s, target); w.Code != http.StatusOK {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	for _, file := range openFiles(t, filepath.Join(dir, "runs")) {
		if filepath.Base(file) != "observations.jsonl" { // which indexes read from
			t.Errorf("pages left %s open", file)
		}
	}
	for id, r := range s.runs.runs {
		if r.users != 0 {
			t.Errorf("%s is in use by %d", id, r.users)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"b", "a"} {
		before, after := filepath.Join(dir, "runs", "a"), filepath.Join(dir, "runs", other)
		one := results.Comparison{Result: compare.Result{Comparisons: make([]compare.Comparison, 1)}}
		if err := WriteComparison(t.Context(), &strings.Builder{}, before, after, one); err != nil {
			t.Error(err)
		}
	}
	if open := openFiles(t, dir); open != nil {
		t.Errorf("left open: %v", open)
	}
}

// comparedRuns compares two runs, or the conditions of one.
func comparedRuns(t *testing.T, before, after string) results.Comparison {
	t.Helper()
	runs, err := compare.Open(slices.Compact([]string{before, after}), nil)
	if err != nil {
		t.Fatal(err)
	}
	options := compare.Default
	options.Across = []string{"all"}
	result, err := compare.Runs(runs, options)
	if err != nil {
		t.Fatal(err)
	}
	return results.Comparison{Result: result}
}
