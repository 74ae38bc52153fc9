package testserver

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestChat(t *testing.T) {
	s := start(t, Options{})
	r := post(s, chatPath, chat("His favourite food is"))
	m := r.json(t)
	wantPath(t, m, "chat.completion", "object")
	wantPath(t, m, "test", "model")
	wantPath(t, m, "stop", "choices", 0, "finish_reason")
	wantPath(t, m, "assistant", "choices", 0, "message", "role")
	wantPath(t, m, nil, "choices", 0, "message", "refusal")
	wantPath(t, m, nil, "choices", 0, "logprobs")
	text, _ := at(m, "choices", 0, "message", "content").(string)
	if len(strings.Fields(text)) < 2 {
		t.Errorf("text %q", text)
	}
	u := func(k string) float64 { f, _ := at(m, "usage", k).(float64); return f }
	if u("prompt_tokens") != 12 || u("completion_tokens") != float64(len(tokens(text))) || u("total_tokens") != u("prompt_tokens")+u("completion_tokens") {
		t.Errorf("usage %v", m["usage"])
	}
	if again := post(s, chatPath, chat("His favourite food is")); string(again.body) != string(r.body) {
		t.Errorf("the same request has another answer")
	}
}

func content(t *testing.T, s *Server, body string) string {
	t.Helper()
	text, _ := at(post(s, chatPath, body).json(t), "choices", 0, "message", "content").(string)
	return text
}

func TestAnswersVaryWithPromptAndSeed(t *testing.T) {
	s := start(t, Options{})
	texts := map[string]bool{}
	for i := range 50 {
		texts[content(t, s, chat(fmt.Sprint("prompt ", i)))] = true
	}
	if len(texts) < 40 {
		t.Errorf("50 prompts have %d texts", len(texts))
	}
	texts = map[string]bool{}
	for i := range 10 {
		texts[content(t, s, chat("x", fmt.Sprintf(`,"seed":%d`, i)))] = true
	}
	if len(texts) < 5 {
		t.Errorf("10 seeds have %d texts", len(texts))
	}
	cold := func(seed int) string {
		return content(t, s, chat("x", fmt.Sprintf(`,"temperature":0,"seed":%d`, seed)))
	}
	if cold(1) != cold(2) {
		t.Errorf("at temperature 0 the seed matters")
	}
}

func TestAnswerSeesAttempt(t *testing.T) {
	s := start(t, Options{FailFirst: 1, Answer: func(r Request) Reply {
		return Reply{Text: fmt.Sprint("attempt ", r.Attempt)}
	}})
	post(s, chatPath, chat("x"))
	for _, want := range []string{"attempt 2", "attempt 3"} {
		if got := content(t, s, chat("x")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnswerSeesTheRequest(t *testing.T) {
	var got Request
	s := start(t, Options{Answer: func(r Request) Reply { got = r; return Reply{Text: "yes"} }})
	post(s, messagesPath, `{"model":"m","max_tokens":9,"temperature":0.5,"system":"be brief","messages":[
		{"role":"user","content":"one"},{"role":"assistant","content":"two"},
		{"role":"user","content":[{"type":"text","text":"thr"},{"type":"text","text":"ee"}]}]}`)
	want := []Message{{"system", "be brief"}, {"user", "one"}, {"assistant", "two"}, {"user", "three"}}
	if fmt.Sprint(got.Messages) != fmt.Sprint(want) || got.Prompt != "three" || got.Protocol != Anthropic ||
		got.Model != "m" || got.MaxTokens != 9 || *got.Temperature != 0.5 || got.Attempt != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestLimitsOnText(t *testing.T) {
	s := start(t, Options{Answer: func(Request) Reply { return Reply{Text: "one two three. four five"} }})
	for more, want := range map[string][2]string{
		``:                             {"one two three. four five", "stop"},
		`,"max_tokens":2`:              {"one two", "length"},
		`,"max_completion_tokens":3`:   {"one two three", "length"},
		`,"stop":"."`:                  {"one two three", "stop"},
		`,"stop":["five",". "]`:        {"one two three", "stop"},
		`,"stop":".","max_tokens":1`:   {"one", "length"},
		`,"stop":null,"max_tokens":99`: {"one two three. four five", "stop"},
	} {
		m := post(s, chatPath, chat("x", more)).json(t)
		wantPath(t, m, want[0], "choices", 0, "message", "content")
		wantPath(t, m, want[1], "choices", 0, "finish_reason")
	}
	m := post(s, messagesPath, msg("x", `,"stop_sequences":["."]`)).json(t)
	wantPath(t, m, "stop_sequence", "stop_reason")
	wantPath(t, m, ".", "stop_sequence")
	wantPath(t, m, "one two three", "content", 0, "text")
}

func TestCompletions(t *testing.T) {
	s := start(t, Options{Answer: func(r Request) Reply { return Reply{Text: r.Prompt + strings.Repeat(" word", 30)} }})
	m := post(s, completionsPath, `{"model":"test","prompt":"a"}`).json(t)
	wantPath(t, m, "text_completion", "object")
	wantPath(t, m, "a"+strings.Repeat(" word", 15), "choices", 0, "text") // 16 tokens by default
	wantPath(t, m, "length", "choices", 0, "finish_reason")
	wantPath(t, m, nil, "choices", 1)
	wantPath(t, m, 16.0, "usage", "completion_tokens")
	wantPath(t, m, 1.0, "usage", "prompt_tokens")
}

func TestMessages(t *testing.T) {
	s := start(t, Options{})
	r := post(s, messagesPath, msg("His favourite food is"))
	m := r.json(t)
	wantPath(t, m, "message", "type")
	wantPath(t, m, "assistant", "role")
	wantPath(t, m, "end_turn", "stop_reason")
	wantPath(t, m, nil, "stop_sequence")
	wantPath(t, m, "text", "content", 0, "type")
	if text, _ := at(m, "content", 0, "text").(string); text == "" {
		t.Errorf("no text in %s", r.body)
	}
	wantPath(t, m, 12.0, "usage", "input_tokens")
}

func TestEmbeddings(t *testing.T) {
	s := start(t, Options{})
	m := post(s, embeddingsPath, `{"model":"test","input":["a red apple","a red pear","seven ships sail"],"dimensions":64}`).json(t)
	vec := func(i int) (v []float64) {
		for j := range 64 {
			x, _ := at(m, "data", i, "embedding", j).(float64)
			v = append(v, x)
		}
		return v
	}
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	if n := dot(vec(0), vec(0)); math.Abs(n-1) > 1e-9 {
		t.Errorf("norm %v, want 1", n)
	}
	if near, far := dot(vec(0), vec(1)), dot(vec(0), vec(2)); near < far+0.2 {
		t.Errorf("cosine %v to a text with shared words, %v to one without", near, far)
	}
	wantPath(t, m, "list", "object")
	wantPath(t, m, 2.0, "data", 2, "index")
	wantPath(t, m, nil, "data", 0, "embedding", 64)
}

func TestModels(t *testing.T) {
	s := start(t, Options{Models: []string{"a", "b"}})
	m := do(context.Background(), s, "GET", modelsPath, "").json(t)
	wantPath(t, m, "list", "object")
	wantPath(t, m, "b", "data", 1, "id")
	wantPath(t, m, "model", "data", 1, "object")
	m = do(context.Background(), s, "GET", modelsPath, "", "anthropic-version", "2023-06-01").json(t)
	wantPath(t, m, "model", "data", 0, "type")
	wantPath(t, m, "a", "first_id")
	wantPath(t, m, "b", "last_id")
	wantPath(t, m, false, "has_more")
}

func TestOutcomes(t *testing.T) {
	outcome := func(f Fault) *Server { return start(t, Options{Faults: map[Fault]float64{f: 1}}) }
	const limit = `,"max_completion_tokens":300`

	s := outcome("empty")
	m := post(s, chatPath, chat("x", limit)).json(t)
	wantPath(t, m, "", "choices", 0, "message", "content")
	wantPath(t, m, "stop", "choices", 0, "finish_reason")
	m = post(s, messagesPath, msg("x")).json(t)
	wantPath(t, m, []any{}, "content")
	wantPath(t, m, "end_turn", "stop_reason")
	if st := s.Stats(); st.Answered != 2 || st.Faults["empty"] != 2 {
		t.Errorf("stats %+v: an empty answer is an answer", st)
	}

	s = outcome("thinking")
	m = post(s, chatPath, chat("x", limit)).json(t)
	wantPath(t, m, "", "choices", 0, "message", "content")
	wantPath(t, m, "length", "choices", 0, "finish_reason")
	wantPath(t, m, 300.0, "usage", "completion_tokens_details", "reasoning_tokens")
	wantPath(t, m, 300.0, "usage", "completion_tokens")
	m = post(s, messagesPath, msg("x")).json(t)
	wantPath(t, m, "max_tokens", "stop_reason")
	wantPath(t, m, "thinking", "content", 0, "type")
	wantPath(t, m, nil, "content", 1)
	wantPath(t, m, 50.0, "usage", "output_tokens")

	s = outcome("refusal")
	m = post(s, chatPath, chat("x", limit)).json(t)
	wantPath(t, m, nil, "choices", 0, "message", "content")
	wantPath(t, m, "stop", "choices", 0, "finish_reason")
	if words, _ := at(m, "choices", 0, "message", "refusal").(string); words == "" {
		t.Error("a refusal without words")
	}
	m = post(s, messagesPath, msg("x")).json(t)
	wantPath(t, m, "refusal", "stop_reason")
	wantPath(t, m, "refusal", "stop_details", "type")
	wantPath(t, m, []any{}, "content")
	m = post(s, completionsPath, `{"model":"test","prompt":"x"}`).json(t)
	wantPath(t, m, "content_filter", "choices", 0, "finish_reason")
	wantPath(t, m, "", "choices", 0, "text")

	s = outcome("filtered")
	m = post(s, chatPath, chat("x", limit)).json(t)
	wantPath(t, m, "content_filter", "choices", 0, "finish_reason")
	wantPath(t, post(s, messagesPath, msg("x")).json(t), "refusal", "stop_reason")
}

func TestKeys(t *testing.T) {
	const key = "sk-test-0123456789abcdef"
	s := start(t, Options{Key: key})
	ok := func(r result) bool { return r.status == 200 }
	if !ok(post(s, chatPath, chat("x"), "Authorization", "Bearer "+key)) || !ok(post(s, messagesPath, msg("x"), "x-api-key", key)) {
		t.Error("the right key is refused")
	}
	r := post(s, chatPath, chat("x"), "Authorization", "Bearer sk-wrong-0123456789abcd")
	wantPath(t, r.json(t), "invalid_api_key", "error", "code")
	wantPath(t, r.json(t), "invalid_request_error", "error", "type")
	if words := fmt.Sprint(at(r.json(t), "error", "message")); r.status != 401 || !strings.Contains(words, "sk-wrong***********abcd.") {
		t.Errorf("%d %s", r.status, words)
	}
	r = post(s, chatPath, chat("x"))
	wantPath(t, r.json(t), nil, "error", "code")
	if r.status != 401 {
		t.Errorf("no key: %d", r.status)
	}
	for _, headers := range [][]string{{"x-api-key", "wrong"}, {"Authorization", "Bearer " + key}} {
		r = post(s, messagesPath, msg("x"), headers...)
		wantPath(t, r.json(t), "authentication_error", "error", "type")
		if r.status != 401 {
			t.Errorf("%v: %d %v", headers, r.status, r.header)
		}
	}
	if r = do(context.Background(), s, "GET", modelsPath, ""); r.status != 401 {
		t.Errorf("models without a key: %d", r.status)
	}
}

func TestRequestErrors(t *testing.T) {
	s := start(t, Options{Models: []string{"test"}, Unsupported: []string{"max_tokens", "top_k"}})
	plain := start(t, Options{})
	for _, c := range []struct {
		s          *Server
		path, body string
		status     int
		want       any
		at         string
	}{
		{s, chatPath, `{"model":"gone","messages":[{"role":"user","content":"x"}]}`, 404, "model_not_found", "code"},
		{s, messagesPath, `{"model":"gone","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`, 404, "model: gone", "message"},
		{s, chatPath, chat("x", `,"max_tokens":5`), 400, "Unsupported parameter: 'max_tokens' is not supported with this model.", "message"},
		{s, chatPath, chat("x", `,"max_tokens":5`), 400, "unsupported_parameter", "code"},
		{s, chatPath, chat("x", `,"top_k":5`), 400, "top_k", "param"},
		{s, "/v1/nowhere", `{}`, 404, "Invalid URL (POST /v1/nowhere)", "message"},
		{s, modelsPath, `{}`, 404, "Invalid URL (POST /v1/models)", "message"},
		{s, chatPath, `{"model":`, 400, "invalid_request_error", "type"},
		{s, chatPath, `[]`, 400, "invalid_request_error", "type"},
		{s, chatPath, `null`, 400, "you must provide a model parameter", "message"},
		{s, chatPath, `{"model":7}`, 400, "invalid_type", "code"},
		{s, chatPath, `{"model":"test"}`, 400, "empty_array", "code"},
		{s, chatPath, chat("x", `,"stream":true`), 400, "stream", "param"},
		{s, chatPath, chat("x", `,"n":0`), 400, "n", "param"},
		{s, chatPath, chat("x", `,"max_completion_tokens":0`), 400, "integer_below_min_value", "code"},
		{s, chatPath, chat("x", `,"top_logprobs":3`), 400, "top_logprobs", "param"},
		{s, chatPath, chat("x", `,"logprobs":true,"top_logprobs":21`), 400, "top_logprobs", "param"},
		{s, chatPath, `{"model":"test","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "invalid_type", "code"},
		{s, completionsPath, `{"model":"test"}`, 400, "prompt", "param"},
		{s, completionsPath, `{"model":"test","prompt":"x","logprobs":6}`, 400, "logprobs", "param"},
		{s, embeddingsPath, `{"model":"test","input":""}`, 400, "invalid_request_error", "type"},
		{s, embeddingsPath, `{"model":"test","input":"x","dimensions":5000}`, 400, "dimensions", "param"},
		{plain, messagesPath, `{"model":"test","messages":[{"role":"user","content":"x"}]}`, 400, "max_tokens: Field required", "message"},
		{plain, messagesPath, `{"model":"test","max_tokens":1,"messages":[]}`, 400, "invalid_request_error", "type"},
	} {
		r := post(c.s, c.path, c.body)
		if r.status != c.status {
			t.Errorf("%s %s: status %d, want %d", c.path, c.body, r.status, c.status)
		}
		wantPath(t, r.json(t), c.want, "error", c.at)
	}
	r := do(context.Background(), plain, "POST", chatPath, chat("x"), "x-api-key", "k")
	wantPath(t, r.json(t), "anthropic-version: header is required", "error", "message")
	if st := plain.Stats(); st.Answered != 0 || st.Attempts != 3 {
		t.Errorf("stats %+v", st)
	}
	if r = post(plain, chatPath, strings.Repeat("x", maxBody+1)); r.err == nil && r.status != 413 {
		t.Errorf("too large a body: %d", r.status)
	}
}

func TestChatLogprobs(t *testing.T) {
	s := start(t, Options{Answer: func(Request) Reply { return Reply{Text: strings.Repeat("naïve café ", 20)} }})
	m := post(s, chatPath, chat("x", `,"logprobs":true,"top_logprobs":4`)).json(t)
	list, _ := at(m, "choices", 0, "logprobs", "content").([]any)
	text, likeliest := "", 0
	for _, e := range list {
		token, _ := at(e, "token").(string)
		text += token
		var raw []byte
		for i := 0; at(e, "bytes", i) != nil; i++ {
			raw = append(raw, byte(at(e, "bytes", i).(float64)))
		}
		if string(raw) != token {
			t.Errorf("bytes %q of token %q", raw, token)
		}
		if at(e, "top_logprobs", 0, "token") == token {
			likeliest++
		}
		mass, before, seen := 0.0, 0.0, map[any]bool{}
		for i := range 4 {
			l, _ := at(e, "top_logprobs", i, "logprob").(float64)
			if l > before || l >= 0 {
				t.Errorf("top %d: log probability %v after %v", i, l, before)
			}
			before = l
			mass += math.Exp(l)
			top := at(e, "top_logprobs", i, "token")
			if seen[top] {
				t.Errorf("token %q twice", top)
			}
			if seen[top] = true; top == token && l != at(e, "logprob") {
				t.Errorf("the sampled token has two log probabilities")
			}
		}
		if mass >= 1 || at(e, "top_logprobs", 4) != nil {
			t.Errorf("mass %v, or more than 4", mass)
		}
	}
	if want := strings.Repeat("naïve café ", 20); text != want {
		t.Errorf("tokens make %q, want %q", text, want)
	}
	if likeliest == len(list) || likeliest < len(list)/2 {
		t.Errorf("the likeliest token was taken %d times of %d", likeliest, len(list))
	}
}

func TestCompletionLogprobs(t *testing.T) {
	s := start(t, Options{Answer: func(Request) Reply { return Reply{Text: strings.Repeat(" né", 40)} }})
	ask := func(k int) any {
		return at(post(s, completionsPath, fmt.Sprintf(`{"model":"test","prompt":"Où","max_tokens":40,"logprobs":%d}`, k)).json(t), "choices", 0, "logprobs")
	}
	l := ask(2)
	three := 0
	for i := range 40 {
		wantPath(t, l, " né", "tokens", i)
		top, _ := at(l, "top_logprobs", i).(map[string]any)
		if top[" né"] != at(l, "token_logprobs", i) {
			t.Errorf("token %d: %v is not in %v", i, at(l, "token_logprobs", i), top)
		}
		if len(top) == 3 {
			three++
		}
	}
	if three != 0 { // the second likeliest is within the top 2
		t.Errorf("%d positions have 3 entries", three)
	}
	l = ask(1)
	for i := range 40 {
		if top, _ := at(l, "top_logprobs", i).(map[string]any); len(top) == 2 {
			three++
		}
	}
	if three == 0 {
		t.Errorf("a token that was not the likeliest is never added to the top 1")
	}
	l = ask(0)
	wantPath(t, l, nil, "top_logprobs")
	wantPath(t, l, " né", "tokens", 39)
}

func TestTokensConcatenate(t *testing.T) {
	for _, s := range []string{"", " ", "  a  b ", "naïve—café, 你好世界这是一个测试.\n\n", "\xff\xfe broken"} {
		if got := strings.Join(tokens(s), ""); got != s {
			t.Errorf("tokens of %q make %q", s, got)
		}
	}
}

// Whatever the body, the server answers and lives.
func FuzzBody(f *testing.F) {
	for _, b := range []string{chat("x"), msg("x"), `{"model":"m","prompt":[],"input":[""]}`, `{"messages":[{"content":null}]}`, `{"prompt":null,"model":"m"}`, `{"model":"m","prompt":[1,2]}`, "\x00"} {
		f.Add(b)
	}
	s := New(Options{})
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{chatPath, completionsPath, embeddingsPath, messagesPath} {
			if r := post(s, path, body); r.err != nil || r.status != 200 && r.status != 400 {
				t.Errorf("%s %q: %d %v", path, body, r.status, r.err)
			}
		}
	})
}
