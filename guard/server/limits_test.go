package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk/guard"

	"golang.org/x/sync/semaphore"
)

// filled is a body of n bytes, with as many x as it takes between its ends.
func filled(n int, before, after string) string {
	return before + strings.Repeat("x", n-len(before)-len(after)) + after
}

// Each limit is checked on both of its sides.
func TestLimits(t *testing.T) {
	url := serving(t, Options{Block: true})
	blank := func(n int) string { return strings.Repeat(" ", n) }
	users := func(sizes ...int) string {
		var rows []map[string]string
		for _, n := range sizes {
			rows = append(rows, map[string]string{"role": "user", "content": blank(n)}, map[string]string{"role": "assistant", "content": blank(2 * mostText)})
		}
		data, _ := json.Marshal(map[string]any{"text": "x", "language": "user", "messages": rows})
		return string(data)
	}
	litellm := func(texts ...string) string {
		data, _ := json.Marshal(map[string]any{"input_type": "response", "texts": texts, "additional_provider_specific_params": map[string]string{"language": "de"}})
		return string(data)
	}
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"a body", "/v1/check", filled(mostBody, `{"text":"","language":"de","x":"`, `"}`), 200, `"verdict"`},
		{"a byte more", "/v1/check", filled(mostBody+1, `{"text":"","language":"de","x":"`, `"}`), 413, "larger than 8 MiB"},
		{"many bytes more", "/v1/check", filled(2*mostBody, `{"text":"`, `"}`), 413, "larger than 8 MiB"},
		{"values", "/v1/check", `{"text":"","language":"de","x":[` + strings.Repeat("1,", mostValues-8) + `1]}`, 200, `"verdict"`},
		{"a value more", "/v1/check", `{"text":"","language":"de","x":[` + strings.Repeat("1,", mostValues-7) + `1]}`, 413, "at most 100000 values of JSON, found 100001"},
		{"values in a string", "/v1/check", `{"text":"","language":"de","x":"\"` + strings.Repeat("[{1,", mostValues) + `"}`, 200, `"verdict"`},
		{"records", "/v1/check", "[" + strings.Repeat(`{"text":"","language":"de"},`, mostRecords-1) + `{"text":"","language":"de"}]`, 200, `"verdict"`},
		{"a text", "/v1/check", record(blank(mostText), "de"), 200, `"verdict"`},
		{"a byte of text more", "/v1/check", record(blank(mostText)+"x", "de"), 413, "the text is longer than 256 KiB"},
		{"escapes count as what they stand for", "/v1/check", `{"language":"de","text":"` + strings.Repeat(`\u0020`, mostText) + `"}`, 200, `"verdict"`},
		{"a prompt", "/v1/check", `{"text":"x","language":"user","prompt":"` + blank(mostText) + `"}`, 200, `"verdict"`},
		{"a byte of prompt more", "/v1/check", `{"text":"x","language":"user","prompt":"` + blank(mostText) + `x"}`, 413, "the prompt is longer than 256 KiB"},
		{"a prompt that nobody asks for", "/v1/check", `{"text":"x","language":"de","prompt":"` + blank(mostText) + `x"}`, 200, `"verdict"`},
		{"a message", "/v1/check", users(mostText), 200, `"verdict"`},
		{"a longer message", "/v1/check", users(mostText + 2), 413, "the user's message is longer than 256 KiB"},
		{"older messages are forgotten", "/v1/check", users(mostText+2, mostText/2, mostText/2), 200, `"verdict"`},
		{"texts", litellmPath, litellm(make([]string, mostRecords)...), 200, `{"action":"NONE"}`},
		{"a text more", litellmPath, litellm(make([]string, mostRecords+1)...), 413, "at most 1000 texts, found 1001"},
		{"a long text of LiteLLM", litellmPath, litellm("x", blank(mostText)+"x"), 413, "the text is longer than 256 KiB"},
		{"an output", promptfooPath + "?language=de", `{"output":["` + blank(mostText/2) + `","` + blank(mostText/2-2) + `"]}`, 200, `"pass":true`},
		{"a longer output", promptfooPath + "?language=de", `{"output":["` + blank(mostText/2) + `","` + blank(mostText/2) + `"]}`, 413, "the text is longer than 256 KiB"},
		{"variables", promptfooPath, `{"output":"x","context":{"prompt":"x","vars":{` + strings.Repeat(`"a":1,`, mostValues) + `"b":1}}}`, 413, "values of JSON"},
		{"an answer", "/v1/check", "[" + record(strings.Repeat("1 ", mostText/2), "de") + "," + record(strings.Repeat("1 ", mostText/2), "de") + "]", 200, `"verdict"`},
		{"a longer answer", "/v1/check", "[" + strings.Repeat(record(strings.Repeat("1 ", mostText/2), "de")+",", 2) +
			record(strings.Repeat("1 ", mostText/2), "de") + "]", 413, "record 3: the answer would be larger than 16 MiB"},
		{"a byte order mark", "/v1/check", "\ufeff" + record(german, "de"), 200, `"verdict":"right"`},
		{"no UTF-8", "/v1/check", "{\"text\":\"\ufffd\xff\",\"language\":\"de\"}", 400, "byte 12 is not valid"},
		{"half a character", "/v1/check", "{\"language\":\"de\",\"text\":\"é\xc3\"}", 400, "byte 27 is not valid"},
		{"a list that does not end", "/v1/check", `[{"text":"[","language":"de"}`, 400, "its end is missing"},
		{"a list and more", "/v1/check", `[{"text":"","language":"de"}],[]`, 400, "nothing after it"},
		{"a list that ends as an object", "/v1/check", `[{"text":"","language":"de"}}`, 400, "nothing after it"},
		{"a gap in a list", "/v1/check", `[{"text":"","language":"de"},]`, 400, "record 2: expected a JSON object"},
		{"nested as deep as it goes", "/v1/check", `{"text":"","language":"de","id":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, 200, `"verdict"`},
		{"deeper", promptfooPath, `{"output":` + strings.Repeat("[", 11_000) + strings.Repeat("]", 11_000) + `}`, 400, "promptfoo"},
		{"a long tag", "/v1/check", record(german, strings.Repeat("x", 1<<20)), 400, "has 1048576 bytes"},
		{"a long number", "/v1/check", `{"language":"de","text":` + strings.Repeat("1", 1<<20) + `}`, 400, `\"text\" is of the type number`},
		{"a long number of LiteLLM", litellmPath, `{"texts":` + strings.Repeat("1", 1<<20) + `}`, 400, "cannot unmarshal number into"},
	} {
		status, got := post(t, url+c.path, c.body)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %.300s, want %d %s", c.name, status, got, c.status, c.want)
		}
		if n := strings.Count(got, `"verdict"`); c.name == "records" && n != mostRecords {
			t.Errorf("%d verdicts of %d records", n, mostRecords)
		}
		if status >= 400 && len(got) > 400 {
			t.Errorf("%s: an error of %d bytes", c.name, len(got))
		}
	}
}

// Of a long conversation the newest messages of the user are read.
func TestFits(t *testing.T) {
	for _, c := range []struct{ sizes, want string }{
		{"1 2 3", "1 2 3"},
		{"9 100000 162144", "100000 162144"},
		{"100000 162144", "100000 162144"},
		{"100000 162145", "162145"},
		{"9 100001 162144 5", "162144 5"},
		{"262145 262144", "262144"},
		{"5 262145", "too long"},
	} {
		record := guard.Request{Language: guard.User}
		for n := range strings.FieldsSeq(c.sizes) {
			size, _ := strconv.Atoi(n)
			record.Messages = append(record.Messages,
				guard.Message{Role: "user", Content: guard.Content(strings.Repeat("x", size))},
				guard.Message{Role: "assistant", Content: guard.Content(strings.Repeat("y", mostText+1))})
		}
		err := fits(&record)
		var got []string
		for _, m := range record.Messages {
			if m.Role == "user" {
				got = append(got, fmt.Sprint(len(m.Content)))
			}
		}
		if (err != nil) != (c.want == "too long") || err == nil && strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, %v; want %s", c.sizes, got, err, c.want)
		}
	}
}

// Answers take room as bodies do, and give it back.
func TestAnswerRoom(t *testing.T) {
	all := semaphore.NewWeighted(1 << 20)
	add := func() (*answer, error) {
		a := &answer{room: room{of: all}}
		return a, a.add(strings.Repeat("x", 700<<10))
	}
	first, err := add()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := add(); err != error(errBusy) {
		t.Errorf("error %v, want %v", err, errBusy)
	}
	first.leave()
	if a, err := add(); err != nil || a.Len() != 700<<10+len(`""`) {
		t.Errorf("%d bytes, %v", a.Len(), err)
	}
	for n, fits := range map[int]bool{mostReply: true, mostReply + 1: false} {
		largest := &answer{room: room{of: semaphore.NewWeighted(8 * mostReply)}}
		if err := largest.add(json.RawMessage(filled(n, `"`, `"`))); (err == nil) != fits {
			t.Errorf("an answer of %d bytes: %v", n, err)
		}
	}
	small := &answer{room: room{of: semaphore.NewWeighted(0)}}
	if err := small.add("x"); err != nil {
		t.Errorf("a small answer: %v", err)
	}
}

// Nothing that a gateway sends is refused unless the service blocks.
func TestObserver(t *testing.T) {
	var log bytes.Buffer
	observe, block := serving(t, Options{Log: &log, Token: "secret"}), serving(t, Options{Block: true, Token: "secret"})
	language := func(tag string) string {
		return `{"input_type":"response","texts":["` + english + `"],"additional_provider_specific_params":{"language":` + tag + `}}`
	}
	long := strings.Repeat("x ", mostText)
	for _, c := range []struct {
		name, path, body string
		status           int // if it blocks
	}{
		{"no JSON", litellmPath, "x" + english, 400},
		{"nothing", litellmPath, "", 400},
		{"a list", litellmPath, "[]", 400},
		{"no UTF-8", litellmPath, "\xff", 400},
		{"content that is an object", litellmPath, `{"input_type":"request","structured_messages":[{"role":"user","content":{"text":"x"}}]}`, 400},
		{"an unknown language", litellmPath, language(`"Koreanish"`), 400},
		{"a language that is a number", litellmPath, language("5"), 400},
		{"a long text", litellmPath, strings.Replace(language(`"de"`), english, long, 1), 413},
		{"a large body", litellmPath, filled(mostBody+1, `{"images":["`, `"]}`), 413},
		{"many values", litellmPath, "[" + strings.Repeat("1,", mostValues) + "1]", 413},
		{"no JSON", promptfooPath, "x", 400},
		{"no output", promptfooPath, "{}", 400},
		{"an unknown language", promptfooPath + "?language=Koreanish", `{"output":"x"}`, 400},
		{"a long output", promptfooPath + "?language=de", `{"output":"` + long + `"}`, 413},
	} {
		want := `{"action":"NONE"}`
		if strings.HasPrefix(c.path, promptfooPath) {
			want = `{"pass":true,"reason":"not checked: `
		}
		if status, got := post(t, observe+c.path, c.body, "X-Api-Key", "secret"); status != 200 || !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.name, status, got, want)
		}
		if status, got := post(t, block+c.path, c.body, "X-Api-Key", "secret"); status != c.status || !strings.HasPrefix(got, `{"error":`) {
			t.Errorf("%s %s: %d %s, want %d", c.path, c.name, status, got, c.status)
		}
	}
	for name, c := range map[string]struct {
		url, body string
		headers   []string
		status    int
	}{
		"without the token":   {observe + litellmPath, "{}", nil, 401},
		"another site's page": {observe + litellmPath, "{}", []string{"X-Api-Key", "secret", "Sec-Fetch-Site", "cross-site"}, 403},
		"no gateway":          {observe + "/v1/check", "x", []string{"X-Api-Key", "secret"}, 400},
	} {
		if status, got := post(t, c.url, c.body, c.headers...); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, got, c.status)
		}
	}
	got := metricsOf(t, observe+"/metrics?token=secret")
	for _, want := range []string{`{reason="input"} 8`, `{reason="language"} 2`, `{reason="size"} 4`, `{reason="time"} 0`, `{reason="busy"} 0`} {
		if !strings.Contains(got, "crosstalk_guard_unchecked_total"+want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, `refused_total{status="413"}`) {
		t.Error("what passed is counted as refused")
	}
	if n := strings.Count(log.String(), "\n"); n != 3 || strings.Contains(log.String(), "Your order") || strings.Contains(log.String(), "Koreanish") {
		t.Errorf("%d lines, want one for each reason and no texts:\n%s", n, log.String())
	}
}

func metricsOf(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	return string(data)
}

// What takes too long is answered with 503, wherever it waits; an observer's gateway passes.
func TestDeadline(t *testing.T) {
	for _, block := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(Options{Block: block})
			s.turns.slots = 0 // others work
			h := s.handler()
			for path, body := range map[string]string{
				"/v1/check":   "[" + record(german, "de") + "]",
				litellmPath:   `{"input_type":"response","texts":["x"]}`,
				promptfooPath: `{"output":"x"}`,
			} {
				w := httptest.NewRecorder()
				start := time.Now()
				h.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader(body)))
				want := 503
				if !block && path != "/v1/check" {
					want = 200
				}
				if w.Code != want || want == 503 && !strings.Contains(w.Body.String(), "took longer than 20s") || time.Since(start) != longest {
					t.Errorf("%s, block %v: %d %s after %v, want %d", path, block, w.Code, w.Body, time.Since(start), want)
				}
			}
			if want := map[bool]int{true: 0, false: 2}[block]; s.passed[late] != want {
				t.Errorf("block %v: %d passed, want %d", block, s.passed[late], want)
			}
		})
	}
}

// Requests and streams whose client is gone end, also while they wait to be worked on or for more.
func TestClientGone(t *testing.T) {
	s := newServer(Options{})
	working := s.handler()
	entered, ended := make(chan bool), make(chan string)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- true
		working.ServeHTTP(w, r)
		ended <- r.URL.Path
	}))
	server.Config = limited(server.Config.Handler, newAdmission(connections, ofOneAddress, mostCrowded))
	server.Start()
	defer server.Close()
	s.turns.slots = 0 // others work, for ever
	for _, c := range []struct{ path, body string }{
		{"/v1/check", record(german, "de")},
		{litellmPath, `{"input_type":"response","texts":["x"]}`},
		{"/v1/check/stream", `{"language":"de"}` + "\n" + strings.Repeat(`{"text":"Das ist ein Satz. "}`+"\n", 1000)},
	} {
		ctx, leave := context.WithCancel(t.Context())
		body, text := io.Pipe()
		var sent io.Reader = strings.NewReader(c.body)
		if strings.HasSuffix(c.path, "stream") {
			sent = body // it does not end
		}
		r, _ := http.NewRequestWithContext(ctx, "POST", server.URL+c.path, sent)
		go func() {
			if response, err := http.DefaultClient.Do(r); err == nil {
				t.Errorf("%s: answered with %d", c.path, response.StatusCode)
			}
		}()
		<-entered
		if sent == body {
			io.WriteString(text, c.body)
		}
		leave()
		if got := <-ended; got != c.path {
			t.Errorf("%s ended, want %s", got, c.path)
		}
		text.Close()
	}
	if got := fmt.Sprint(s.verdicts); got != "map[]" {
		t.Errorf("verdicts %s", got)
	}
}

// Streams share the room of bodies.
func TestStreamRoom(t *testing.T) {
	s := newServer(Options{})
	s.bodies = semaphore.NewWeighted(100 << 10)
	server := httptest.NewServer(s.handler())
	defer server.Close()
	line := record(strings.Repeat("Das ist ein Satz. ", 100), "de") + "\n"
	for n, want := range map[int]string{30: `"verdict":"right"`, 200: "Too many large requests"} {
		if _, got := post(t, server.URL+"/v1/check/stream", strings.Repeat(line, n)); !strings.Contains(got, want) {
			t.Errorf("%d lines: %.200s, want %s", n, got, want)
		}
		if !s.bodies.TryAcquire(100 << 10) {
			t.Errorf("%d lines: room is not given back", n)
		}
		s.bodies.Release(100 << 10)
	}
}
