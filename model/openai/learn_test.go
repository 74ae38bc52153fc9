package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

const fine = `200 {"choices":[{"message":{"content":"a. b","finish_reason":"stop"},"text":"a. b"}]}`

func refusal(param, message string) string {
	return fmt.Sprintf(`400 {"error":{"message":%q,"param":%q}}`, message, param)
}

// What a server says of a parameter's name, of stop sequences and of how thinking is
// switched off is learned once, and asked for again only if it may help.
func TestLearn(t *testing.T) {
	const at = "POST /chat/completions"
	limited := crosstalk.Decoding{MaxTokens: 1}
	stops := crosstalk.Decoding{Stop: []string{"."}}
	off := crosstalk.Decoding{Reasoning: crosstalk.ReasoningOff}
	low := crosstalk.Decoding{Reasoning: crosstalk.ReasoningLow}
	wants := refusal("max_tokens", "Use 'max_completion_tokens' instead")
	back := refusal("max_completion_tokens", "Use 'max_tokens' instead")
	flag := refusal("", "parameter.enable_thinking must be set to false for non-streaming calls")
	for _, c := range []struct {
		name    string
		d       crosstalk.Decoding
		replies []string
		sent    []string // what follows the messages
		text    string   // of the last answer; "": an error
		asks    int
	}{
		{"nothing to learn", limited, []string{fine}, []string{`"max_tokens":1`}, "a. b", 1},
		{"another name", limited, []string{wants, fine, fine}, []string{`"max_tokens":1`, `"max_completion_tokens":1`, `"max_completion_tokens":1`}, "a. b", 2},
		{"an unknown name", limited, []string{refusal("max_tokens", "Extra inputs are not permitted"), fine}, []string{`"max_tokens":1`, `"max_completion_tokens":1`}, "a. b", 1},
		{"a value that is refused", limited, []string{refusal("max_tokens", "is too large")}, []string{`"max_tokens":1`}, "", 1},
		{"neither name", limited, []string{wants, back}, []string{`"max_tokens":1`, `"max_completion_tokens":1`}, "", 1},
		{"a limit that was not sent", crosstalk.Decoding{}, []string{wants}, []string{``}, "", 1},
		{"no stop sequences", stops, []string{refusal("stop", "is not supported"), fine, fine}, []string{`"stop":["."]`, ``, ``}, "a", 2},
		{"stop sequences that were not sent", limited, []string{refusal("stop", "is not supported")}, []string{`"max_tokens":1`}, "", 1},
		{"still no stop sequences", stops, []string{refusal("stop", "is not supported"), refusal("stop", "is not supported")}, []string{`"stop":["."]`, ``}, "", 1},
		{"thinking", off, []string{flag, fine, fine}, []string{`"reasoning_effort":"none"`, `"enable_thinking":false`, `"enable_thinking":false`}, "a. b", 2},
		{"still thinking", off, []string{flag, flag}, []string{`"reasoning_effort":"none"`, `"enable_thinking":false`}, "", 1},
		{"thinking that was asked for", low, []string{flag}, []string{`"reasoning_effort":"low"`}, "", 1},
		{"another reason", off, []string{refusal("reasoning_effort", "is not supported")}, []string{`"reasoning_effort":"none"`}, "", 1},
		{"a failure", limited, []string{"500 {}"}, []string{`"max_tokens":1`}, "", 1},
	} {
		var replies []string
		for _, r := range c.replies {
			replies = append(replies, at, r)
		}
		m, s := scripted(t, Options{Reasoning: map[string]map[string]any{"off": {"reasoning_effort": "none"}, "low": {"reasoning_effort": "low"}}}, replies...)
		req := chat("hi")
		req.Decoding = c.d
		var a crosstalk.Answer
		var err error
		for range c.asks {
			a, err = m.Answer(t.Context(), req)
		}
		var sent []string
		for _, body := range s.sent {
			sent = append(sent, strings.Trim(strings.TrimPrefix(body, at+` {"model":"m","messages":[{"role":"user","content":"hi"}]`), ",}"))
		}
		if a.Text != c.text || (err == nil) != (c.text != "") || !slices.Equal(sent, c.sent) {
			t.Errorf("%s: %q, %v; sent %q, want %q", c.name, a.Text, err, sent, c.sent)
		}
	}
	// The other APIs have one name each.
	for api, name := range map[crosstalk.API]string{crosstalk.Completions: "max_tokens", crosstalk.Responses: "max_output_tokens", crosstalk.Chat: "max_tokens"} {
		m, s := scripted(t, Options{API: api}, "POST "+pathOf(api), wants)
		req := prompt("hi")
		req.API, req.Decoding = api, limited
		learned, requests := name, 1
		if api == crosstalk.Chat {
			learned, requests = "max_completion_tokens", 2
		}
		if _, err := m.Answer(t.Context(), req); err == nil || m.MaxTokensName() != learned {
			t.Errorf("%s: %s, %v", api, m.MaxTokensName(), err)
		}
		if len(s.sent) != requests || !strings.Contains(s.sent[0], `"`+name+`":1`) {
			t.Errorf("%s: %q", api, s.sent)
		}
	}
}

// Requests over /v1/responses have no seeds and no stop sequences, and are not kept.
func TestResponsesBody(t *testing.T) {
	const done = `200 {"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`
	half, seed := 0.5, int64(7)
	all := crosstalk.Request{API: crosstalk.Responses, Logprobs: 2, Sample: 3}
	all.Messages = []crosstalk.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"},
		{Role: "system", Content: "t"}, {Role: "assistant", Content: "a"}}
	all.Decoding = crosstalk.Decoding{Temperature: &half, TopP: &half, MaxTokens: 9, Seed: &seed, Stop: []string{"."},
		Reasoning: "low"}
	for want, req := range map[string]crosstalk.Request{
		`{"model":"m","input":[],"store":false}`: {API: crosstalk.Responses},
		`{"model":"m","instructions":"s\n\nt","input":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}],"store":false,` +
			`"include":["message.output_text.logprobs"],"top_logprobs":2,"temperature":0.5,"top_p":0.5,"max_output_tokens":9,"reasoning":{"effort":"low"}}`: all,
	} {
		m, s := scripted(t, Options{API: crosstalk.Responses, Reasoning: map[string]map[string]any{"low": {"reasoning_effort": "low"}}}, "POST /responses", done)
		if _, err := m.Answer(t.Context(), req); err != nil || s.sent[0] != "POST /responses "+want {
			t.Errorf("%v, %s; want %s", err, s.sent, want)
		}
	}
	if _, err := readResponse([]byte(`{"error":{"message":"x"},"status":"completed","output":[]}`)); !errors.Is(err, errReported) {
		t.Error(err)
	}
}

// Log probabilities may take more bytes than an answer of words.
func TestLongLogprobs(t *testing.T) {
	body := `200 {"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1,"top_logprobs":[]}]},"x":"` + strings.Repeat("x", 300<<10) + `"}]}`
	for _, n := range []int{0, 1} {
		m, _ := scripted(t, Options{}, "POST /chat/completions", body)
		req := chat("hi")
		req.Logprobs, req.Decoding.MaxTokens = n, 1
		if a, err := m.Answer(t.Context(), req); (err == nil) != (n > 0) || len(a.Logprobs) != n {
			t.Errorf("%d: %+v, %v", n, a.Logprobs, err)
		}
	}
}

func TestEmbeddings(t *testing.T) {
	embeds := crosstalk.Request{API: crosstalk.Embeddings, Input: []string{"a", "b"}}
	embeds.Decoding.Extra = map[string]any{"dimensions": 2}
	good := `{"model":"e","data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":5}}`
	m, s := scripted(t, Options{API: crosstalk.Embeddings}, "POST /embeddings", "200 "+good)
	a, err := m.Answer(t.Context(), embeds)
	if err != nil || a.Status != crosstalk.Text || a.Reason != "stop" || a.Model != "e" ||
		a.Usage != (crosstalk.Usage{Prompt: 5}) || string(a.Raw) != good {
		t.Errorf("%+v, %v", a, err)
	}
	if want := `POST /embeddings {"model":"m","input":["a","b"],"dimensions":2}`; s.sent[0] != want {
		t.Errorf("%s, want %s", s.sent[0], want)
	}
	if _, v, err := vectors(a.Raw, 2); err != nil || fmt.Sprint(v) != "[[1 2] [3 4]]" {
		t.Errorf("%v, %v", v, err)
	}
	embeds.Decoding.Extra = map[string]any{"x": func() {}}
	if _, err := m.Answer(t.Context(), embeds); err == nil || len(s.sent) != 1 {
		t.Errorf("%v, %d requests", err, len(s.sent))
	}
	for data, want := range map[string]string{
		`[{"index":0,"embedding":[1]}]`:                               "has 1 embeddings; expected 2",
		`[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]`:   "has an embedding with index 0; expected each of 0 to 1 once",
		`[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]`:   "has an embedding with index 2; expected each of 0 to 1 once",
		`[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]`:  "has an embedding with index -1; expected each of 0 to 1 once",
		`[{"index":0,"embedding":[1]},{"index":1,"embedding":[]}]`:    "has an embedding without values",
		`[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]`: "has embeddings of 1 and of 2 dimensions",
		`[{"index":0,"embedding":"x"},{"index":1,"embedding":[1,2]}]`: "cannot unmarshal",
	} {
		if _, v, err := vectors([]byte(`{"data":`+data+`}`), 2); err == nil || v != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", data, v, err, want)
		}
	}
	var syntax *json.SyntaxError
	if _, err := readEmbeddings([]byte(`x`), 2); !errors.As(err, &syntax) {
		t.Error(err)
	}
}
