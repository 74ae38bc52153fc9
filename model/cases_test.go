package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/internal/testing/testserver"
)

// asked is a case: how a model is opened and asked. It is JSON in the files of cases.
type asked struct {
	Model, BaseURL, KeyVar, KeyFile string
	API                             crosstalk.API
	Header                          []string
	Env                             map[string]string

	Plain             bool // nothing but what follows is asked for, else every parameter
	Reasoning         string
	Temperature, TopP *float64
	MaxTokens         int
	Extra             map[string]any
	Families          []Family
	Without           []string // parameters that a server refused, one after the other
	Room              bool
	Serves            string   // the model that answers
	Models            []string // that the server has; none: all
}

func readAsked(t *testing.T, input string) (c asked) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	return c
}

func (c asked) options() Options {
	return Options{BaseURL: c.BaseURL, API: c.API, KeyVar: c.KeyVar, KeyFile: c.KeyFile, Header: c.Header,
		Getenv: func(name string) string { return c.Env[name] }}
}

// What a model does not take is changed, left out, or cut from its answers. What was adapted needs nothing more but the
// notes of what the answer keeps.
func TestAdapt(t *testing.T) {
	golden.Cases(t, "testdata/adapt.txt", func(input string) string {
		c := readAsked(t, input)
		p := full()
		if c.Plain {
			p = crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{Temperature: c.Temperature,
				TopP:      c.TopP,
				MaxTokens: c.MaxTokens}}
		}
		p.Decoding.Reasoning, p.Decoding.Extra = c.Reasoning, c.Extra
		p, changes := Adapt(c.Model, p, c.Families)
		said := said(changes)
		if again, more := Adapt(c.Model, p, c.Families); len(more) > strings.Count(said, "stop [")+strings.Count(said, "logprobs") {
			t.Errorf("%s: adapted again: %+v", input, again)
		}
		for _, param := range c.Without {
			adapted, change, ok := Without(c.Model, p, param)
			said += fmt.Sprintf("\n%t %s", ok, change)
			p = adapted
		}
		if c.Room {
			adapted, change, ok := WithRoom(c.Model, p, c.Families)
			said += fmt.Sprintf("\n%t %t %s", ok, change.Keeps, change)
			p = adapted
		}
		return fmt.Sprintf("%s\n%s, room for %d", said, crosstalk.Canonical(p.Request("hi", 0)), p.Decoding.ReasoningTokens)
	})
}

// How models are opened, or why not.
func TestOpen(t *testing.T) {
	golden.Cases(t, "testdata/open.txt", func(input string) string {
		c := readAsked(t, input)
		m, err := Open(c.Model, c.options())
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s at %s, %s", m.Identity(), m.Identity().Endpoint, m.API())
	})
}

// What Check finds at the test server, which has refusals and thoughts of many families.
func TestCheckedRows(t *testing.T) {
	golden.Cases(t, "testdata/check.txt", func(input string) string {
		c := readAsked(t, input)
		s := testserver.New(testserver.Options{Serves: c.Serves, Models: c.Models})
		defer s.Close()
		o := c.options()
		o.BaseURL, o.Getenv = s.URL+"/v1", func(string) string { return "sk-0123456789" }
		found, err := Check(t.Context(), c.Model, o)
		if err != nil {
			return strings.ReplaceAll(err.Error(), o.BaseURL, "URL")
		}
		if !SameModel(found.Model.Name, found.Answer.Model) && c.Serves == "" {
			t.Errorf("%s: %q answered", input, found.Answer.Model)
		}
		var b strings.Builder
		for _, row := range found.Rows() {
			fmt.Fprintf(&b, "%s: %s\n", row[0], row[1])
		}
		_, date := Families()
		return strings.NewReplacer(o.BaseURL, "URL", date, "DATE").Replace(strings.TrimSpace(b.String()))
	})
}

// Lists of families as users write them, or what is wrong.
func TestReadFamilies(t *testing.T) {
	golden.Cases(t, "testdata/families.txt", func(input string) string {
		file := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(file, []byte(input), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := ReadFamilies(file)
		if err != nil {
			return strings.ReplaceAll(err.Error(), file, "FILE")
		}
		return string(crosstalk.Canonical(all))
	})
}

// A list of families may be as large as its limit.
func TestLargestFamilies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	for more, ok := range map[int]bool{0: true, 1: false} {
		text := ours + "#" + strings.Repeat("x", 1<<20-len(ours)-1+more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFamilies(file); (err == nil) != ok {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if all, err := ReadFamilies(""); all != nil || err != nil {
		t.Error(all, err)
	}
}

// Headers that users give, and what is secret in them. Errors do not show values.
func TestParseHeader(t *testing.T) {
	golden.Cases(t, "testdata/headers.txt", func(input string) string {
		var lines []string
		if err := json.Unmarshal([]byte(input), &lines); err != nil {
			t.Fatal(err)
		}
		h, secret, err := ParseHeader(lines, env("V", " v w\n", "TOKEN", " secret-1 "))
		if err != nil {
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("%s: %v", input, err)
			}
			return err.Error()
		}
		return fmt.Sprintf("%q, secret %q", h, secret)
	})
}

// A model under another name that servers give it is the same, one of another size is not.
func TestSameModel(t *testing.T) {
	golden.Cases(t, "testdata/same.txt", func(input string) string {
		asked, served, _ := strings.Cut(input, "\n")
		return fmt.Sprint(SameModel(asked, served))
	})
}

// What providers say of a batch, in their own words.
func TestBatchCounts(t *testing.T) {
	golden.Cases(t, "testdata/batches.txt", func(input string) string {
		name, says, _ := strings.Cut(input, "\n")
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, says) }))
		defer s.Close()
		state, err := batchModel(t, &testserver.Server{URL: s.URL}, name).Poll(t.Context(), "batches/b")
		return fmt.Sprintf("%+v %v", state, err)
	})
}

// An answer that cannot be read is not one that the provider failed to give: it has no key.
func TestUnreadableAnswers(t *testing.T) {
	golden.Cases(t, "testdata/results.txt", func(input string) string {
		name, line, _ := strings.Cut(input, "\n")
		var key string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			line := strings.ReplaceAll(line, "KEY", key)
			switch {
			case strings.HasPrefix(name, "gemini"):
				fmt.Fprintf(w, `{"name":"batches/b","done":true,"response":{"inlinedResponses":{"inlinedResponses":[%s]}}}`, line)
			case strings.HasSuffix(r.URL.Path, "/content"), strings.HasSuffix(r.URL.Path, "/results"):
				fmt.Fprintln(w, line)
			default:
				fmt.Fprint(w, `{"id":"b","status":"completed","output_file_id":"f","processing_status":"ended","results_url":"x"}`)
			}
		}))
		defer s.Close()
		m := batchModel(t, &testserver.Server{URL: s.URL}, name)
		asks, requests := batchAsks(m, 0, 1)
		key = asks[0].Key.String()
		var all []string
		for r, err := range m.Results(t.Context(), "batches/b", requests) {
			all = append(all, fmt.Sprintf("key %t, %v, %v", r.Key == asks[0].Key, r.Err, err))
		}
		slices.Sort(all)
		return strings.NewReplacer(key, "KEY", s.URL, "URL").Replace(strings.Join(all, "\n"))
	})
}
