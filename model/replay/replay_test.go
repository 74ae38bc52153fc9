package replay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask/journal"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func chat(text string, sample int) crosstalk.Request {
	return crosstalk.Request{API: crosstalk.Chat, Sample: sample,
		Messages: []crosstalk.Message{{Role: "system", Content: "s"}, {Role: "user", Content: text}}}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"counted", "a.jsonl", `{"prompt":"p","answer":"one"}
			{"prompt":"q","answer":" "}
			{"prompt":"p","answer":"two"}`},
		{"numbered", "a.csv", "prompt,sample,completion\np,1,two\np,0,one\nq,0,\n"},
		{"lists", "a.jsonl", `{"prompt":"p","text":["one","two"]}
			{"prompt":"q","text":[""]}`},
		{"of one model", "a.csv", "prompt,model,answer\np,m,one\np,m,two\nq,m,\n"},
	} {
		m, err := Open(write(t, c.file, c.text), "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, want := range []string{"one", "two"} {
			if a, err := m.Answer(t.Context(), chat("p", i)); err != nil || a.Status != crosstalk.Text || a.Text != want {
				t.Errorf("%s, sample %d: %+v, %v", c.name, i, a, err)
			}
		}
		if a, err := m.Answer(t.Context(), chat("q", 0)); err != nil || a.Status != crosstalk.Empty {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
		for text, sample := range map[string]int{"p": 2, "another prompt": 0} {
			var ask *crosstalk.AskError
			if _, err := m.Answer(t.Context(), chat(text, sample)); !errors.As(err, &ask) || ask.Fault != crosstalk.Rejected ||
				!strings.Contains(err.Error(), `prompt "`+text+`"`) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if m.API() != crosstalk.Chat {
			t.Errorf("%s: API %s", c.name, m.API())
		}
	}
}

// Other answers are another model; the journal must not mix them up.
func TestIdentity(t *testing.T) {
	names := map[string]bool{}
	for _, text := range []string{`{"prompt":"p","answer":"one"}`, `{"prompt":"p","answer":"two"}`, `{"prompt":"p","answer":["one","two"]}`} {
		m, err := Open(write(t, "a.jsonl", text), crosstalk.Completions)
		if err != nil {
			t.Fatal(err)
		}
		if id := m.Identity(); id.Provider != "replay" || !strings.HasPrefix(id.Name, "a.jsonl@") || id.Endpoint != "" ||
			m.API() != crosstalk.Completions {
			t.Errorf("%+v, %s", id, m.API())
		}
		names[m.Identity().Name] = true
	}
	if len(names) != 3 {
		t.Errorf("three files, names %v", names)
	}
}

func TestModels(t *testing.T) {
	path := write(t, "a.csv", "prompt,model,answer\np,x:1,one\np,y,two\n")
	if _, err := Open(path, ""); err == nil || !strings.Contains(err.Error(), "name one, as in replay:"+path+"#x:1 (choose one of x:1, y)") {
		t.Errorf("two models: %v", err)
	}
	for only, want := range map[string]string{"x:1": "one", "y": "two"} {
		m, err := Open(path+"#"+only, "")
		if err != nil {
			t.Fatal(err)
		}
		if a, err := m.Answer(t.Context(), chat("p", 0)); err != nil || a.Text != want || a.Model != only {
			t.Errorf("%s: %+v, %v", only, a, err)
		}
	}
	if _, err := Open(path+"#z", ""); err == nil || !strings.Contains(err.Error(), `has no answers of a model "z"`) {
		t.Errorf("no such model: %v", err)
	}
}

// Thoughts that were recorded in an answer are separated from it.
func TestThoughts(t *testing.T) {
	m, err := Open(write(t, "a.jsonl", `{"prompt":"p","answer":["<think>hm</think>\n\npizza","<think>hm"]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := m.Answer(t.Context(), chat("p", 0)); err != nil || a.Text != "pizza" || a.Reasoning != "hm" ||
		a.Status != crosstalk.Text {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := m.Answer(t.Context(), chat("p", 1)); err != nil || a.Text != "" || a.Status != crosstalk.Empty ||
		a.Reason != crosstalk.Thinking {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.csv", "question,answer\np,a\n", "a.csv:2: expected the columns prompt and answer (or completion, or text); found question, answer"},
		{"a.csv", "prompt,sample,answer\np,x,a\n", `a.csv:2: sample is "x"; expected a whole number from 0`},
		{"a.csv", "prompt,sample,answer\np,-1,a\n", `a.csv:2: sample is "-1"`},
		{"a.csv", "prompt,sample,answer\np,0,a\np,0,b\n", `a.csv:3: duplicate sample 0 of the prompt "p" (first in`},
		{"a.jsonl", `{"prompt":"","answer":"a"}`, "a.jsonl:1: the prompt is empty"},
		{"a.jsonl", "", "a.jsonl: has no answers"},
		{"a.jsonl", "{", "a.jsonl:1: "},
		{"a.txt", "x", "expected a file that ends in .csv"},
		{"a.db", "x", "a.db"},
	} {
		if m, err := Open(write(t, c.file, c.text), ""); err == nil || m != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.file, c.text, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no.jsonl"), ""); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "answers.db") {
		t.Error(err)
	}
}

// A journal answers the request that it has, or else any with the text and sample,
// unless several answers were recorded. Failures are no answers.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, journal.Name))
	if err != nil {
		t.Fatal(err)
	}
	limited := func(text string, sample, limit int) crosstalk.Request {
		return crosstalk.Request{API: crosstalk.Completions, Prompt: text, Sample: sample,
			Decoding: crosstalk.Decoding{MaxTokens: limit}}
	}
	put := func(model string, req crosstalk.Request, status crosstalk.Status, text string) {
		t.Helper()
		id := crosstalk.Identity{Provider: "p", Name: model}
		answer := crosstalk.Answer{Key: crosstalk.KeyOf(id, req), Status: status, Text: text}
		r := journal.Record{Identity: id, Request: req, Answer: answer}
		if err := j.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	put("m", limited("one", 0, 5), crosstalk.Text, "first")
	put("m", limited("one", 1, 5), crosstalk.Text, "<think>hm</think>\n\nsecond")
	put("m", limited("same", 0, 5), crosstalk.Text, "same")
	put("m", limited("same", 0, 6), crosstalk.Text, "same")
	put("m", limited("texts", 0, 5), crosstalk.Text, "a")
	put("m", limited("texts", 0, 6), crosstalk.Text, "b")
	put("m", limited("statuses", 0, 5), crosstalk.Text, "a")
	put("m", limited("statuses", 0, 6), crosstalk.Refused, "a")
	put("m", limited("failed", 0, 5), crosstalk.Failed, "")
	put("b", limited("b's", 0, 5), crosstalk.Text, "b")
	put("a", limited("a's", 0, 5), crosstalk.Text, "a")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, journal.Name)
	if _, err := Open(dir, ""); err == nil || !strings.HasSuffix(err.Error(), "has answers of 3 models; name one, as in replay:"+
		dir+"#p:a (choose one of p:a, p:b, p:m)") {
		t.Error(err)
	}
	for _, path := range []string{dir, file} {
		m, err := Open(path+"#p:m", "")
		if err != nil {
			t.Fatal(err)
		}
		if m.API() != crosstalk.Completions {
			t.Errorf("the API is %s", m.API())
		}
		for _, c := range []struct {
			text               string
			sample, limit      int
			want, wantReasoned string
		}{
			{"one", 0, 5, "first", ""}, {"one", 0, 6, "first", ""}, {"one", 1, 0, "second", "hm"}, {"same", 0, 7, "same", ""},
			{"texts", 0, 5, "a", ""}, {"texts", 0, 6, "b", ""}, {"texts", 0, 7, "several answers were recorded", ""},
			{"statuses", 0, 7, "several answers were recorded", ""}, {"failed", 0, 5, "no answer was recorded", ""},
			{"b's", 0, 5, "no answer was recorded", ""},
		} {
			a, err := m.Answer(t.Context(), limited(c.text, c.sample, c.limit))
			if err != nil {
				a.Text, _, _ = strings.Cut(strings.TrimPrefix(err.Error(), m.Identity().String()+": "), " for sample ")
				a.Text, _, _ = strings.Cut(a.Text, ",")
			}
			if a.Text != c.want || a.Reasoning != c.wantReasoned {
				t.Errorf("%+v: %+v, %v", c, a, err)
			}
		}
	}
	if m, err := Open(file+"#p:m", crosstalk.Chat); err != nil || m.API() != crosstalk.Chat {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("no journal ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, ""); err == nil || !strings.Contains(err.Error(), "is not a readable journal") {
		t.Error(err)
	}
	// The # may be a part of a file's name.
	hash := write(t, "a#b.csv", "prompt,answer\np,one\n")
	if m, err := Open(hash, ""); err != nil || !strings.HasPrefix(m.Identity().Name, "a#b.csv@") {
		t.Error(err)
	}
}
