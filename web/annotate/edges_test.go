package annotate

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/labels"
)

// Labels that can no longer be read are an error on every page that needs them, without the run's path, and nothing is
// saved.
func TestBrokenLabels(t *testing.T) {
	path := newRun(t, "consistency", coded()...)
	s := newServer(t, path, Options{})
	c := as(t, s, "ann")
	name := s.sheets[0].Question.Name
	form, _ := c.question(name)
	form.Set("label", "x")
	file := filepath.Join(path, labels.File)
	if err := os.WriteFile(file, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		method, target string
		form           url.Values
	}{{"GET", "/", nil}, {"GET", "/progress", nil}, {"GET", "/" + name, nil}, {"POST", "/" + name, form}, {"POST", "/" + name + "/undo", url.Values{}}} {
		w := c.send(of.method, of.target, of.form)
		if page := w.Body.String(); w.Code != http.StatusInternalServerError || strings.Contains(page, path) ||
			!strings.Contains(page, "labels.jsonl") {
			t.Errorf("%s %s: %d %s", of.method, of.target, w.Code, page)
		}
	}
	if n := lines(t, path); n != 1 {
		t.Errorf("%d lines", n)
	}
	if _, err := New(path, Options{}); err == nil || !strings.Contains(err.Error(), "labels.jsonl") {
		t.Error(err)
	}
}

// A withdrawn answer is asked about again at once, though others before it have no answer.
func TestUndoOutOfOrder(t *testing.T) {
	path := newRun(t, "leakage", pairs(5, false)...)
	s := newServer(t, path, Options{})
	c := as(t, s, "ann")
	asked := s.of(s.sheets[0], "ann")
	say := func(i int) {
		w := c.send("POST", "/leakage", url.Values{"id": {asked[i].ID}, "label": {"A"}, "comment": {fmt.Sprint("number ", i)}})
		if w.Code != http.StatusSeeOther {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	next := func(want int) {
		t.Helper()
		if form, _ := c.question("leakage"); form.Get("id") != asked[want].ID {
			t.Errorf("%s is asked; want %s", form.Get("id"), asked[want].ID)
		}
	}
	say(3)
	say(1)
	next(0)
	c.send("POST", "/leakage/undo", url.Values{})
	next(1)
	c.send("POST", "/leakage/undo", url.Values{})
	next(3)
	if n := lines(t, path); n != 4 {
		t.Errorf("%d lines", n)
	}
	c.send("POST", "/leakage/undo", url.Values{}) // there is nothing more
	next(3)
	say(3)
	next(0)
	if n := lines(t, path); n != 5 {
		t.Errorf("%d lines", n)
	}
}

// An answer with something wrong beside its label is not saved.
func TestNotSaved(t *testing.T) {
	path := newRun(t, "leakage", pairs(2, false)...)
	s := newServer(t, path, Options{})
	c := as(t, s, "ann")
	id := s.of(s.sheets[0], "ann")[0].ID
	for i, of := range []struct {
		form url.Values
		want int
	}{
		{url.Values{"comment": {strings.Repeat("ü", longestComment+1)}}, http.StatusUnprocessableEntity},
		{url.Values{"mark": {"1-x"}}, http.StatusBadRequest},
		{url.Values{"mark": {"x-1"}}, http.StatusBadRequest},
		{url.Values{"label": {"C"}}, http.StatusUnprocessableEntity},
		{url.Values{"id": {"none"}}, http.StatusBadRequest},
		{url.Values{"comment": {strings.Repeat("ü", longestComment)}}, http.StatusSeeOther},
	} {
		form := url.Values{"id": {id}, "label": {"A"}}
		for name, values := range of.form {
			form[name] = values
		}
		if w := c.send("POST", "/leakage", form); w.Code != of.want || lines(t, path) != i/5 {
			t.Errorf("%d: %d %s; %d lines", i, w.Code, w.Body, lines(t, path))
		}
	}
}
