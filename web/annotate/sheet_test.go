package annotate

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/labels"
)

var (
	changing = regexp.MustCompile(`name="shown" value="\d+"|http://[^?\s]*`)
	head     = regexp.MustCompile(`(?s)<!DOCTYPE.*?(<title>.*?</title>).*?<body>`)
)

// Every page, redirect and label of some annotators, as testdata/sheet.txt has them. -update writes it anew.
func TestSheet(t *testing.T) {
	sheet, err := filepath.Abs("testdata/sheet.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	visit := func(c *client, method, target string, form url.Values) {
		w := c.send(method, target, form)
		fmt.Fprintf(&b, "\n$ %s %s %s\n%d %s %s\n", method, target, form.Encode(), w.Code, w.Header().Get("Location"), w.Header().Get("Set-Cookie"))
		if !strings.HasSuffix(target, ".css") && !strings.HasSuffix(target, ".js") {
			fmt.Fprintln(&b, head.ReplaceAllString(changing.ReplaceAllString(w.Body.String(), ""), "$1"))
		}
	}
	answer := func(c *client, name, label string, more ...string) {
		form, _ := c.question(name)
		form.Del("shown")
		form.Set("label", label)
		for pair := range slices.Chunk(more, 2) {
			form.Add(pair[0], pair[1])
		}
		visit(c, "POST", "/"+name, form)
	}
	told := func(path string) {
		for _, l := range readLabels(t, path) {
			l.When = time.Time{}
			fmt.Fprintf(&b, "%+v\n", l)
		}
	}
	words := newRun(t, "confusion", answers()...)
	s := newServer(t, words, Options{})
	ann := &client{t: t, h: s}
	for _, target := range []string{"/", "/lines", "/progress", "/nothing", "/style.css", "/script.js", "/icon.svg"} {
		visit(ann, "GET", target, nil)
	}
	visit(ann, "POST", "/name", url.Values{"name": {" "}})
	visit(ann, "POST", "/name", url.Values{"name": {" Ann Ü "}})
	visit(ann, "GET", "/", nil)
	visit(ann, "GET", "/lines", nil)
	answer(ann, "lines", "right", "comment", "so it is")
	visit(ann, "POST", "/lines/undo", url.Values{})
	visit(ann, "GET", "/lines", nil)
	for range 3 {
		answer(ann, "lines", "wrong")
	}
	visit(ann, "GET", "/lines", nil)
	visit(ann, "GET", "/confusion", nil)
	_, page := ann.question("confusion")
	answer(ann, "confusion", "cannot tell", "mark", "2-10")
	answer(ann, "confusion", "cannot tell", "mark", word.FindStringSubmatch(page)[1])
	visit(ann, "POST", "/confusion/undo", url.Values{})
	visit(ann, "GET", "/confusion", nil)
	bob := as(t, s, "bob")
	answer(bob, "lines", "right")
	visit(bob, "GET", "/progress", nil)
	visit(bob, "POST", "/leave", url.Values{})
	visit(bob, "GET", "/", nil)
	told(words)

	path := newRun(t, "leakage", pairs(3, false)...)
	for _, who := range []string{"ann", "bob"} {
		s := newServer(t, path, Options{Annotators: []string{"ann", "bob"}, Guide: []string{"One.", "Two <b>."}})
		c := &client{t: t, h: s}
		visit(c, "GET", "/leakage?token="+s.Token(who), nil)
		visit(c, "GET", "/leakage", nil)
		for i := range 3 {
			answer(c, "leakage", []string{"A", "neither", "b"}[(i+len(who)*int(who[0]))%3], "comment", who)
		}
		visit(c, "GET", "/progress", nil)
	}
	eve := newServer(t, path, Options{Adjudicator: " eve "})
	c := &client{t: t, h: eve}
	visit(c, "GET", "/?token="+eve.Token("eve"), nil)
	visit(c, "GET", "/leakage", nil)
	answer(c, "leakage", "A")
	visit(c, "GET", "/leakage", nil)
	told(path)

	empty, codes := newRun(t, "leakage"), newRun(t, "consistency", coded()...)
	for _, c := range []struct {
		path, addr string
		Options
	}{
		{path, "127.0.0.1:0", Options{}}, {path, "127.0.0.1:0", Options{Annotators: []string{"ann", "bob"}, Overlap: 1}},
		{path, ":0", Options{}}, {path, ":0", Options{Annotators: []string{"ann"}}}, {path, "nowhere:x", Options{}},
		{path, "127.0.0.1:0", Options{Questions: []string{"lines"}}}, {path, "127.0.0.1:0", Options{Sample: labels.Sample{N: 2}}},
		{path, "127.0.0.1:0", Options{Sample: labels.Sample{Only: []string{"nothing"}}}}, {empty, "127.0.0.1:0", Options{}},
		{codes, "127.0.0.1:0", Options{}}, {codes, "127.0.0.1:0", Options{Questions: []string{"reading"}}}, {codes, "127.0.0.1:0", Options{Adjudicator: "eve"}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out strings.Builder
		err := Serve(ctx, &out, c.addr, c.path, c.Options)
		text := fmt.Sprintf("%s= %v\n", changing.ReplaceAllString(out.String(), ""), err)
		fmt.Fprintf(&b, "\n$ serve %s %+v\n%s", c.addr, c.Options, strings.ReplaceAll(text, c.path, "RUN"))
	}
	asks := newServer(t, codes, Options{Questions: []string{"codes"}})
	other := labels.Label{Question: "consistency", Place: asks.sheets[0].units[0].Place, Annotator: "bob", Label: "yes"}
	if err := labels.Append(codes, other); err != nil {
		t.Fatal(err)
	}
	coder := as(t, asks, "ann")
	visit(coder, "GET", "/codes", nil)
	answer(coder, "codes", " vague", "reason", "tone", "reason", "negation")
	visit(coder, "GET", "/codes", nil)
	answer(coder, "codes", "")
	told(codes)
	golden.Check(t, sheet, b.String())
}

// coded are consistency observations of pairs that differ.
func coded() (list []crosstalk.Observation) {
	for i := range 2 {
		o := crosstalk.Observation{Measure: "consistency", Item: fmt.Sprint("i", i), Finding: "inconsistent", Variant: "T",
			Condition: map[string]string{"model": "m"}, Labels: map[string]string{"task": "t", "pair": "de-en", "part": "T"}}
		o.AddText(crosstalk.Given, "source_input", "Is it so?")
		if i == 1 {
			o.AddText(crosstalk.Given, "input", "Ist es so?")
		}
		o.AddText(crosstalk.Side, "source", "yes")
		o.AddText(crosstalk.Side, "answer", "nein")
		list = append(list, o)
	}
	return list
}

// The contents of a form: how long an answer took, without the time away; codes; places of words.
func TestRead(t *testing.T) {
	now := time.UnixMilli(100_000_000_000)
	for _, c := range []struct{ form, want string }{
		{"", `{ID: Shown: Seconds:0 Comment:"" Words:[]} <nil>`},
		{"id=q1&label=A&comment=+a%0D%0Ab+", `{ID:q1 Shown:A Seconds:0 Comment:"a\nb" Words:[]} <nil>`},
		{"shown=99999990000", `{ID: Shown: Seconds:10 Comment:"" Words:[]} <nil>`},
		{"shown=99999990000&away=4000", `{ID: Shown: Seconds:6 Comment:"" Words:[]} <nil>`},
		{"shown=99999990000&away=-4000", `{ID: Shown: Seconds:10 Comment:"" Words:[]} <nil>`},
		{"shown=99999998766", `{ID: Shown: Seconds:1.2 Comment:"" Words:[]} <nil>`},
		{"shown=100000000000", `{ID: Shown: Seconds:0 Comment:"" Words:[]} <nil>`},
		{"shown=100000000001", `{ID: Shown: Seconds:0 Comment:"" Words:[]} <nil>`},
		{"shown=99913600000", `{ID: Shown: Seconds:0 Comment:"" Words:[]} <nil>`},
		{"shown=99913600100", `{ID: Shown: Seconds:86399.9 Comment:"" Words:[]} <nil>`},
		{"shown=x", `{ID: Shown: Seconds:0 Comment:"" Words:[]} <nil>`},
		{"label=vague&reason=a&reason=b", `{ID: Shown:a;b;vague Seconds:0 Comment:"" Words:[]} <nil>`},
		{"mark=0-4&mark=7-10", `{ID: Shown: Seconds:0 Comment:"" Words:[[0 4] [7 10]]} <nil>`},
		{"mark=x-4", `{ID: Shown: Seconds:0 Comment:"" Words:[]} The form has been changed.`},
		{"mark=4-x", `{ID: Shown: Seconds:0 Comment:"" Words:[]} The form has been changed.`},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(c.form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if err := r.ParseForm(); err != nil {
			t.Fatal(err)
		}
		a, err := read(r, "ann", now)
		got := fmt.Sprintf("{ID:%s Shown:%s Seconds:%v Comment:%q Words:%v} %v", a.ID, a.Shown, a.Seconds, a.Comment, a.Words, err)
		if got != c.want || a.Annotator != "ann" || !a.When.Equal(now) {
			t.Errorf("%s: %s, want %s", c.form, got, c.want)
		}
	}
	for n, want := range map[int]bool{longestComment: true, longestComment + 1: false} {
		r := &http.Request{PostForm: url.Values{"comment": {strings.Repeat("ü", n)}}}
		if _, err := read(r, "ann", now); (err == nil) != want {
			t.Errorf("a comment of %d characters: %v", n, err)
		}
	}
	for i, want := range map[int]string{0: "1", 8: "9", 9: ""} {
		if got := key(i); got != want {
			t.Errorf("key %d: %s", i, got)
		}
	}
	for name, want := range map[string]bool{strings.Repeat("ü", longestName): true, strings.Repeat("ü", longestName+1): false,
		"": false, "a": true, " a": false, "a\x1b": false} {
		if err := checkName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
