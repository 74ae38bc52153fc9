package annotate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"crosstalk"
	"crosstalk/labels"
	"crosstalk/run"
)

// secret is a design whose draws are known, so that pages of two runs can be
// compared.
const secret = `{"schema":"crosstalk/labels/v1","secret":"00000000000000000000000000000000000000000000000000000000000000aa"}`

// newRun writes a finished run.
func newRun(t testing.TB, instrument string, observations ...crosstalk.Observation) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret-model-run")
	d, err := run.Create(path, run.Recorded(instrument, "suite@1", "secret-model"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
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
	rules := run.Scoring{Protocol: "crosstalk-1", Rules: json.RawMessage(`{"MinWords":2,"Threshold":0.3}`)}
	if err := d.SetScoring([]run.Scoring{rules}, crosstalk.SuiteIDs{}, 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteEstimates(nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "labels.json"), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// pairs are n leakage observations. swapped exchanges what test and control
// answered, and with it everything that the instrument finds.
func pairs(n int, swapped bool) (list []crosstalk.Observation) {
	for i := range n {
		o := crosstalk.Observation{Measure: "leak_rate", Item: fmt.Sprintf("item-%03d", i), Cluster: "c", Value: 1, Finding: "leaked",
			Condition: map[string]string{"model": "secret-model", "similarity": "gloss@1"}, Labels: map[string]string{"category": "animals", "language": "en"},
			Numbers: map[string]float64{"test": 0.4, "control": 0.1}}
		test, control := fmt.Sprintf("east %d", i), fmt.Sprintf("northwest %d", i)
		if swapped {
			test, control = control, test
			o.Value, o.Finding, o.Numbers = 0, "not leaked", map[string]float64{"test": 0.1, "control": 0.4}
		}
		o.AddText(crosstalk.Topic, "concept", fmt.Sprintf("word %d", i))
		o.AddText(crosstalk.Side, "test", test)
		o.AddText(crosstalk.Side, "control", control)
		list = append(list, o)
	}
	return list
}

func newServer(t testing.TB, path string, o Options) *Server {
	t.Helper()
	s, err := New(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// client is an annotator's browser without a script.
type client struct {
	t       testing.TB
	h       http.Handler
	cookies []*http.Cookie
	bodies  []string // of all responses
}

// as is the browser of somebody who gave this name.
func as(t testing.TB, h http.Handler, name string) *client {
	t.Helper()
	c := &client{t: t, h: h}
	if w := c.send("POST", "/name", url.Values{"name": {name}}); w.Code != http.StatusSeeOther {
		t.Fatalf("name: %d %s", w.Code, w.Body)
	}
	return c
}

func (c *client) send(method, target string, form url.Values,
	change ...func(*http.Request)) *httptest.ResponseRecorder {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, "http://localhost"+target, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, r)
	if set := w.Result().Cookies(); len(set) > 0 {
		c.cookies = set
	}
	c.bodies = append(c.bodies, w.Body.String())
	return w
}

var fields = regexp.MustCompile(`name="(id|shown)" value="([^"]*)"`)

// question is a shown question: the fields of its form, and its page.
func (c *client) question(name string) (url.Values, string) {
	c.t.Helper()
	w := c.send("GET", "/"+name, nil)
	if w.Code != 200 {
		c.t.Fatalf("%s: %d %s", name, w.Code, w.Body)
	}
	form := url.Values{}
	for _, m := range fields.FindAllStringSubmatch(w.Body.String(), -1) {
		form.Set(m[1], m[2])
	}
	return form, w.Body.String()
}

// answer answers the shown question and returns it.
func (c *client) answer(name, label string) (page string) {
	c.t.Helper()
	form, page := c.question(name)
	form.Set("label", label)
	if w := c.send("POST", "/"+name, form); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/"+name {
		c.t.Fatalf("%d %s", w.Code, w.Body)
	}
	return page
}

func readLabels(t testing.TB, path string) []labels.Label {
	t.Helper()
	list, err := labels.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lines is the number of lines of the run's labels.
func lines(t testing.TB, path string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path, labels.File))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// Two runs that differ in what is test and what is control, and so in all that
// the instrument found, send the same: pages, headers and redirects, in the same
// order, whatever is answered.
func TestBlind(t *testing.T) {
	const n = 40
	one, other := newRun(t, "leakage", pairs(n, false)...), newRun(t, "leakage", pairs(n, true)...)
	shown := regexp.MustCompile(`name="shown" value="\d+"`)
	var traffic [2]string
	first := 0
	for i, path := range []string{one, other} {
		c := as(t, newServer(t, path, Options{}), "ann")
		var b strings.Builder
		note := func(w *httptest.ResponseRecorder) {
			fmt.Fprintln(&b, w.Code, w.Header(), shown.ReplaceAllString(w.Body.String(), ""))
		}
		note(c.send("GET", "/", nil))
		for q := range n {
			form, page := c.question("leakage")
			fmt.Fprintln(&b, shown.ReplaceAllString(page, ""))
			if i == 0 && strings.Index(page, "east") < strings.Index(page, "northwest") {
				first++
			}
			form.Set("label", []string{"A", "B", "neither"}[q%3])
			note(c.send("POST", "/leakage", form))
			if q == 5 {
				note(c.send("POST", "/leakage/undo", url.Values{}))
				note(c.send("GET", "/leakage", nil))
				note(c.send("POST", "/leakage", form))
			}
		}
		note(c.send("GET", "/leakage", nil))
		note(c.send("GET", "/nothing", nil))
		note(c.send("POST", "/leakage", url.Values{"id": {"1234"}, "label": {"A"}}))
		traffic[i] = b.String()
		for _, hint := range []string{"secret-model", "control", "test", "leaked", "gloss", "animals", "item-0", filepath.Base(path)} {
			if strings.Contains(strings.Join(c.bodies, ""), hint) {
				t.Errorf("pages contain %q", hint)
			}
		}
	}
	a, b := strings.Split(traffic[0], "\n"), strings.Split(strings.NewReplacer("east", "northwest", "northwest", "east").Replace(traffic[1]), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d would be another if test and control were exchanged:\n%s\n%s", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) || traffic[0] == traffic[1] {
		t.Fatal("the runs do not differ as expected")
	}
	if first < 6 || first > 34 { // 40 fair draws: outside with a probability below 1e-5
		t.Errorf("the test answer is A in %d of %d questions", first, n)
	}
	// The same answers mean the opposite texts: the same labels.
	x, y := readLabels(t, one), readLabels(t, other)
	for i := range n {
		if x[i].Item != y[i].Item || x[i].Label != y[i].Label {
			t.Errorf("%s is %s, %s is %s", x[i].Item, x[i].Label, y[i].Item, y[i].Label)
		}
	}
}

// Any number of people answer at once; each finds the first question without
// an answer, also after another server was started.
func TestManyAtOnce(t *testing.T) {
	const people, n = 8, 30
	path := newRun(t, "leakage", pairs(n, false)...)
	s := newServer(t, path, Options{})
	var wait sync.WaitGroup
	for i := range people {
		c := as(t, s, fmt.Sprintf("person %d", i))
		wait.Go(func() {
			for range n / 2 {
				c.answer("leakage", "A")
			}
		})
	}
	wait.Wait()
	s = newServer(t, path, Options{})
	for i := range people {
		c := as(t, s, fmt.Sprintf("person %d", i))
		for q := range n / 2 {
			if page := c.answer("leakage", "b"); !strings.Contains(page, fmt.Sprintf("<b>%d</b> of %d answered", n/2+q, n)) {
				t.Fatalf("not question %d", n/2+q)
			}
		}
		if _, page := c.question("leakage"); !strings.Contains(page, "All questions are answered") {
			t.Error("not done")
		}
	}
	count := map[string]int{}
	for _, l := range readLabels(t, path) {
		count[l.Annotator]++
		if l.Seconds < 0 || l.When.IsZero() {
			t.Errorf("%+v", l)
		}
	}
	if len(count) != people || lines(t, path) != people*n {
		t.Errorf("%d people, %d lines", len(count), lines(t, path))
	}
	for who, k := range count {
		if k != n {
			t.Errorf("%s has %d labels", who, k)
		}
	}
}

// A form that is sent twice counts once; another answer to the same question
// replaces the first; undo shows the question again, with its comment.
func TestAgain(t *testing.T) {
	path := newRun(t, "leakage", pairs(3, false)...)
	c := as(t, newServer(t, path, Options{}), "زينب")
	form, _ := c.question("leakage")
	form.Set("label", "A")
	form.Set("comment", " odd\r\nindeed ")
	shown := form.Get("shown")
	form.Set("shown", shown[:len(shown)-4]+"0000") // up to 10 s ago
	form.Set("away", "1000000000")
	for range 3 {
		c.send("POST", "/leakage", form)
	}
	if n := lines(t, path); n != 1 {
		t.Fatalf("%d labels", n)
	}
	l := readLabels(t, path)[0]
	if l.Annotator != "زينب" || l.Comment != "odd\nindeed" || l.Seconds != 0 || l.Question != "leakage" {
		t.Errorf("%+v", l)
	}
	form.Set("label", "neither")
	c.send("POST", "/leakage", form)
	if l := readLabels(t, path); len(l) != 1 || l[0].Label != "neither" {
		t.Errorf("%+v", l)
	}
	c.answer("leakage", "B")
	c.send("POST", "/leakage/undo", url.Values{})
	if l := readLabels(t, path); len(l) != 1 {
		t.Errorf("%d labels after undoing one of two", len(l))
	}
	c.send("POST", "/leakage/undo", url.Values{})
	again, page := c.question("leakage")
	if again.Get("id") != form.Get("id") || !strings.Contains(page, "odd\nindeed</textarea>") || len(readLabels(t, path)) != 0 {
		t.Errorf("after undo: %s\n%s", again, page)
	}
	if c.send("POST", "/leakage/undo", url.Values{}); len(readLabels(t, path)) != 0 {
		t.Error("there is nothing to undo")
	}
}

func TestRefused(t *testing.T) {
	path := newRun(t, "leakage", pairs(4, false)...)
	s := newServer(t, path, Options{Sample: labels.Sample{N: 2, Seed: 1}})
	c := as(t, s, "ann")
	form, _ := c.question("leakage")
	form.Set("label", "A")
	with := func(name, value string) url.Values {
		changed := url.Values{}
		for k, v := range form {
			changed[k] = v
		}
		changed.Set(name, value)
		return changed
	}
	outside := "" // of the sample
	all := newServer(t, path, Options{})
	for _, a := range all.of(all.sheets[0], "ann") {
		if !slices.ContainsFunc(s.of(s.sheets[0], "ann"), func(mine labels.Asked) bool {
			u, _ := s.sheets[0].Unit(mine.ID)
			v, _ := s.sheets[0].Unit(a.ID)
			return u.Key() == v.Key()
		}) {
			outside = a.ID
		}
	}
	site := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	for name, c := range map[string]struct {
		target string
		form   url.Values
		change func(*http.Request)
		want   int
	}{
		"unknown label":  {"/leakage", with("label", "left"), nil, 422},
		"no label":       {"/leakage", with("label", ""), nil, 422},
		"unknown id":     {"/leakage", with("id", "1234"), nil, 400},
		"not asked":      {"/leakage", with("id", outside), nil, 400},
		"words":          {"/leakage", with("mark", "0-4"), nil, 422},
		"no place":       {"/leakage", with("mark", "here"), nil, 400},
		"long comment":   {"/leakage", with("comment", strings.Repeat("ü", 4001)), nil, 422},
		"large":          {"/leakage", with("comment", strings.Repeat("x", mostBody)), nil, 400},
		"other question": {"/lines", form, nil, 404},
		"other site":     {"/leakage", form, site, 403},
		"other host":     {"/leakage", form, func(r *http.Request) { r.Host = "evil.example" }, 421},
		"method":         {"/leakage", form, func(r *http.Request) { r.Method = "PUT" }, 405},
		"nobody":         {"/leakage", form, func(r *http.Request) { r.Header.Del("Cookie") }, 303},
	} {
		ann := as(t, s, "ann")
		if w := ann.send("POST", c.target, c.form, func(r *http.Request) {
			if c.change != nil {
				c.change(r)
			}
		}); w.Code != c.want {
			t.Errorf("%s: %d; want %d\n%s", name, w.Code, c.want, w.Body)
		}
	}
	if n := lines(t, path); n != 0 {
		t.Errorf("%d labels", n)
	}
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("x", 81), "a\u202eb"} {
		if w := (&client{t: t, h: s}).send("POST", "/name", url.Values{"name": {name}}); w.Code != 400 {
			t.Errorf("name %q: %d", name, w.Code)
		}
	}
}

// Who has no token sees nothing. A token is that of one annotator, and stays the
// same when the run is served again.
func TestTokens(t *testing.T) {
	path := newRun(t, "leakage", pairs(2, false)...)
	s := newServer(t, path, Options{Annotators: []string{"ann", "bob"}})
	ann, bob := s.Token("ann"), s.Token("bob")
	if ann == bob || len(ann) < 26 || ann != newServer(t, path, Options{}).Token("ann") {
		t.Fatalf("tokens %s and %s", ann, bob)
	}
	for _, target := range []string{"/", "/leakage", "/style.css", "/?token=", "/?token=" + ann[1:], "/?token=" + s.Token("eve")} {
		w := (&client{t: t, h: s}).send("GET", target, nil)
		if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "word") || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	nobody := &client{t: t, h: s}
	if w := nobody.send("POST", "/name", url.Values{"name": {"ann"}}); w.Code != http.StatusUnauthorized {
		t.Errorf("a name without a token: %d", w.Code)
	}
	c := &client{t: t, h: s}
	w := c.send("GET", "/?token="+bob, nil)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || !c.cookies[0].HttpOnly ||
		c.cookies[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	c.answer("leakage", "A")
	if l := readLabels(t, path); len(l) != 1 || l[0].Annotator != "bob" {
		t.Errorf("%+v", l)
	}
	if w := c.send("POST", "/name", url.Values{"name": {"ann"}}); w.Code != 404 {
		t.Errorf("a name beside a token: %d", w.Code)
	}
	if strings.Contains(strings.Join(c.bodies, ""), bob) {
		t.Error("a page contains the token")
	}
}
