package testserver

import (
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
