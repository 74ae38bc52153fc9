package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/run"
)

// live asks how far a run is.
func liveOf(t *testing.T, s *Server, name string) (p progress) {
	t.Helper()
	w := get(s, "/runs/"+idOf(name)+"/live.json")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// again makes the next look at a run a new one.
func again(s *Server) {
	s.listing.when = time.Time{}
}

// A run is watched while another writes it: what is answered is counted once,
// and failed asks that are answered later count as that.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	d, err := run.Create(filepath.Join(dir, "mine"), run.Recorded("leakage", "suite@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := newServer(t, dir, Options{})
	look := func(done, of int, asks, detail string) {
		t.Helper()
		again(s)
		p := liveOf(t, s, "mine")
		if p.Done != done || p.Of != of || p.Asks != asks || !strings.Contains(p.Detail, detail) || p.State != "running" ||
			!p.Changing {
			t.Errorf("%+v; want %d of %d, %q, %q", p, done, of, asks, detail)
		}
	}
	look(0, 0, "", "")
	for i := range 3 {
		putAnswer(t, d, i, crosstalk.Text)
	}
	putAnswer(t, d, 3, crosstalk.Failed)
	putAnswer(t, d, 4, crosstalk.Refused)
	look(5, 0, "5 answers", "1 refused · 1 failed · 25 tokens")
	if err := d.SetAsks(8); err != nil {
		t.Fatal(err)
	}
	look(5, 8, "5 of 8 requests", "1 failed")
	putAnswer(t, d, 3, crosstalk.Text)
	putAnswer(t, d, 5, crosstalk.Empty)
	look(6, 8, "6 of 8 requests", "1 empty · 1 refused · 30 tokens")
	if p := liveOf(t, s, "mine"); len(p.Latest) != 3 || p.Latest[0].Status == "" || p.Latest[0].Prompt == "" {
		t.Errorf("the latest answers are %+v", p.Latest)
	}
	if body := get(s, "/runs/"+idOf("mine")).Body.String(); !strings.Contains(body, "<noscript>") ||
		!strings.Contains(body, `<body data-live="/runs/`+idOf("mine")+`/live.json" data-reload="true">`) ||
		!strings.Contains(body, "6 of 8 requests") || strings.Contains(body, "<b>answer</b>") {
		t.Error(body)
	}
	if body := get(s, "/runs/"+idOf("mine")+"/answers").Body.String(); !strings.Contains(body, "No answers yet") ||
		!strings.Contains(body, `<body data-live="/runs/`+idOf("mine")+`/live.json">`) {
		t.Error(body)
	}
	// Others may write what the server looks at.
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = run.Create(filepath.Join(dir, "mine"), run.Recorded("leakage", "suite@1", "m")); err != nil {
		t.Fatal(err)
	}
	if d.Manifest.Asks != 8 {
		t.Errorf("%d asks are left of 8", d.Manifest.Asks)
	}
	old, err := run.Create(filepath.Join(dir, "old"), run.Recorded("leakage", "suite@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	r := journal.Record{Identity: crosstalk.Identity{Provider: "openai", Name: "m"}}
	r.Answer = crosstalk.Answer{Key: crosstalk.KeyOf(r.Identity, r.Request), Status: crosstalk.Text,
		Time: time.Now().Add(-time.Hour)}
	if err := errors.Join(old.Journal.Put(r), old.SetAsks(1)); err != nil {
		t.Fatal(err)
	}
	again(s)
	if p := liveOf(t, s, "old"); !strings.HasPrefix(p.State, "no answer for 1.0 h") || !p.Running || p.Asks != "1 of 1 requests" {
		t.Errorf("%+v", p)
	}
}

// A journal that cannot be read is said, and is no reason to show nothing.
func TestDamagedRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine")
	makeRun(t, path, "leakage", senses())
	for name, text := range map[string]string{"answers.db": "no journal", "estimates.json": "{", "observations.jsonl": "{\"item\":\"a\"}\nnonsense\n"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(filepath.Join(path, "answers.db-wal"))
	s := newServer(t, dir, Options{})
	for _, target := range []string{"/", "/runs/" + idOf("mine"), "/runs/" + idOf("mine") + "/answers"} {
		w := get(s, target)
		if body := w.Body.String(); w.Code != 200 || strings.Contains(body, dir+"/mine/est") {
			t.Errorf("%s: %d %s", target, w.Code, body)
		}
	}
	again(s)
	body := get(s, "/runs/"+idOf("mine")).Body.String()
	for _, want := range []string{"is not a readable journal", "invalid estimates", "observations.jsonl:2: "} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q:\n%s", want, body)
		}
	}
}

// Runs are ordered and searched.
func TestSort(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "mine"), "leakage", nil)
	makeRun(t, filepath.Join(dir, "yours"), "confusion", nil)
	s := newServer(t, dir, Options{})
	for query, want := range map[string]string{"?sort=run": "mine", "?sort=measured": "yours", "?q=CONFUSION": "yours"} {
		body := get(s, "/"+query).Body.String()
		if i, j := strings.Index(body, ">"+want+"</a>"),
			strings.Index(body, map[string]string{"mine": ">yours</a>", "yours": ">mine</a>"}[want]); i < 0 || j >= 0 && j < i {
			t.Errorf("%s: %s is not first", query, want)
		}
	}
}

// Filters are kept from page to page, and the words in marks.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "mine"), "consistency", senses())
	s := newServer(t, dir, Options{})
	built(t, s, idOf("mine"))
	page := "/runs/" + idOf("mine") + "/answers"
	for query, want := range map[string]string{
		"": "1–4 of 4 answers", "?is.found=inconsistent": "1–1 of 1 answer<", "?is.found=refused": "1–1 of 1 answer<", "?is.pair=en%3Ede": "1–2 of 2 answers", "?q=trains": "1–1 of 1 answer<",
		"?q=%22I+like+trains%22": "1 answer on this page", "?is.pair=en%3Ede&is.found=inconsistent": "No answers match.", "?is.nothing=x": "No answers match.", "?after=4": "No answers match.", "?after=99999999999999999999999": "1–4 of 4",
		"?before=3": "1–2 of 4", "?after=2": "3–4 of 4",
	} {
		if body := get(s, page+query).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s: not %q:\n%s", query, want, body)
		}
	}
	chips := func(query string) (list []string) {
		body := get(s, page+query).Body.String()
		_, body, _ = strings.Cut(body, `<nav aria-label="What was found">`)
		body, _, _ = strings.Cut(body, "</nav>")
		for _, m := range regexp.MustCompile(`>(?:<bdi>)?([a-z ]+)(?:</bdi>)?(?: <span class="n">(\d+)</span>)?</a>`).FindAllStringSubmatch(body, -1) {
			list = append(list, strings.TrimSpace(m[1])+" "+m[2])
		}
		return list
	}
	if body := get(s, page).Body.String(); strings.Contains(body, "closest decisions first") || !strings.Contains(body, "longest first") {
		t.Errorf("orders of a run that knows nothing of how close decisions are: %s", body)
	}
	// Chips count the answers that the rest of the filter finds; of phrases nothing is known.
	whole := chips("")
	if !slices.Contains(whole, "all 4") || !slices.Contains(whole, "inconsistent 1") {
		t.Errorf("%q", whole)
	}
	for query, want := range map[string]string{"?is.pair=en%3Ede": "all 2,inconsistent 0", "?is.pair=en%3Ear": "all 2,inconsistent 1",
		"?is.pair=en%3Ear&is.found=refused": "all 2,inconsistent 1", "?q=trains": "all 1", "?q=%22I+like+trains%22": "all ,inconsistent "} {
		got := chips(query)
		for w := range strings.SplitSeq(want, ",") {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", query, got, w)
			}
		}
	}
	body := get(s, page+"?q=s&is.found=inconsistent&is.pair=en%3Ear").Body.String()
	for _, want := range []string{`value="s"`, `<input type="hidden" name="is.found" value="inconsistent">`, `<option value="en&gt;ar" selected>`, `is.pair=en%3Ear&amp;q=s`} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %s", want)
		}
	}
	var names []string
	for _, m := range regexp.MustCompile(`<select name="is\.(\w+)`).FindAllStringSubmatch(get(s, page+"?is.class=same").Body.String(), -1) {
		names = append(names, m[1])
	}
	if want := []string{"pair", "class"}; len(names) < 2 || !slices.Equal(names[:2], want) {
		t.Errorf("the columns to choose by are %q; want %q first", names, want)
	}
}

// A page prints commands that work where the server was started, and says what a run that stopped waits for.
func TestCommandsOfPages(t *testing.T) {
	t.Chdir(t.TempDir())
	body := get(newServer(t, "my runs", Options{}), "/").Body.String()
	for _, want := range []string{"crosstalk run consistency --out &#39;my runs/consistency&#39;", "answers.csv --out &#39;my runs/mine&#39;"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	path := filepath.Join("runs", "night", "mine")
	makeRun(t, path, "consistency", nil)
	s := newServer(t, "runs", Options{})
	page := "/runs/" + idOf(filepath.Join("night", "mine"))
	if body := get(s, page).Body.String(); !strings.Contains(body, "<code>crosstalk report "+path+"</code>") {
		t.Error(body)
	}
	open := filepath.Join("runs", "open")
	d, err := run.Create(open, run.Recorded("consistency", "suite@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	for approved, want := range map[string]bool{"false": true, "true": false} {
		file := filepath.Join(open, run.InstructionsFile)
		text := "instructions:\n- {task: same, sense: en>de, model: m, approved: " + approved + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		body := get(newServer(t, "runs", Options{}), "/runs/"+idOf("open")).Body.String()
		if strings.Contains(body, "1 rewritten instructions need a review: in "+file) != want {
			t.Errorf("approved: %s: %s", approved, body)
		}
	}
}
