package gemini

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"

	"github.com/google/go-cmp/cmp"
)

func said(turns ...string) (list []crosstalk.Message) {
	for i, text := range turns {
		list = append(list, crosstalk.Message{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	return list
}

// Requests in Gemini's form: what is said, every setting, and parameters that are passed on.
func TestBody(t *testing.T) {
	half, most, seed := 0.5, 0.9, int64(7)
	for _, c := range []struct {
		model string
		req   crosstalk.Request
		want  string
	}{
		{"gemini-2.0-flash", crosstalk.Request{Messages: said("Hi")},
			`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{}}`},
		{"gemini-2.5-pro", crosstalk.Request{Messages: append([]crosstalk.Message{{Role: "system", Content: "Be kind"},
			{Role: "system", Content: "and brief"}}, said("Hi", "Hello", "Bye")...), Sample: 2, Logprobs: 3,
			Decoding: crosstalk.Decoding{Temperature: &half, TopP: &most, MaxTokens: 20, ReasoningTokens: 30, Seed: &seed,
				Stop: []string{"."}, Reasoning: crosstalk.ReasoningLow}},
			`{"systemInstruction":{"parts":[{"text":"Be kind"},{"text":"and brief"}]},"contents":[` +
				`{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]},{"role":"user","parts":[{"text":"Bye"}]}],` +
				`"generationConfig":{"temperature":0.5,"topP":0.9,"maxOutputTokens":50,"seed":9,"stopSequences":["."],` +
				`"responseLogprobs":true,"logprobs":3,"thinkingConfig":{"thinkingBudget":1024}}}`},
		{"gemini-3-pro", crosstalk.Request{Messages: said("Hi"), Decoding: crosstalk.Decoding{MaxTokens: 5,
			Extra: map[string]any{"max_completion_tokens": 900.0, "reasoning_effort": "high", "topK": 5}}},
			`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":900,` +
				`"thinkingConfig":{"thinkingLevel":"high"},"topK":5}}`},
		{"gemini-3-pro", crosstalk.Request{Messages: said("Hi"), Decoding: crosstalk.Decoding{Reasoning: crosstalk.ReasoningOff,
			Extra: map[string]any{"max_tokens": 8.0, "temperature": 1.5}, Temperature: &half}},
			`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":8,` +
				`"thinkingConfig":{"thinkingBudget":0},"temperature":1.5}}`},
	} {
		got, err := body(c.model, c.req)
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
		}
	}
	extra := map[string]any{"reasoning_effort": "low", "max_tokens": 1.0}
	body("m", crosstalk.Request{Decoding: crosstalk.Decoding{Extra: extra}})
	if len(extra) != 2 {
		t.Errorf("the request's own parameters are now %v", extra)
	}
	if _, err := body("m", crosstalk.Request{Decoding: crosstalk.Decoding{Extra: map[string]any{"f": func() {}}}}); err == nil {
		t.Error("a parameter that is no JSON was written")
	}
}

// Levels of reasoning, as each generation of models is told.
func TestThinking(t *testing.T) {
	for model, want := range map[string]string{
		"gemini-2.5-flash": "map[] map[thinkingBudget:0] map[thinkingBudget:0] map[thinkingBudget:1024] " +
			"map[thinkingBudget:1024] map[thinkingBudget:8192] map[thinkingBudget:24576] map[]",
		"gemini-3-pro": "map[] map[thinkingBudget:0] map[thinkingBudget:0] map[thinkingLevel:minimal] " +
			"map[thinkingLevel:low] map[thinkingLevel:medium] map[thinkingLevel:high] map[thinkingLevel:most]",
	} {
		var got []string
		for _, level := range []string{"", crosstalk.ReasoningOff, "none", "minimal", crosstalk.ReasoningLow,
			crosstalk.ReasoningMedium, crosstalk.ReasoningHigh, "most"} {
			got = append(got, fmt.Sprint(thinkingOf(model, level)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", model, got)
		}
	}
}

// Answers: texts and thoughts are apart, and what the filter stopped is an answer.
func TestRead(t *testing.T) {
	for text, want := range map[string]settle.Received{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me","thought":true},{"text":" see","thought":true},
			{"text":"Yes"},{"text":"."}]},"finishReason":"STOP"},{"content":{"parts":[{"text":"other"}]}}],"modelVersion":"g-1",
			"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":3}}`: {Text: "Yes.",
			Reasoning: "Let me see", Thought: true, Finish: "STOP", Model: "g-1",
			Usage: crosstalk.Usage{Prompt: 5, Completion: 5, Reasoning: 3}},
		`{"candidates":[{"finishReason":"SAFETY"}]}`: {Finish: "SAFETY"},
		`{"promptFeedback":{"blockReason":"SPII"}}`:  {Finish: "content_filter: SPII"},
		`{"candidates":[{"content":{"parts":[]}}]}`:  {},
	} {
		got, err := read([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{`{}`: "it has no candidates", `[`: "unexpected end", `{"candidates":5}`: "cannot unmarshal"} {
		if _, err := read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// server answers each request, "METHOD /path?query", with a status and a text, and keeps what was sent.
type server struct {
	answers map[string]string
	status  map[string]int
	got     []string
}

func start(t *testing.T, answers map[string]string) (*server, *Batcher) {
	t.Helper()
	s := &server{answers: answers, status: map[string]int{}}
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Method + " " + r.URL.RequestURI()
		sent, _ := io.ReadAll(r.Body)
		s.got = append(s.got, name+" "+r.Header.Get("x-goog-api-key")+" "+string(sent))
		if status := s.status[name]; status != 0 {
			w.WriteHeader(status)
		} else if _, known := s.answers[name]; !known {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, s.answers[name])
	}))
	t.Cleanup(at.Close)
	c := endpoint.Config{Provider: "gemini", Model: "gemini-2.5-pro", BaseURL: at.URL + "/v1beta/openai/", Key: "secret-key-0123"}
	e, err := endpoint.New(c)
	if err != nil {
		t.Fatal(err)
	}
	b, ok, err := New(compatibleModel{identity: e.Identity()}, c)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return s, b
}

type compatibleModel struct {
	crosstalk.Model
	identity crosstalk.Identity
}

func (m compatibleModel) Identity() crosstalk.Identity { return m.identity }

const submitPath = "POST /v1beta/models/gemini-2.5-pro:batchGenerateContent"

func asks(texts ...string) (list []crosstalk.BatchAsk) {
	for i, text := range texts {
		list = append(list, crosstalk.BatchAsk{Key: crosstalk.Key{byte(i + 1)},
			Request: crosstalk.Request{Messages: said(text)}})
	}
	return list
}

// A server that is not the compatible endpoint has no batches of this form.
func TestNew(t *testing.T) {
	for base, want := range map[string]bool{"http://h/v1beta/openai": true, "http://h/v1beta/openai//": true, "http://h/v1beta": false} {
		if _, ok, err := New(compatibleModel{}, endpoint.Config{Provider: "p", Model: "m", BaseURL: base}); ok != want ||
			err != nil {
			t.Errorf("%s: %v, %v", base, ok, err)
		}
	}
	if _, ok, err := New(compatibleModel{}, endpoint.Config{BaseURL: "ftp://h/openai"}); !ok || err == nil {
		t.Error(ok, err)
	}
}

func TestSubmit(t *testing.T) {
	s, b := start(t, map[string]string{submitPath: `{"name":"batches/7"}`})
	id, err := b.Submit(t.Context(), "TAG", asks("a", "b"))
	one := func(text, key string) string {
		return `{"metadata":{"key":"` + key + strings.Repeat("0", 62) + `"},"request":{"contents":[{"role":"user","parts":[{"text":"` +
			text + `"}]}],"generationConfig":{}}}`
	}
	want := submitPath + ` secret-key-0123 {"batch":{"displayName":"crosstalk-TAG","inputConfig":{"requests":{"requests":[` +
		one("a", "01") + "," + one("b", "02") + `]}}}}`
	if err != nil || id != "batches/7" || len(s.got) != 1 || s.got[0] != want {
		t.Errorf("%q, %v, sent\n%q, want\n%q", id, err, s.got, want)
	}
	for _, c := range []struct {
		status  int
		answer  string
		unclear bool
	}{{0, `{}`, true}, {500, `{}`, true}, {400, `{"error":{"message":"no"}}`, false}} {
		s.answers[submitPath], s.status[submitPath] = c.answer, c.status
		if _, err := b.Submit(t.Context(), "TAG", asks("a")); err == nil || errors.As(err,
			new(*crosstalk.UnclearError)) != c.unclear {
			t.Errorf("%+v: %v", c, err)
		}
	}
	sent := len(s.got)
	bad := asks("a")
	bad[0].Request.Decoding.Extra = map[string]any{"f": func() {}}
	if _, err := b.Submit(t.Context(), "TAG", bad); err == nil || len(s.got) != sent {
		t.Error(err)
	}
}

func TestFits(t *testing.T) {
	_, b := start(t, nil)
	if n := b.Fits(make([]crosstalk.BatchAsk, 2001)); n != 2000 {
		t.Errorf("%d requests", n)
	}
	long := asks(strings.Repeat("x", 4<<20-400), strings.Repeat("x", 4<<20-400), "c")
	if n := b.Fits(long); n != 3 {
		t.Errorf("%d of less than 8 MiB", n)
	}
	if n := b.Fits(append(asks(strings.Repeat("x", 100)), long...)); n != 3 {
		t.Errorf("%d of more than 8 MiB", n)
	}
}

func TestFind(t *testing.T) {
	const first, second = "GET /v1beta/batches?pageSize=50", "GET /v1beta/batches?pageSize=50&pageToken=a%2Fb"
	s, b := start(t, map[string]string{
		first:  `{"operations":[{"name":"batches/1","metadata":{"displayName":"crosstalk-OTHER"}}],"nextPageToken":"a/b"}`,
		second: `{"operations":[{"name":"batches/2","metadata":{"displayName":"crosstalk-TAG"}},{"name":"batches/3","metadata":{"displayName":"crosstalk-TAG"}}]}`,
	})
	for tag, want := range map[string]string{"TAG": "batches/2", "OTHER": "batches/1", "NONE": ""} {
		if id, sure, err := b.Find(t.Context(), tag, time.Now(), nil, nil); id != want || !sure || err != nil {
			t.Errorf("%s: %q, %v, %v", tag, id, sure, err)
		}
	}
	s.answers[second] = `[]`
	if id, sure, err := b.Find(t.Context(), "NONE", time.Now(), nil, nil); id != "" || sure || err == nil ||
		!strings.Contains(err.Error(), "the list of batches at http") {
		t.Errorf("%q, %v, %v", id, sure, err)
	}
}

const pollPath = "GET /v1beta/batches/7"

func TestPoll(t *testing.T) {
	s, b := start(t, map[string]string{})
	done := `"inlinedResponses":{"inlinedResponses":[{}]}`
	for metadata, want := range map[string]crosstalk.BatchState{
		`"metadata":{"state":"BATCH_STATE_RUNNING","batchStats":{"requestCount":"9","successfulRequestCount":"3","failedRequestCount":"1"}}`: {Done: 4, Failed: 1},
		`"done":true,"metadata":{"batchStats":{"requestCount":9,"successfulRequestCount":8,"failedRequestCount":1}}`:                         {Ended: true, Done: 9, Failed: 1},
		`"metadata":{"state":"JOB_STATE_SUCCEEDED"}`:                                                              {Ended: true},
		`"metadata":{"state":"BATCH_STATE_CANCELLED","batchStats":{"requestCount":9,"successfulRequestCount":4}}`: {Ended: true, Done: 4, Failed: 5},
		`"metadata":{"state":"BATCH_STATE_EXPIRED","batchStats":{"requestCount":9}}`:                              {Ended: true, Failed: 9},
		`"metadata":{"state":"BATCH_STATE_FAILED","batchStats":{"requestCount":9}}`:                               {Ended: true, Failed: 9, Problem: `"the server does not say why"`},
		`"metadata":{"state":"BATCH_STATE_FAILED"},"error":{"message":"too much"}`:                                {Ended: true, Problem: `"too much"`},
		`"metadata":{"state":"BATCH_STATE_FAILED","batchStats":{"requestCount":9,"successfulRequestCount":1}}`:    {Ended: true, Done: 1, Failed: 8},
		`"metadata":{"state":"BATCH_STATE_FAILED"},"response":{` + done + `}`:                                     {Ended: true},
		`"metadata":{"state":"BATCH_STATE_FAILED","output":{` + done + `}}`:                                       {Ended: true},
	} {
		s.answers[pollPath] = `{"name":"batches/7",` + metadata + `}`
		if got, err := b.Poll(t.Context(), "batches/7"); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", metadata, got, err, want)
		}
	}
	s.answers[pollPath] = `{"na` // it may be the results that cannot be read
	if got, err := b.Poll(t.Context(), "batches/7"); err != nil || got != (crosstalk.BatchState{Ended: true}) {
		t.Errorf("%+v, %v", got, err)
	}
	s.status[pollPath] = 503
	if got, err := b.Poll(t.Context(), "batches/7"); err == nil || got.Ended {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := b.Poll(t.Context(), "jobs/7"); err != nil || !got.Ended {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestResults(t *testing.T) {
	key := func(i int) string { return crosstalk.Key{byte(i)}.String() }
	ok := `{"candidates":[{"content":{"parts":[{"text":"Yes"}]},"finishReason":"STOP"}]}`
	line := func(i int, rest string) string { return `{"metadata":{"key":"` + key(i) + `"},` + rest + `}` }
	failed := func(code int) string { return fmt.Sprintf(`"error":{"code":%d,"message":"why"}`, code) }
	lines := []string{line(1, `"response":`+ok), line(2, failed(3)), line(3, failed(8)), line(4, failed(13)), line(5, `"response":{}`),
		line(9, `"response":`+ok), `{"metadata":{"key":"x"}}`, `5`, line(6, failed(5)), line(7, failed(7)), line(8, failed(16)),
		line(10, failed(14)), line(11, failed(9))}
	s, b := start(t, map[string]string{pollPath: `{"name":"batches/7","response":{"inlinedResponses":{"inlinedResponses":[` +
		strings.Join(lines, ",") + `]}}}`})
	requests := map[crosstalk.Key]crosstalk.Request{}
	for _, i := range []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 11} {
		requests[crosstalk.Key{byte(i)}] = crosstalk.Request{Messages: said("Hi")}
	}
	want := []string{"1 Yes stop", "2 400", "3 429", "4 500", "0 200", "0 a line is of no request of the batch", "0 digits",
		"0 form", "6 404", "7 403", "8 401", "10 503", "11 400"}
	i := 0
	for r, err := range b.Results(t.Context(), "batches/7", requests) {
		if err != nil || i >= len(want) {
			t.Fatal(i, err)
		}
		got := fmt.Sprint(r.Key[0], " ", r.Answer.Text, " ", r.Answer.Finish)
		var e *crosstalk.AskError
		switch {
		case errors.As(r.Err, &e):
			got = fmt.Sprint(r.Key[0], " ", e.Status)
		case r.Err != nil:
			got = fmt.Sprint(r.Key[0], " ", r.Err)
		}
		first, rest, _ := strings.Cut(want[i], " ")
		if !strings.HasPrefix(got, first+" ") || !strings.Contains(got, rest) {
			t.Errorf("%d: %q; want %q", i, got, want[i])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d results", i)
	}
	for range b.Results(t.Context(), "batches/7", requests) {
		break // a reader may stop
	}
	s.status[pollPath] = 404
	for r, err := range b.Results(t.Context(), "batches/7", requests) {
		if err == nil || r.Key != (crosstalk.Key{}) {
			t.Error(r, err)
		}
	}
	for _, err := range b.Results(t.Context(), "7", requests) {
		if err == nil || !strings.Contains(err.Error(), `the id of a batch cannot be read: it is "7"`) {
			t.Error(err)
		}
	}
}
