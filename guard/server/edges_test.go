package server

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"crosstalk/guard"
)

// A log begins anew before it is larger than it may be, never while it is empty. What cannot be written is told once.
func TestLogBounds(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	l := verdicts{path: path, most: 10}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, now, before string }{
		{"more than ten\n", "more than ten\n", ""},
		{"abcd\n", "abcd\n", "more than ten\n"},
		{"efgh\n", "abcd\nefgh\n", "more than ten\n"}, // ten bytes are not too many
		{"i\n", "i\n", "abcd\nefgh\n"},
	} {
		if err := l.write([]byte(c.line)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + ".1"); c.before == "" && err == nil {
			t.Error("an empty log was renamed")
		}
		now, err := os.ReadFile(path)
		before, _ := os.ReadFile(path + ".1")
		if err != nil || string(now) != c.now || string(before) != c.before {
			t.Errorf("after %q: %q and %q, want %q and %q", c.line, now, before, c.now, c.before)
		}
	}

	var said strings.Builder
	lost := verdicts{path: filepath.Join(dir, "none", "log"), most: 10, report: &said}
	for range 2 {
		lost.add(event{})
	}
	if n := strings.Count(said.String(), "The log of verdicts cannot be written"); n != 1 || !lost.failed || len(lost.recent) != 2 {
		t.Errorf("told %d times, %d kept: %q", n, len(lost.recent), &said)
	}
	silent := verdicts{path: lost.path, most: 10}
	silent.add(event{})
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	if lost.add(event{}); lost.failed {
		t.Error("the log does not go on when it can")
	}
	stuck := verdicts{path: filepath.Join(dir, "stuck"), most: 10}
	if err := errors.Join(os.MkdirAll(filepath.Join(stuck.path+".1", "occupied"), 0o700), stuck.write([]byte("12345678\n"))); err != nil {
		t.Fatal(err)
	}
	if err := stuck.write([]byte("9\n")); err == nil {
		t.Error("a log that cannot begin anew grows")
	}
	if now, err := os.ReadFile(stuck.path); err != nil || string(now) != "12345678\n" {
		t.Errorf("%q, %v", now, err)
	}
	none := verdicts{report: &said}
	for range mostRecent + 1 {
		none.add(event{})
	}
	if len(none.recent) != mostRecent {
		t.Errorf("%d recent verdicts", len(none.recent))
	}
}

// A request that was given up, or took too long, may be repeated; any other error is the client's.
func TestFail(t *testing.T) {
	s := newServer(Options{Block: true})
	for _, c := range []struct {
		err   error
		code  int
		retry string
	}{
		{context.Canceled, 503, "1"}, {fmt.Errorf("reading: %w", context.DeadlineExceeded), 503, "1"}, {errBusy, 503, "1"},
		{tooLarge("more than %d", 3), 413, ""}, {errors.New("no JSON"), 400, ""},
	} {
		w := httptest.NewRecorder()
		s.fail(w, httptest.NewRequest("POST", "/v1/check", nil), c.err)
		if w.Code != c.code || w.Header().Get("Retry-After") != c.retry || !strings.HasPrefix(w.Body.String(), "{") {
			t.Errorf("%v: %d, %q, %s", c.err, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
}

// Lines of server-sent events are the JSON that they have, or nothing.
func TestPayload(t *testing.T) {
	for line, want := range map[string]string{`{"text":"a"}`: `{"text":"a"}`, `data: {"a":1} `: `{"a":1}`, `data:{}`: `{}`, "": "",
		"event: x": "", "id: 1": "", "retry: 3": "", ": ping": "", "data: [DONE]": "", "[DONE]": "", "data:": "", "other: x": "other: x",
		"idle": "idle", "[1]": "[1]"} {
		if got := string(payload([]byte(line))); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// The beginning of a character that the next line ends is held back, and nothing else.
func TestTornBounds(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "é": 0, "a\xc3": 1, "\xe4\xb8": 2, "a\xf0\x9f\x98": 3, "\xf0\x9f\x98\x80": 0,
		"\x80": 0, "\x80\x80\x80\x80": 0, `\ud83d`: 6, `a\ud83d`: 6, `\udbff`: 6, `\ud800`: 6, `\ud7ff`: 0, `\udc00`: 0, `\\ud83d`: 0,
		`\\\ud83d`: 6, `\ud83x`: 0, `ud83d`: 0, `\xd83d`: 0} {
		if got := torn([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Offsets count what was asked for, whatever order the spans have.
func TestOffsetsBackwards(t *testing.T) {
	const text = "é😀b und was"
	for kind, count := range map[string]func(string) int{"utf16": func(s string) int { return len(utf16.Encode([]rune(s))) },
		"characters": func(s string) int { return len([]rune(s)) }} {
		length, err := offsetsOf(httptest.NewRequest("POST", "/v1/check?offsets="+kind, nil))
		if err != nil {
			t.Fatal(err)
		}
		v := Verdict{}
		places := [][2]int{{7, 11}, {0, 2}, {2, 6}, {6, len(text)}, {0, 0}}
		for _, p := range places {
			v.Spans = append(v.Spans, guard.Span{Start: p[0], End: p[1]})
		}
		v.in(length, text)
		for i, p := range places {
			if got := v.Spans[i]; got.Start != count(text[:p[0]]) || got.End != count(text[:p[1]]) {
				t.Errorf("%s: %v is %d to %d", kind, p, got.Start, got.End)
			}
		}
	}
	if _, err := offsetsOf(httptest.NewRequest("POST", "/v1/check?offsets=runes", nil)); err == nil || !strings.Contains(err.Error(), "expected bytes, utf16 or characters") {
		t.Errorf("%v", err)
	}
}
