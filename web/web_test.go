package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/report/page"
	"crosstalk/run"
	"crosstalk/web/access"
)

// hostile is text as nobody wishes to get it.
var hostile = []string{
	`<script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`,
	`"><svg onload=alert(1)>`,
	`' onmouseover='alert(1)`,
	`</p></article></main><iframe src=//evil.example>`,
	`javascript:alert(1)`,
	`{{.}} {{template "top"}} ${x}`,
	"\x1b[31mred\x1b[0m \x1b]0;title\x07",
	"abc\u202edef\u202c \u2066x\u2069 \u200b\u200f",
	"null \x00 byte",
	"bad \xff\xfe UTF-8 \xc3",
	"]]>--><!--",
	strings.Repeat("<b>long ", 1<<17), // 1 MB in one line
}

// makeRun writes a run of these observations, with answers in its journal for
// those that have a key.
func makeRun(t testing.TB, path, instrument string, observations []crosstalk.Observation, records ...journal.Record) {
	t.Helper()
	d, err := run.Create(path, run.Recorded(instrument, "suite@1", "model"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, r := range records {
		if err := d.Journal.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	recordAll(t, d, observations...)
	estimates := []crosstalk.Estimate{
		{Measure: "leak_rate", Value: 0.7, N: 10, Observations: 10, By: map[string]string{"model": "m", "category": "all"}, Signature: "s"},
		{Measure: "leak_rate", Value: 0.5, N: 4, Observations: 4, By: map[string]string{"model": "m", "category": "colour"}, Signature: "s"},
		{Measure: "leak_rate", Value: 0.9, N: 5, Observations: 5, By: map[string]string{"model": "m", "category": "animal"}, Signature: "s"},
		{Measure: "leak_rate", Value: crosstalk.Undefined, N: 1, By: map[string]string{"model": "m", "category": "food"}, Signature: "s"},
	}
	if err := d.WriteEstimates(estimates); err != nil {
		t.Fatal(err)
	}
}

// hostileRun is a run in which everything that others write is hostile.
func hostileRun(t testing.TB, path string) {
	var observations []crosstalk.Observation
	var records []journal.Record
	for i, h := range hostile {
		id := crosstalk.Identity{Provider: "openai", Name: h[:min(len(h), 1000)]}
		request := crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: h}}}
		answer := crosstalk.Answer{Key: crosstalk.KeyOf(id, request), Status: crosstalk.Text, Text: h, Reasoning: h,
			Raw: []byte(h), Reason: h, Model: h, Time: time.Now()}
		records = append(records, journal.Record{Identity: id, Request: request, Answer: answer})
		label := h[:min(len(h), 100)]
		observations = append(observations, crosstalk.Observation{Measure: "lpr", Item: "item" + h, Cluster: "c", Value: 0, Finding: label,
			Condition: map[string]string{"model": label}, Labels: map[string]string{"language": label, h[:min(len(h), 20)]: "x" + fmt.Sprint(i%3)},
			Texts: []crosstalk.NamedText{{Name: "answer", Role: crosstalk.Side, Text: h},
				{Name: h[:min(len(h), 30)], Role: crosstalk.Fact, Text: h},
				{Name: "given" + h[:min(len(h), 30)], Role: crosstalk.Given, Text: h}}, Answers: []crosstalk.Key{answer.Key},
			Spans: []crosstalk.Span{{Line: 1, Start: 1, End: 5, Text: h, Language: h, Probability: 0.5},
				{Start: -5, End: 1 << 40}, {Start: 3, End: 2}},
			Tokens: []crosstalk.Token{{Start: 0, End: 1, Text: label, Fault: true, Entropy: 1,
				Candidates: []crosstalk.CandidateLogprob{{Token: label, Logprob: -1}}}}})
	}
	makeRun(t, path, "confusion", observations, records...)
}

// newServer shows runs below a directory.
func newServer(t testing.TB, dir string, o Options) *Server {
	t.Helper()
	if o.Cache == "" {
		o.Cache = filepath.Join(t.TempDir(), "cache")
	}
	s, err := New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// built waits for the index of a run.
func built(t testing.TB, s *Server, id string) {
	t.Helper()
	r, err := s.listing.run(id)
	if err != nil {
		t.Fatal(err)
	}
	l, done := s.runs.open(r)
	defer done()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if l.index == nil {
		t.Fatal("there is no index: ", l.err)
	}
	if err := l.index.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

func get(s http.Handler, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	r.Host = "localhost:8020"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

var (
	tags       = regexp.MustCompile(`<[^>]*>`)
	wholeTag   = regexp.MustCompile(`^<(?:!DOCTYPE html|/[a-z0-9]+|([a-zA-Z0-9]+)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*/?)>$`)
	attribute  = regexp.MustCompile(`([a-zA-Z-]+)(?:="([^"]*)")?`)
	unreadable = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b\u200f\ufffe]")
)

// harm returns what in a page is not of the markup that our pages have.
func harm(body string) string {
	if at := unreadable.FindStringIndex(body); at != nil {
		return fmt.Sprintf("%q", body[max(0, at[0]-50):at[1]])
	}
	for _, tag := range tags.FindAllString(body, -1) {
		parts := wholeTag.FindStringSubmatch(tag)
		if parts == nil {
			return tag
		}
		switch parts[1] {
		case "img", "iframe", "object", "embed", "base", "style", "style-src":
			return tag
		case "script":
			if tag != `<script src="/script.js" defer>` {
				return tag
			}
		}
		for _, a := range attribute.FindAllStringSubmatch(parts[2], -1) {
			if name := strings.ToLower(a[1]); strings.HasPrefix(name, "on") || name == "style" ||
				slices.Contains([]string{"href", "src", "action"}, name) && a[2] != "" &&
					(a[2][0] != '/' && a[2][0] != '#' || strings.HasPrefix(a[2], "//")) {
				return tag
			}
		}
	}
	return ""
}

// Whatever others wrote is text in every page.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	hostileRun(t, filepath.Join(dir, "run"))
	s := newServer(t, dir, Options{})
	id := idOf("run")
	built(t, s, id)
	targets := []string{"/", "/?q=%3Cscript%3E", "/runs/" + id, "/runs/" + id + "/answers", "/nothing%3Cscript%3Ealert(1)%3C/script%3E",
		"/runs/" + id + "/answers?is.found=%3Cscript%3Ealert(1)%3C%2Fscript%3E&q=%22%3E%3Cimg+src%3Dx%3E", "/runs/" + id + "?table-1=%22%3E%3Cimg%3E",
		"/runs/" + id + "/answers?q=a%00b%ff%1b&is.%3Cscript%3E=%3Cscript%3E&after=zz&before=-4"}
	for i := range hostile {
		targets = append(targets, fmt.Sprintf("/runs/%s/answers/%d", id, i+1))
	}
	for _, target := range targets {
		w := get(s, target)
		body := w.Body.String()
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", target, w.Code, body)
		}
		if found := harm(body); found != "" {
			t.Errorf("%s has %s", target, found)
		}
		if kind := w.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
			t.Errorf("%s is %s", target, kind)
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; style-src 'self'; script-src 'self'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s has the policy %s", target, p)
		}
		if len(body) > 1<<20 {
			t.Errorf("%s has %d bytes", target, len(body))
		}
	}
	// A page of all answers shows every one.
	body := get(s, "/runs/"+id+"/answers").Body.String()
	for _, want := range []string{"&lt;script&gt;alert(1)", "&lt;img src=x onerror", "␛[31mred", "⟨RLO⟩", "null ␀ byte", "{{.}}", "more bytes not shown"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of answers lacks %s", want)
		}
	}
	// What the model thought is folded, on both pages.
	for _, target := range []string{"/answers", "/answers/1"} {
		if body := get(s, "/runs/"+id+target).Body.String(); !strings.Contains(body, `<details class="thought"><summary>Thoughts</summary>`) {
			t.Errorf("%s lacks the thoughts", target)
		}
	}
	w := get(s, fmt.Sprintf("/runs/%s/answers/%d", id, len(hostile)))
	if w.Code != 200 || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d, %v", w.Code, w.Header())
	}
}

// The directory that is served may be a link, as of runs on another disk.
func TestLinkedDirectory(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "disk", "mine"), "leakage", nil)
	link := filepath.Join(dir, "runs")
	if err := os.Symlink(filepath.Join(dir, "disk"), link); err != nil {
		t.Skip(err)
	}
	s := newServer(t, link, Options{})
	for target, want := range map[string]string{"/": ">mine<", "/runs/" + idOf("mine"): "leak_rate"} {
		if w := get(s, target); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, without %s: %s", target, w.Code, want, w.Body)
		}
	}
}

// Addresses lead nowhere but to runs that are in the listing.
func TestTraversal(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "runs")
	makeRun(t, filepath.Join(dir, "mine"), "leakage", nil)
	makeRun(t, filepath.Join(top, "secret"), "leakage", nil)
	makeRun(t, filepath.Join(dir, ".hidden"), "leakage", nil)
	if err := os.Symlink(filepath.Join(top, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "secret"), filepath.Join(dir, "shard-1-of-2")); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, dir, Options{})
	if body := get(s, "/").Body.String(); strings.Contains(body, "secret") || strings.Contains(body, "shard") || strings.Contains(body, ">link<") ||
		strings.Contains(body, ".hidden") || !strings.Contains(body, ">mine<") {
		t.Error(body)
	}
	for _, path := range []string{"/runs/../secret", "/runs/..%2fsecret", "/runs/%2e%2e/secret", "/runs/mine", "/runs/.", "/runs/..", "/runs/" + idOf("../secret"), "/runs/" + idOf("link"),
		"/runs/" + idOf(".hidden"), "/runs/..%5csecret/answers", "/runs/" + idOf("mine") + "/../../../secret", "/runs/" + idOf("mine") + "/answers/..%2f..%2fmanifest.json",
		"/runs/" + idOf("mine") + "/manifest.json", "/runs/%00", "//evil.example/", "/runs/" + idOf("mine") + "/answers/-1", "/runs/" + idOf("mine") + "/answers/99999999999999999999", "/etc/passwd", "/style.css/..", "/templates/list.html"} {
		r := &http.Request{}
		w := get(s, "/", func(request *http.Request) {
			u, err := request.URL.Parse("http://localhost:8020/")
			if err != nil {
				t.Fatal(err)
			}
			u.Path, u.RawPath = path, ""
			if strings.Contains(path, "%") {
				if full, err := u.Parse("http://localhost:8020" + path); err == nil {
					u = full
				}
			}
			request.URL, request.RequestURI = u, path
			r = request
		})
		if w.Code == 200 || w.Code >= 500 || strings.Contains(w.Body.String(), "secret@") || strings.Contains(w.Body.String(), top) {
			t.Errorf("%s (%v): %d %s", path, r.URL, w.Code, w.Body)
		}
		if to := w.Header().Get("Location"); to != "" && (strings.HasPrefix(to, "//") || strings.Contains(to, ":")) {
			t.Errorf("%s leads to %s", path, to)
		}
	}
}

// Who has no token sees nothing; the one in the address moves to a cookie.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "mine"), "leakage", nil)
	token := access.NewToken()
	s := newServer(t, dir, Options{Token: token, Hosts: []string{"lab.example"}})
	for _, target := range []string{"/", "/runs/" + idOf("mine"), "/style.css", "/script.js", "/?token=" + token[:len(token)-1], "/?token=", "/?token=" + token + "x"} {
		if w := get(s, target); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "mine") ||
			w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s without a token: %d %s", target, w.Code, w.Body)
		}
	}
	w := get(s, "/runs/"+idOf("mine")+"?sort=run&token="+token)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/runs/"+idOf("mine")+"?sort=run" ||
		len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	with := func(r *http.Request) { r.AddCookie(cookies[0]) }
	if w := get(s, "/", with); w.Code != 200 || !strings.Contains(w.Body.String(), "mine") ||
		strings.Contains(w.Body.String(), token) {
		t.Errorf("with the cookie: %d", w.Code)
	}
	if w := get(s, "/", func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: cookie,
			Value: "x"})
	}); w.Code != http.StatusUnauthorized {
		t.Errorf("with a wrong cookie: %d", w.Code)
	}
	if w := get(s, "/", func(r *http.Request) {
		r.URL.Path = "//evil.example/"
		r.URL.RawQuery = "token=" +
			token
	}); strings.HasPrefix(w.Header().Get("Location"), "//") {
		t.Errorf("leads to %s", w.Header().Get("Location"))
	}
	for host, want := range map[string]int{"192.0.2.7:8020": 200, "lab.example": 200, "LAB.example:80": 200, "evil.example": 421} {
		if w := get(s, "/", with, func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("%s: %d; want %d", host, w.Code, want)
		}
	}
}

// A loopback server is asked for by loopback names only: another name was made
// to lead here.
func TestHost(t *testing.T) {
	s := newServer(t, t.TempDir(), Options{})
	for host, want := range map[string]int{"localhost": 200, "localhost:1": 200, "127.0.0.1:8020": 200, "127.1.2.3": 200, "[::1]:8020": 200, "LOCALHOST.:80": 200,
		"": 421, "evil.example": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "192.0.2.7": 421, "0.0.0.0": 421, "[::]": 421, "[fe80::1%25lo]": 421} {
		if w := get(s, "/", func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("%q: %d; want %d", host, w.Code, want)
		}
	}
}

// Nothing but reading is possible, and no more than a request needs.
func TestLimits(t *testing.T) {
	s := newServer(t, t.TempDir(), Options{})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"} {
		if w := get(s, "/", func(r *http.Request) { r.Method = method }); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	if w := get(s, "/", func(r *http.Request) { r.Method = "HEAD" }); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	if w := get(s, "/?q="+strings.Repeat("x", access.MostURL)); w.Code != http.StatusRequestURITooLong {
		t.Errorf("a long address: %d", w.Code)
	}
	if w := get(s, "/", func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")),
			-1
	}); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body: %d", w.Code)
	}
	if h := access.NewServer(s); h.ReadHeaderTimeout == 0 || h.ReadTimeout == 0 || h.WriteTimeout == 0 ||
		h.IdleTimeout == 0 || h.MaxHeaderBytes > 1<<16 {
		t.Errorf("%+v", h)
	}
}

// No more than access.MostRequests are under way at a time; who waits too long is told
// to come again.
func TestConcurrentRequests(t *testing.T) {
	s := newServer(t, t.TempDir(), Options{})
	release, entered := make(chan struct{}), make(chan struct{}, access.MostRequests+1)
	h := access.Rules{Admit: s.admit, Refuse: s.refuse}.Guard(http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-release }))
	for range access.MostRequests {
		go get(h, "/")
	}
	for range access.MostRequests {
		<-entered
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	get(h, "/", func(r *http.Request) { *r = *r.WithContext(ctx) })
	if len(entered) > 0 {
		t.Error("one more is under way")
	}
	close(release)
	if w := get(h, "/"); w.Code != 200 {
		t.Error(w.Code)
	}
}

// recordAll writes observations into a run.
func recordAll(t testing.TB, d *run.Dir, observations ...crosstalk.Observation) {
	t.Helper()
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Discard()
	for _, o := range observations {
		if err := r.AddAt(o, run.Place{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Commit(); err != nil {
		t.Fatal(err)
	}
}

// The tables of a run's page list the languages with most answers with a fault first, as those of the file do.
func TestWorstLanguageFirst(t *testing.T) {
	dir := t.TempDir()
	d, err := run.Create(filepath.Join(dir, "run"), run.Recorded("confusion", "suite@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	recordAll(t, d)
	var estimates []crosstalk.Estimate
	for _, measure := range []string{"lpr", "faults"} {
		for _, of := range []struct {
			language string
			faults   float64
		}{{"all", 9}, {"ar", 1}, {"de", 0}, {"ko", 5}, {"tr", 3}} {
			estimates = append(estimates, crosstalk.Estimate{Measure: instrument.Named("confusion").Faults.Measure, N: 10, Observations: 10,
				Value: crosstalk.Value(of.faults / 10), By: map[string]string{"model": "m", "language": of.language}, Signature: "s"})
			if last := &estimates[len(estimates)-1]; measure == "lpr" {
				last.Measure, last.Value = "lpr", 1-last.Value
			}
		}
	}
	order := func(body string) (list []string) {
		_, body, _ = strings.Cut(body, `<h2 id="tables">`)
		for _, m := range regexp.MustCompile(`<th scope="row" class="w">(all|ar|de|ko|tr)</th>`).FindAllStringSubmatch(body, -1) {
			list = append(list, m[1])
		}
		return list
	}
	want := []string{"all", "ko", "tr", "ar", "de"}
	if err := errors.Join(d.WriteEstimates(estimates), d.Close()); err != nil {
		t.Fatal(err)
	}
	served := get(newServer(t, dir, Options{}), "/runs/"+idOf("run")).Body.String()
	var file strings.Builder
	if err := (page.Report{Estimates: estimates}).Write(&file); err != nil {
		t.Fatal(err)
	}
	if got := order(served); !slices.Equal(got, want) {
		t.Errorf("served: %v\n%s", got, served)
	}
	if got := order(file.String()); !slices.Equal(got, want) {
		t.Errorf("in a file: %v", got)
	}
}
