package endpoint

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// A line that is too long is cut, and those after it are whole.
func TestLongLines(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		want []int // lengths
	}{
		"short":             {"one\n\n three\r\nfour", []int{3, 5, 4}},
		"just not too long": {strings.Repeat("x", MaxNumbers-1) + "\ntwo\n", []int{MaxNumbers - 1, 3}},
		"just too long":     {strings.Repeat("x", MaxNumbers) + "\ntwo\n", []int{MaxNumbers, 3}},
		"longer":            {"zero\n" + strings.Repeat("x", MaxNumbers+1) + "\ntwo", []int{4, MaxNumbers, 3}},
		"three times":       {strings.Repeat("x", 3*MaxNumbers) + "\n" + strings.Repeat("y", 2*MaxNumbers) + "\nthree\n", []int{MaxNumbers, MaxNumbers, 5}},
		"at the end":        {"one\n" + strings.Repeat("x", MaxNumbers+9), []int{3, MaxNumbers}},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.sent) }))
		e, err := New(Config{Provider: "openai", Model: "gpt", BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for line, err := range e.Lines(t.Context(), "/x") {
			if err != nil {
				t.Error(name, err)
			}
			got = append(got, len(line))
			r := BatchResult(line, new(struct{}), new(string), nil, nil)
			if long := len(line) >= MaxNumbers; r.Key != (crosstalk.Key{}) || r.Err == nil ||
				strings.Contains(r.Err.Error(), "longer than 16 MiB") != long {
				t.Errorf("%s: %d bytes: %v", name, len(line), r.Err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: lines of %d bytes; want %d", name, got, c.want)
		}
		s.Close()
	}
}

// A page in place of lines is told by its title, and what is not there by its address.
func TestNoLines(t *testing.T) {
	for want, answer := range map[string]http.HandlerFunc{
		`sent no answer but an HTML page: "Sign in to the network"`: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<!doctype html>\n<html>\n<title>Sign in\nto the network</title>")
		},
		`does not have /x (HTTP 404, "no such file")`: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such file", 404) },
	} {
		s := httptest.NewServer(answer)
		e, err := New(Config{Provider: "openai", Model: "gpt", BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range e.Lines(t.Context(), "/x") {
			if n++; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
		}
		if n != 1 {
			t.Errorf("%d lines", n)
		}
		s.Close()
	}
}
