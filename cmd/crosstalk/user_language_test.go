package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crosstalk/guard"
	"crosstalk/guard/server"
)

// A conversation of guard/testdata/user/conversations.jsonl, the last message the answer.
type conversation struct {
	ID       string          `json:"id"`
	Right    string          `json:"right"` // the language that the answer should be in, empty if that cannot be told
	Text     string          `json:"text"`  // the answer
	Messages []guard.Message `json:"messages"`
}

// Whoever asks for the user's language is told the same: check, score, and all that guard answers.
func TestUserLanguage(t *testing.T) {
	t.Parallel()
	const file = "../../guard/testdata/user/conversations.jsonl"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var conversations []conversation
	want := map[string]string{}
	for line := range bytes.Lines(data) {
		var c conversation
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		conversations, want[c.ID] = append(conversations, c), c.Right
	}
	if len(want) < 15 {
		t.Fatalf("%d conversations", len(want))
	}

	var stdout, stderr bytes.Buffer
	if code := execute([]string{"check", file}, &stdout, &stderr); code != 0 {
		t.Fatalf("check: exit code %d\n%s", code, stderr.String())
	}
	checked := map[string]string{}
	for line := range bytes.Lines(stdout.Bytes()) {
		var v struct{ ID, Verdict, Expected string }
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		checked[v.ID] = v.Expected
		if (v.Verdict == "cannot_tell") != (v.Expected == "") || v.Verdict == "wrong" {
			t.Errorf("check, %s: %s", v.ID, v.Verdict) // no answer is in another language than it should be
		}
	}
	told(t, "check", checked, want)

	run := filepath.Join(t.TempDir(), "run")
	if code := execute([]string{"score", "confusion", file, "--language", "user", "--out", run}, io.Discard, &stderr); code != 0 {
		t.Fatalf("score: exit code %d\n%s", code, stderr.String())
	}
	told(t, "score", scoredLanguages(t, run), want)

	s := httptest.NewServer(server.New(server.Options{Language: guard.User, Block: true}))
	defer s.Close()
	const greek = "Η παραγγελία σας είναι καθ' οδόν και φτάνει αύριο."
	expected := regexp.MustCompile(`(?:"expected":"|should be in )([\w-]*)`)
	post := func(path string, body any) string {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Post(s.URL+path, "application/json", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		answer, _ := io.ReadAll(response.Body)
		if response.StatusCode != 200 {
			t.Errorf("%s: %s", path, answer)
		}
		m := expected.FindStringSubmatch(string(answer))
		if m == nil {
			m = []string{"", ""}
		}
		if blocks := strings.Contains(string(answer), `"block"`) ||
			strings.Contains(string(answer), "BLOCKED"); blocks != (m[1] != "") && path != "/promptfoo" {
			t.Errorf("%s: %s", path, answer)
		}
		return m[1]
	}
	const litellm = "/beta/litellm_basic_guardrail_api"
	type object = map[string]any
	ways := map[string]func(c conversation) string{
		"/v1/check": func(c conversation) string {
			return post("/v1/check", object{"text": greek, "messages": c.Messages})
		},
		"/v1/check/stream": func(c conversation) string {
			return post("/v1/check/stream", object{"text": greek, "messages": c.Messages})
		},
		"LiteLLM, before the call": func(c conversation) string {
			post(litellm, object{"input_type": "request", "litellm_call_id": c.ID, "texts": []string{"?"}, "structured_messages": c.Messages})
			return post(litellm, object{"input_type": "response", "litellm_call_id": c.ID, "texts": []string{greek}})
		},
		"LiteLLM, after the call": func(c conversation) string {
			return post(litellm, object{"input_type": "response", "texts": []string{greek}, "structured_messages": c.Messages})
		},
		"promptfoo": func(c conversation) string {
			prompt, _ := json.Marshal(c.Messages)
			return post("/promptfoo", object{"output": greek, "context": object{"prompt": string(prompt)}})
		},
	}
	single := map[string]func(text, id string) string{ // what has one message of the user
		"prompt": func(text, _ string) string { return post("/v1/check", object{"text": greek, "prompt": text}) },
		"LiteLLM, texts": func(text, id string) string {
			post(litellm, object{"input_type": "request", "litellm_call_id": "one " + id, "texts": []string{text}})
			return post(litellm, object{"input_type": "response", "litellm_call_id": "one " + id, "texts": []string{greek}})
		},
		"promptfoo, text": func(text, _ string) string {
			return post("/promptfoo", object{"output": greek, "context": object{"prompt": text}})
		},
	}
	for name, way := range ways {
		got := map[string]string{}
		for _, c := range conversations {
			got[c.ID] = way(c)
		}
		told(t, name, got, want)
	}
	for name, way := range single {
		for _, c := range conversations {
			if len(c.Messages) == 2 {
				told(t, name, map[string]string{c.ID: way(string(c.Messages[0].Content), c.ID)}, map[string]string{c.ID: c.Right})
			}
		}
	}
}

// One page states the rule, and the others refer to it.
func TestManualUserLanguage(t *testing.T) {
	for page, text := range manual(t) {
		states := strings.Contains(text, "The user's language is the language of")
		if states != strings.HasSuffix(page, "/check.md") {
			t.Errorf("%s states the rule for the user's language: %v", page, states)
		}
	}
	for _, page := range []string{"guard", "recorded"} {
		if !strings.Contains(manual(t)["../../docs/"+page+".md"], "(check.md#the-users-language)") {
			t.Errorf("docs/%s.md does not refer to the rule for the user's language", page)
		}
	}
}

func told(t *testing.T, way string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v\nwant %v", way, got, want)
	}
}

// scoredLanguages are the languages that a run's answers should be in, of the last answer of each conversation.
func scoredLanguages(t *testing.T, run string) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(run, "observations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	languages := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var o struct {
			Cluster string
			Labels  struct{ Locale string }
		}
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		languages[o.Cluster] = strings.TrimSuffix(o.Labels.Locale, "und") // the answers are in order
	}
	return languages
}
