package server

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	german  = "Ihre Bestellung ist unterwegs und kommt morgen an."
	english = "Your order is on its way and arrives tomorrow."
)

func serving(t *testing.T, o Options) string {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config = limited(New(o), newAdmission(connections, ofOneAddress, mostCrowded))
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// post sends a body and returns the status and the response.
func post(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(data))
}

func record(text, language string) string {
	data, _ := json.Marshal(map[string]any{"id": 1, "text": text, "language": language})
	return string(data)
}

func TestCheck(t *testing.T) {
	url := serving(t, Options{})
	for _, c := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"right", record(german, "de"), 200, `{"id":1,"verdict":"right","language":"de"`},
		{"wrong", record(english, "de"), 200, `"spans":[{"start":0,"end":46,"language":"en","kind":"line","p":0.9999,"risk":0.9966}],"masked":[],"expected":"de","action":"allow"}`},
		{"cannot tell", record("12", "de"), 200, `"verdict":"cannot_tell","language":"","p":0.5,"risk":0.5,"not_judged":"no prose","units":0`},
		{"a short list", record("Uw bestelling komt morgen aan.", "nl"), 200, `"verdict":"right","language":"nl","p":0.9302,"risk":0.0698,"judged":"words","units":1`},
		{"spans do not overlap", record("ីភាសាខ្មែរ", "en"), 200, `"spans":[{"start":0,"end":30,"language":"km","kind":"line","p":0.9999,"risk":0.9872}],"masked":[],"expected":"en"`},
		{"masks do not overlap", record("```\n<think>x</think>\n```", "en"), 200, `"masked":[{"start":0,"end":24,"kind":"code"}]`},
		{"traditional Chinese", record("請將器材置於陰涼處，以免著色。", "zh-TW"), 200, `"verdict":"right","language":"zh-Hant"`},
		{"Serbian in Latin letters", record("Račun možete da preuzmete u prodavnici.", "sr-Latn"), 200, `"verdict":"right","language":"sr-Latn"`},
		{"user", `{"text":"` + german + `","language":"user","prompt":"Wann kommt meine Bestellung an?"}`, 200, `"expected":"de"`},
		{"many", "[" + record(german, "de") + "," + record(english, "de") + "]", 200, `[{"id":1,"verdict":"right"`},
		{"none", "[]", 200, "[]"},
		{"no language", `{"text":"x"}`, 400, `expected a field \"language\"`},
		{"no JSON", "x", 400, "expected a JSON object"},
		{"a bad one of many", "[" + record(german, "de") + `,{"language":"de"}]`, 400, `record 2: expected a field \"text\"`},
		{"an unknown language", record(german, "tlh"), 400, "cannot be judged"},
		{"too many", "[" + strings.Repeat("1,", mostRecords) + "1]", 413, "at most 1000 records, found 1001"},
		{"too long", record(strings.Repeat("x ", mostText), "de"), 413, "longer than 256 KiB"},
		{"too large", `{"text":"` + strings.Repeat("x", mostBody) + `"}`, 413, "larger than 8 MiB"},
	} {
		status, got := post(t, url+"/v1/check", c.body)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %.300s, want %d %s", c.name, status, got, c.status, c.want)
		}
	}
}

// What no path or method is for is refused as other requests are: in JSON.
func TestPaths(t *testing.T) {
	url := serving(t, Options{})
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"POST", "/v1/nothing", 404, "Nothing is at this path."},
		{"GET", "/nothing", 404, "Nothing is at this path."},
		{"POST", "/", 405, "Expected the method GET."},
		{"GET", "/v1/check", 405, "Expected the method POST."},
		{"POST", "/metrics", 405, "Expected the method GET."},
		{"PUT", "/v1/check", 405, "This server takes no such requests."},
	} {
		r, err := http.NewRequest(c.method, url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var got struct{ Error string }
		if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != c.status ||
			!strings.HasPrefix(got.Error, c.want) {
			t.Errorf("%s %s: %d %q, %v", c.method, c.path, response.StatusCode, got.Error, err)
		}
		if allow := response.Header.Get("Allow"); (c.status == 405) != (allow != "") {
			t.Errorf("%s %s: Allow %q", c.method, c.path, allow)
		}
	}
}

// The manual's examples: requests, and what is answered but for what "..." stands for.
func TestManualExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	url := serving(t, Options{})
	check := func(path, body, want string) {
		_, got := post(t, url+path, body)
		for part := range strings.SplitSeq(want, "...") {
			before, rest, found := strings.Cut(got, part)
			if !found || part == want && before != "" {
				t.Errorf("%s: %s\n got %s\nwant %s", path, body, got, want)
				return
			}
			got = rest
		}
	}
	requests := regexp.MustCompile(`(?m)^curl -d '(.*)' http://127.0.0.1:8030(\S+)\n(.*)$`).FindAllStringSubmatch(string(page), -1)
	for _, r := range requests {
		check(r[2], r[1], r[3])
	}
	var sent, answered []string
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, "> {"); ok {
			sent = append(sent, "{"+text)
		} else if text, ok := strings.CutPrefix(line, "< {"); ok {
			answered = append(answered, "{"+text)
		}
	}
	if len(requests) == 0 || len(sent) == 0 || len(answered) == 0 {
		t.Fatalf("%d requests, %d lines sent, %d answered", len(requests), len(sent), len(answered))
	}
	check("/v1/check/stream", strings.Join(sent, ""), strings.TrimSpace(strings.Join(answered, "")))
}

func TestBlockAndDefault(t *testing.T) {
	url := serving(t, Options{Block: true, Language: "de"})
	for text, want := range map[string]string{german: `"action":"allow"`, english: `"action":"block"`, "12": `"action":"allow"`} {
		if _, got := post(t, url+"/v1/check", fmt.Sprintf(`{"text":%q}`, text)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestToken(t *testing.T) {
	url := serving(t, Options{Token: "secret"})
	for _, c := range []struct {
		path, header, value string
		status              int
	}{
		{"/v1/check", "", "", 401},
		{"/v1/check", "Authorization", "Bearer secre", 401},
		{"/v1/check", "Authorization", "Bearer secret", 200},
		{"/v1/check", "Authorization", "bearer secret", 200},
		{"/v1/check", "X-Api-Key", "secret", 200},
		{"/v1/check?token=secret", "", "", 200},
		{"/v1/check/stream", "", "", 401},
		{"/beta/litellm_basic_guardrail_api", "", "", 401},
		{"/promptfoo", "", "", 401},
	} {
		if status, got := post(t, url+c.path, record(german, "de"), cmp.Or(c.header, "X-Other"), c.value); status != c.status {
			t.Errorf("%+v: %d %s", c, status, got)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/metrics": 401} {
		if response, err := http.Get(url + path); err != nil || response.StatusCode != want {
			t.Errorf("%s: %v %v", path, response.StatusCode, err)
		}
	}
}

// A request from the page of another site, and one that was sent to another host name, are refused.
func TestOthers(t *testing.T) {
	url := serving(t, Options{})
	if status, _ := post(t, url+"/v1/check", record(german, "de"), "Sec-Fetch-Site", "cross-site"); status != 403 {
		t.Errorf("another site's page: %d", status)
	}
	r, _ := http.NewRequest("POST", url+"/v1/check", strings.NewReader(record(german, "de")))
	r.Host = "elsewhere.example"
	if response, err := http.DefaultClient.Do(r); err != nil || response.StatusCode != 421 {
		t.Errorf("another host name: %v %v", response.StatusCode, err)
	}
}

// LiteLLM sends what the user wrote, and later the answer.
func TestLiteLLM(t *testing.T) {
	observe, block := serving(t, Options{}), serving(t, Options{Block: true})
	const path = "/beta/litellm_basic_guardrail_api"
	body := func(kind, call, text, language string) string {
		data, _ := json.Marshal(map[string]any{"texts": []string{text}, "input_type": kind, "litellm_call_id": call, "request_data": map[string]any{},
			"images": nil, "additional_provider_specific_params": map[string]any{"language": language, "threshold": 1}})
		return string(data)
	}
	const none = `{"action":"NONE"}`
	for _, c := range []struct{ name, url, body, want string }{
		{"right", block, body("response", "", german, "de"), none},
		{"wrong", block, body("response", "", english, "de"), `{"action":"BLOCKED","blocked_reason":"the answer should be in de; in another language (en): lines 1, runs of words 0"}`},
		{"observed", observe, body("response", "", english, "de"), none},
		{"cannot tell", block, body("response", "", "12", "de"), none},
		{"what the user wrote", block, body("request", "c1", "Wann kommt meine Bestellung an?", ""), none},
		{"an answer in another language", block, body("response", "c1", english, ""), `"action":"BLOCKED"`},
		{"more of a streamed answer", block, body("response", "c1", english, ""), `"action":"BLOCKED"`},
		{"a call that is not known", block, body("response", "c2", english, ""), none},
		{"rows", block, `{"texts":["` + english + `"],"input_type":"response","structured_messages":[{"role":"user","content":"Wann kommt meine Bestellung an?"}]}`, `"action":"BLOCKED"`},
		{"rows with parts", block, `{"texts":["` + english + `"],"input_type":"response","structured_messages":[
			{"role":"user","content":[{"type":"text","text":"Wann kommt meine Bestellung an?"},{"type":"image_url","image_url":{"url":"https://shop.example/1"}}]},
			{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://shop.example/2"}}]},{"role":"assistant","content":null}]}`, `"action":"BLOCKED"`},
		{"rows with a rule alone", block, `{"texts":["` + english + `"],"input_type":"response","structured_messages":[{"role":"system","content":"Antworten Sie bitte auf Deutsch."}]}`, `"action":"BLOCKED"`},
		{"rows without a user", block, `{"texts":["` + english + `"],"input_type":"response","structured_messages":[{"role":"system","content":"Antworten Sie bitte kurz."}]}`, none},
		{"no JSON", block, "x", `{"error":"expected a request of LiteLLM`},
		{"an unknown language", block, body("response", "", english, "tlh"), "cannot be judged"},
	} {
		if _, got := post(t, c.url+path, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPromptfoo(t *testing.T) {
	url := serving(t, Options{Block: true})
	body := func(output any, prompt string, vars map[string]any) string {
		data, _ := json.Marshal(map[string]any{"output": output, "context": map[string]any{"prompt": prompt, "vars": vars}})
		return string(data)
	}
	for _, c := range []struct{ name, query, body, want string }{
		{"right", "?language=de", body(german, "", nil), `{"pass":true,"reason":"the answer is in de","score":1}`},
		{"wrong", "?language=de", body(english, "", nil), `{"pass":false,"reason":"the answer should be in de; in another language (en): lines 1, runs of words 0","score":0}`},
		{"cannot tell", "?language=de", body("12", "", nil), `{"pass":true,"reason":"cannot tell the language of the answer","score":0.5}`},
		{"a variable", "", body(english, "", map[string]any{"language": "de", "n": 1}), `"pass":false`},
		{"the prompt's", "", body(english, "Wann kommt meine Bestellung an?", nil), `"pass":false`},
		{"a conversation's", "", body(english, `[{"role":"system","content":"You are a polite clerk in a shop."},{"role":"user","content":"Wann kommt meine Bestellung an?"}]`, nil), `"pass":false`},
		{"an object", "?language=de", body(map[string]any{"answer": english}, "", nil), `"pass":false`},
		{"no output", "", "{}", `"error":"expected what promptfoo`},
	} {
		if _, got := post(t, url+"/promptfoo"+c.query, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// An alarm comes before the text ends, and the verdict at the end.
func TestStream(t *testing.T) {
	url := serving(t, Options{Block: true})
	body, text := io.Pipe()
	r, _ := http.NewRequest("POST", url+"/v1/check/stream", body)
	type result struct {
		response *http.Response
		err      error
	}
	responded := make(chan result, 1)
	go func() {
		response, err := http.DefaultClient.Do(r)
		responded <- result{response, err}
	}()
	io.WriteString(text, `{"id":7,"language":"de"}`+"\n")
	for word := range strings.SplitAfterSeq(german+"\n"+english+" ", " ") {
		fmt.Fprintf(text, "{\"text\":%q}\n", word)
	}
	got := <-responded
	if got.err != nil || got.response.StatusCode != 200 {
		t.Fatal(got)
	}
	defer got.response.Body.Close()
	lines := bufio.NewScanner(got.response.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), `{"alarm":{"start":51,`) || !strings.Contains(lines.Text(), `"language":"en","kind":"line"`) {
		t.Fatalf("%s %v", lines.Text(), lines.Err())
	}
	text.Close()
	if !lines.Scan() || !strings.Contains(lines.Text(), `{"id":7,"verdict":"wrong",`) || !strings.HasSuffix(lines.Text(), `"expected":"de","action":"block"}`) {
		t.Errorf("%s %v", lines.Text(), lines.Err())
	}
	if lines.Scan() {
		t.Errorf("more: %s", lines.Text())
	}
}

// What OpenAI and Anthropic stream is judged as it is, after a language in the URL; and a character that is divided
// between two pieces is one.
func TestStreamChunks(t *testing.T) {
	url := serving(t, Options{})
	for _, c := range []struct{ name, query, body, want string }{
		{"OpenAI", "?language=ko", `: comment
data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"index":0,"delta":{"content":"Your order is on its"}}]}
data: {"choices":[{"index":0,"delta":{"content":" way.","tool_calls":null},"finish_reason":null}]}
data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
data: {"choices":[],"usage":{"total_tokens":3}}
data: [DONE]
`, `"start":0,"end":25,"language":"en"`},
		{"OpenAI's responses", "?language=de", `event: response.created
data: {"type":"response.created","response":{}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"Your order is on "}
data: {"type":"response.output_text.delta","delta":"its way."}
data: {"type":"response.completed","response":{"output":[]}}
`, `"start":0,"end":25,"language":"en"`},
		{"Anthropic", "?language=de", `event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Das ist Deutsch."}}
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Your order is"}}
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" on its way."}}
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}
data: {"type":"message_stop"}
`, `"start":0,"end":25,"language":"en"`},
		{"bytes", "", "{\"language\":\"de\"}\n{\"text\":\"Gr\xc3\"}\n{\"text\":\"\xbc\xc3\"}\n{\"text\":\"\xbfe aus dem Urlaub. 天\xe6\xb0\"}\n{\"text\":\"\x94很好。\"}\n",
			`"start":24,"end":36,"language":"zh-Hans"`},
		{"surrogates", "", `{"language":"de"}` + "\n" + `{"text":"Das ist schön \ud83d"}` + "\n" + `{"text":"\ude00 und gut. Your order is on \\ud83d"}` + "\n" + `{"text":" its way."}`,
			`"masked":[{"start":15,"end":19,"kind":"emoji"}`},
	} {
		status, got := post(t, url+"/v1/check/stream"+c.query, c.body)
		if status != 200 || !strings.Contains(got, c.want) || strings.Contains(got, `"error"`) {
			t.Errorf("%s: %d %s", c.name, status, got)
		}
	}
	for body, want := range map[string]string{
		"data: {\"text\":\"a\xc3\"}\ndata: {\"text\":\"b\"}\n": `{"error":"line 2: expected JSON in UTF-8; byte 0 is not valid"}`,
		`{"choices":[{"delta":{"content":7}}]}`:                `{"error":"line 1: expected an object with more text, {\"text\":\"...\"}, or a chunk of OpenAI or Anthropic"}`,
		`{}`:                                                   `{"error":"line 1: expected an object with more text`,
	} {
		if status, got := post(t, url+"/v1/check/stream?language=de", body); !strings.Contains(got, want) {
			t.Errorf("%q: %d %s", body, status, got)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	url := serving(t, Options{})
	for body, want := range map[string]string{
		record(strings.Repeat("x ", mostText/2+1), "de"):                             `413 {"error":"line 1: the text is longer than 256 KiB"}`,
		"{\"language\":\"de\"}\n" + record(strings.Repeat("x ", mostText/2+1), "de"): `200 {"error":"The text is longer than 256 KiB."}`,
		"":                                     `400 {"error":"the stream is empty;`,
		"x":                                    `400 {"error":"line 1: expected a JSON object`,
		`{"text":"x"}`:                         `400 {"error":"line 1: expected a field \"language\"`,
		`{"language":"tlh"}`:                   `400 {"error":"line 1: language \"tlh\" cannot be judged`,
		"\n{\"language\":\"de\"}":              `200 {"verdict":"cannot_tell"`,
		"{\"language\":\"de\"}\n{\"token\":1}": `200 {"error":"line 2: expected an object with more text`,
		"{\"language\":\"de\"}\n" + strings.Repeat("x", 2*keptStream): `200 {"error":"A line of the stream is larger than 1 MiB."}`,
		`{"language":"user"}`: `400 {"error":"line 1: \"language\" is \"user\": expected a \"prompt\"`,
		"{\"language\":\"user\",\"prompt\":\"ok\"}\n" + record(german+"\n"+english, ""): `200 {"verdict":"cannot_tell"`,
	} {
		status, got := post(t, url+"/v1/check/stream", body)
		if got := fmt.Sprint(status, " ", got); !strings.HasPrefix(got, want) {
			t.Errorf("%.60q: %s, want %s", body, got, want)
		}
	}
}

func TestMetrics(t *testing.T) {
	url := serving(t, Options{})
	for _, text := range []string{german, german, english, "12"} {
		post(t, url+"/v1/check", record(text, "de-AT"))
	}
	post(t, url+"/v1/check", "x")
	response, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := io.ReadAll(response.Body)
	for _, want := range []string{
		`crosstalk_guard_verdicts_total{language="de",verdict="right",route="check",model=""} 2`,
		`crosstalk_guard_verdicts_total{language="de",verdict="wrong",route="check",model=""} 1`,
		`crosstalk_guard_verdicts_total{language="de",verdict="cannot_tell",route="check",model=""} 1`,
		"crosstalk_guard_cannot_tell_ratio 0.25",
		`crosstalk_guard_refused_total{status="400"} 1`,
		`crosstalk_guard_check_seconds_bucket{le="+Inf"} 4`,
		"crosstalk_guard_check_seconds_count 4",
	} {
		if !strings.Contains(string(data), want+"\n") {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	if strings.Contains(string(data), "Bestellung") {
		t.Error("a text is in the metrics")
	}
	// Every metric has a type before its first value.
	typed := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			typed[name] = true
		} else if name := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '{' })[0]; name != "#" {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if base := strings.TrimSuffix(name, part); typed[base] {
					name = base
				}
			}
			if !typed[name] {
				t.Errorf("%s has no type", name)
			}
		}
	}
}

// The room for large bodies is limited, and given back.
func TestRoom(t *testing.T) {
	s := &server{metrics: newMetrics()}
	s.bodies = semaphore.NewWeighted(1 << 20)
	large := func() *http.Request {
		r := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", 600<<10)))
		r.ContentLength = -1
		return r
	}
	one, other := room{of: s.bodies}, room{of: s.bodies}
	if _, err := s.body(large(), &one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.body(large(), &other); err != errBusy {
		t.Errorf("error %v, want %v", err, errBusy)
	}
	one.leave()
	other.leave()
	if _, err := s.body(large(), &other); err != nil {
		t.Error(err)
	}
	other.leave()
	if !s.bodies.TryAcquire(1 << 20) {
		t.Error("room is not given back")
	}
}

// ask sends a request on a connection and returns the response, whose status is 0 if there is none.
func ask(c net.Conn, head, body string) *http.Response {
	fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return &http.Response{}
	}
	io.Copy(io.Discard, response.Body)
	return response
}

func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A gateway is one address: each of its many connections gets responses, also when they all send at once.
func TestManyConnections(t *testing.T) {
	url := serving(t, Options{})
	var open []net.Conn
	for range 1000 {
		open = append(open, dial(t, url))
	}
	var all sync.WaitGroup
	for _, c := range open {
		all.Go(func() {
			for range 2 {
				if r := ask(c, "POST /v1/check", record(german, "de")); r.StatusCode != 200 &&
					(r.StatusCode != 503 || r.Header.Get("Retry-After") == "") {
					t.Errorf("status %d", r.StatusCode)
				}
			}
		})
	}
	all.Wait()
}

// A new connection is crowded beside those that may be in use, and gets 503; those are kept. It replaces one that has
// said nothing for a second.
func TestCrowdedConnections(t *testing.T) {
	of := newAdmission(9, 3, 3)
	server := httptest.NewUnstartedServer(nil)
	server.Config = limited(New(Options{}), of)
	server.Start()
	t.Cleanup(server.Close)
	const post = "POST /v1/check"
	body := record(german, "de")
	first, silent := dial(t, server.URL), dial(t, server.URL)
	if r := ask(first, post, body); r.StatusCode != 200 {
		t.Fatalf("status %d", r.StatusCode)
	}
	idle := dial(t, server.URL)
	if r := ask(idle, post, body); r.StatusCode != 200 {
		t.Fatalf("status %d", r.StatusCode)
	}
	for range 2 {
		r := ask(dial(t, server.URL), post, body+strings.Repeat(" ", mostBody-1000))
		if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || !r.Close {
			t.Errorf("one more: status %d, %v, close %v", r.StatusCode, r.Header, r.Close)
		}
	}
	if r := ask(dial(t, server.URL), "GET /healthz", ""); r.StatusCode != 200 {
		t.Errorf("healthz: %d", r.StatusCode)
	}
	for _, c := range []net.Conn{first, idle, silent} {
		if r := ask(c, post, body); r.StatusCode != 200 {
			t.Errorf("a connection that was there: status %d", r.StatusCode)
		}
	}
	of.mu.Lock()
	for _, v := range of.open {
		v.since = v.since.Add(-settled)
	}
	of.mu.Unlock()
	if r := ask(dial(t, server.URL), post, body); r.StatusCode != 200 {
		t.Errorf("in place of one that was idle for a second: %d", r.StatusCode)
	}
}

// No request is lost when the service ends: each that could connect gets its response.
func TestEnding(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a connection made while the listener closes is cut")
	}
	url, _, stop := guarding(t, "127.0.0.1:0", Options{})
	var all sync.WaitGroup
	var answered atomic.Int32
	for i := range 64 { // so many connect that it does not come to a moment without
		all.Go(func() {
			body := "[" + strings.Repeat(record(german, "de")+",", i/8) + record(german, "de") + "]"
			for {
				c, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Minute)
				if err != nil {
					return // it has ended
				}
				for kept := true; kept; answered.Add(1) {
					r := ask(c, "POST /v1/check", body)
					if r.StatusCode != 200 && r.StatusCode != 503 {
						t.Errorf("status %d after %d", r.StatusCode, answered.Load())
						break
					}
					kept = i%2 == 0 && !r.Close
				}
				c.Close()
			}
		})
	}
	for answered.Load() < 500 {
		time.Sleep(time.Millisecond)
	}
	stop()
	all.Wait()
}

// A request that waits when the time to end is over is refused, with 503 where it has no status yet.
func TestAbandoned(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/check":        record(german, "de"),
		"/v1/check/stream": record(german, "de") + "\n",
		litellmPath:        `{"input_type":"response","texts":["x"]}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(Options{Block: true})
			s.turns.slots = 0 // others work
			ctx, abandon := context.WithCancelCause(t.Context())
			w := httptest.NewRecorder()
			go s.handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "http://localhost"+path, strings.NewReader(body)))
			synctest.Wait()
			abandon(errEnding)
			synctest.Wait()
			if w.Code != 503 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "is ending") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		})
	}
	// So is one whose body has not arrived, and a stream that waits for more.
	for path, want := range map[string]int{"/v1/check": 503, "/v1/check/stream": 200} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(Options{})
			ctx, abandon := context.WithCancelCause(t.Context())
			w := httptest.NewRecorder()
			body, text := io.Pipe()
			go s.handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "http://localhost"+path, body))
			io.WriteString(text, `{"language":"de"}`+"\n")
			synctest.Wait()
			abandon(errEnding)
			synctest.Wait()
			text.CloseWithError(os.ErrDeadlineExceeded) // as the connection does then
			synctest.Wait()
			if w.Code != want || !strings.Contains(w.Body.String(), "is ending") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		})
	}
}

// fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	address string
	closed  bool
}

func (c *fakeConn) Close() error { c.closed = true; return nil }

func (c *fakeConn) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.address+":1")
	return a
}

func TestAdmission(t *testing.T) {
	a := newAdmission(9, 4, 2)
	open := func(address string, state http.ConnState) (c *fakeConn, crowded bool) {
		c = &fakeConn{address: address}
		crowded = a.enter(c)
		a.change(c, state)
		return c, crowded
	}
	fill := func(n int, address string, state http.ConnState) (all []*fakeConn) {
		for range n {
			c, crowded := open(address, state)
			if c.closed || crowded {
				t.Errorf("%s got no place", address)
			}
			all = append(all, c)
		}
		return all
	}
	busy := fill(4, "10.0.0.1", http.StateActive)
	for i, closed := range []bool{false, false, true} {
		if c, crowded := open("10.0.0.1", http.StateActive); !crowded || c.closed != closed {
			t.Errorf("%d beyond the share of an address: crowded %v, closed %v", i, crowded, c.closed)
		}
	}
	waiting := fill(2, "10.0.0.2", http.StateNew)
	waiting = append(waiting, fill(1, "10.0.0.2", http.StateIdle)...)
	fill(2, "10.0.0.3", http.StateActive)
	if c, crowded := open("10.0.0.4", http.StateNew); !crowded || !c.closed {
		t.Error("one beyond all replaced a young one")
	}
	for i, c := range waiting {
		a.open[c].since = time.Now().Add(time.Duration(i)*time.Millisecond - 2*settled)
	}
	for i, victim := range waiting {
		if c, crowded := open("10.0.0.4", http.StateActive); crowded || c.closed || !victim.closed {
			t.Errorf("%d: crowded %v, the one that waits longest was closed: %v", i, crowded, victim.closed)
		}
	}
	a.change(waiting[0], http.StateClosed) // the server reports it later
	for _, c := range busy {
		if c.closed {
			t.Fatal("a connection was closed that had sent a header")
		}
		a.change(c, http.StateClosed)
	}
	if c, crowded := open("10.0.0.1", http.StateNew); crowded || c.closed || a.silent() != 1 || len(a.open) != 8 {
		t.Errorf("after all: crowded %v, %d open", crowded, len(a.open))
	}
}
