package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crosstalk/guard"
)

// asks sends a body to a handler.
func asks(s *server, path, body string) string {
	w := httptest.NewRecorder()
	method := "POST"
	if body == "" {
		method = "GET"
	}
	s.handler().ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
	return fmt.Sprint(w.Code, " ", w.Body)
}

func events(t *testing.T, path string) (all []event) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// The log and the page have all verdicts, of every route, and no text.
func TestVerdictsAreLoggedAndShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.jsonl")
	s := newServer(Options{LogVerdicts: path})
	asks(s, "/v1/check", `{"id":7,"text":"`+german+" "+english+`","language":"de","model":"m-1\u0000\"","team":5}`)
	asks(s, "/v1/check?model=m-2&team=a", `[{"text":"`+german+`","language":"de"},{"text":"12","language":"fr"}]`)
	asks(s, "/v1/check/stream", `{"language":"de","model":"m-2"}`+"\n"+`{"text":"`+english+`"}`)
	asks(s, promptfooPath+"?language=de", `{"output":"`+german+`"}`)
	asks(s, promptfooPath+"?language=tlh", `{"output":"`+german+`"}`)
	asks(s, portkeyPath, `{"eventType":"afterRequestHook","request":{"json":{"model":"m-3"}},"response":{"text":"`+english+
		`"},"metadata":{"language":"de","team":"b"}}`)
	asks(s, litellmPath, `{"input_type":"response","litellm_call_id":"c","texts":["`+english+`"],"model":"m-4",
		"request_data":{"user_api_key_team_id":"t","user_api_key_team_alias":null},"additional_provider_specific_params":{"language":"de"}}`)
	s.calls.settle(-1)
	var got []string
	for _, e := range events(t, path) {
		if e.Verdict == guard.Wrong && len(e.Spans) == 0 || time.Since(e.Time) > time.Minute || e.Action != Allow {
			t.Errorf("%+v", e)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %s %s %s %s%s", e.Route, e.ID, e.Call, e.Model, e.Team, e.Expected, e.Language, e.Verdict, e.Reason))
	}
	want := []string{`check 7  m-1"  de de wrong`, "check   m-2 a de de right", "check   m-2 a fr  cannot_tell", "stream   m-2  de en wrong",
		"promptfoo     de de right", "promptfoo       uncheckedlanguage", "portkey   m-3 b de en wrong", "litellm  c m-4 t de en wrong"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	data, _ := os.ReadFile(path)
	if strings.Contains(string(data), `"spans":null`) || strings.Count(string(data), `"spans":[]`) != 4 {
		t.Errorf("a verdict without spans has a list of none:\n%s", data)
	}
	page := asks(s, "/", "")
	for _, text := range []string{string(data), page} {
		if strings.Contains(text, "Bestellung") || strings.Contains(text, "order") {
			t.Error("a text in ", text)
		}
	}
	for _, want := range []string{"<dd>66.7 %</dd>", "<th scope=\"row\">m-2</th><td class=\"n\">50.0 %</td><td class=\"n\">1</td><td class=\"n\">1</td><td class=\"n\">1</td>",
		"<td>m-1&#34;</td>", "unchecked: language", "It observes", "<td>en 0–46</td>", "<td>7</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Index(page, "litellm</td>") > strings.Index(page, "promptfoo</td>") {
		t.Error("the newest verdict is not the first")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	metrics := asks(s, "/metrics", "")
	for _, want := range []string{`{language="de",verdict="wrong",route="check",model="m-1\""} 1`, `route="portkey",model="m-3"} 1`, "crosstalk_guard_build_info{", "process_start_time_seconds "} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in %s", want, metrics)
		}
	}
	if page := asks(newServer(Options{Block: true}), "/", ""); !strings.Contains(page, "No answer was judged yet") || !strings.Contains(page, "It blocks") {
		t.Error(page)
	}
}

// Models have counts of their own, up to a number of them.
func TestModelsAreFew(t *testing.T) {
	m := newMetrics()
	for i := range mostModels + 3 {
		m.judged("de", guard.Right, "check", fmt.Sprint("m", i))
	}
	m.judged("de", guard.Right, "check", "m0")
	m.judged("de", guard.Right, "check", "")
	of := func(model string) int { return m.verdicts[verdictOf{"de", guard.Right, "check", model}] }
	if of("other") != 3 || of("m0") != 2 || of("") != 1 || of(fmt.Sprint("m", mostModels-1)) != 1 || len(m.verdicts) != mostModels+2 {
		t.Error(m.verdicts)
	}
}

// A log begins anew when it is full; an error is said once, and the log goes on when it can.
func TestLogRotates(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	var said bytes.Buffer
	l := verdicts{path: path, most: 1000, report: &said}
	for i := range 30 {
		l.add(event{Model: fmt.Sprint(i)})
	}
	older, newer := events(t, path+".1"), events(t, path)
	if n := len(older) + len(newer); older[0].Model == "0" || newer[len(newer)-1].Model != "29" || n < 5 {
		t.Errorf("%d and %d", len(older), len(newer))
	}
	for _, name := range []string{path, path + ".1"} {
		if info, _ := os.Stat(name); info.Size() > 1000 || info.Size() < 150 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
	l.add(event{Model: "appended"})
	if got := events(t, path); len(got) != len(newer)+1 && got[0].Model != "appended" {
		t.Error(got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.add(event{})
	l.add(event{})
	if n := strings.Count(said.String(), "\n"); n != 1 || !strings.Contains(said.String(), "cannot be written") {
		t.Errorf("%d: %s", n, said.String())
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.add(event{Model: "again"})
	if got := events(t, path); len(got) != 1 || got[0].Model != "again" {
		t.Error(got)
	}
	if got := l.last(); len(got) != 34 || got[0].Model != "again" || got[33].Model != "0" {
		t.Error(len(got))
	}
	for range 2 * mostRecent {
		l.add(event{})
	}
	if len(l.recent) != mostRecent {
		t.Error(len(l.recent))
	}
	if l := (verdicts{path: filepath.Join(dir, "none", "log")}); l.write(nil) == nil {
		t.Error("a log in a folder that does not exist")
	}
}

// Spans count bytes, or the unit named in the URL.
func TestOffsets(t *testing.T) {
	s := newServer(Options{})
	body := `{"text":"Grüße 😀. ` + "\\n" + english + ` 😀","language":"de"}`
	for query, want := range map[string]string{"": `"start":15,"end":66`, "?offsets=bytes": `"start":15,"end":66`,
		"?offsets=utf16": `"start":11,"end":60`, "?offsets=characters": `"start":10,"end":58`} {
		if got := asks(s, "/v1/check"+query, body); !strings.Contains(got, `"spans":[{`+want) {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := asks(s, "/v1/check?offsets=utf16", body); !strings.Contains(got, `"masked":[{"start":6,"end":8,"kind":"emoji"},{"start":58,"end":60,"kind":"emoji"}]`) {
		t.Error(got)
	}
	if got := asks(s, "/v1/check?offsets=x", body); !strings.HasPrefix(got, `400 {"error":"offsets=\"x\": expected bytes, utf16 or characters"}`) {
		t.Error(got)
	}
}

// Portkey's requests pass; its answers do not if they are wrong and the service blocks.
func TestPortkey(t *testing.T) {
	body := func(event, text string) string {
		return `{"request":{"json":{"model":"gpt-4o-mini","messages":[{"role":"user","content":[{"type":"text","text":"Wann kommt meine Bestellung endlich an?"}]}]},
			"text":"Wann kommt","isStreamingRequest":false},"response":{"json":{},"text":"` + text + `","statusCode":200},"provider":"openai","requestType":"chatComplete",
			"metadata":{"_user":"u"},"eventType":"` + event + `"}`
	}
	for _, c := range []struct {
		block       bool
		query, body string
		want        string
	}{
		{true, "", body("beforeRequestHook", ""), `200 {"data":null,"verdict":true}`},
		{true, "", body("afterRequestHook", german), `"action":"allow"},"verdict":true}`},
		{true, "", body("afterRequestHook", english), `"action":"block"},"verdict":false}`},
		{true, "?language=en", body("afterRequestHook", english), `"verdict":true}`},
		{false, "", body("afterRequestHook", english), `"action":"allow"},"verdict":true}`},
		{true, "", `{}`, `400 {"error":"expected what Portkey's webhook guardrail sends: an object with an eventType"}`},
		{true, "", `[]`, `400 {"error":"expected what Portkey's`},
		{false, "", `{}`, `200 {"data":{"reason":"not checked: expected what Portkey's webhook guardrail sends: an object with an eventType"},"verdict":true}`},
		{false, "?language=tlh", body("afterRequestHook", english), `not checked: language`},
	} {
		if got := asks(newServer(Options{Block: c.block}), portkeyPath+c.query, c.body); !strings.Contains(got, c.want) {
			t.Errorf("block %v, %s: %s, want %s", c.block, c.query, got, c.want)
		}
	}
}

// Names and ids that callers send are short, and can be printed.
func TestLabels(t *testing.T) {
	for name, want := range map[string]string{"a\nb\x7f\u202e ü": "ab ü", strings.Repeat("x", 101): strings.Repeat("x", 100),
		strings.Repeat("x", 99) + "ü": strings.Repeat("x", 99), "": ""} {
		if got := label(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	id := json.RawMessage(strings.Repeat("1", mostCallID))
	if string(short(id)) != string(id) || short(append(id, '1')) != nil {
		t.Error("ids of the greatest length, or longer")
	}
	many := guard.Response{Judgement: guard.Judgement{Spans: make([]guard.Span, mostSpans+1)}}
	e := sent{}.of("check", "", Verdict{Response: many, took: 1500 * time.Microsecond})
	if len(e.Spans) != mostSpans || e.MS != 1.5 {
		t.Error(len(e.Spans), e.MS)
	}
}

// The beginning of a character at the end of a text is not part of it yet.
func TestTorn(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "ü": 0, "a\xc3": 1, "\xe5\xa4": 2, "a\xf0\x9f\x98": 3, "\xf0\x9f\x98\x80": 0,
		"\x80": 0, `\ud83d`: 6, `\uD83D`: 6, `x\\\ud83d`: 6, `\\ud83d`: 0, `\udc00`: 0, `\ud7ff`: 0, `\ud800`: 6, `\udbff`: 6, `\u00e4`: 0, `\ud83`: 0} {
		if got := torn([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for line, want := range map[string]string{"data: {}": "{}", "data:{}": "{}", "data: [DONE]": "", ": x": "", "event: x": "", "id: 1": "", "retry: 1": "",
		`{"id": 1}`: `{"id": 1}`, "x": "x", "": ""} {
		if got := payload([]byte(line)); string(got) != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// The process reports its resource usage.
func TestProcess(t *testing.T) {
	var b bytes.Buffer
	writeProcess(&b)
	value := func(name string) (n float64) {
		_, rest, _ := strings.Cut("\n"+b.String(), "\n"+name+" ")
		fmt.Sscan(rest, &n)
		return n
	}
	for end := time.Now().Add(time.Minute); value("process_cpu_seconds_total") == 0 && time.Now().Before(end); {
		b.Reset() // until a tick of CPU time has gone by
		writeProcess(&b)
		if _, err := os.Stat("/proc/self/stat"); err != nil {
			break
		}
	}
	if began := value("process_start_time_seconds"); time.Since(time.Unix(int64(began), 0)) > time.Hour || value("go_goroutines") < 2 {
		t.Error(b.String())
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil && (value("process_resident_memory_bytes") < 10<<20 ||
		value("process_resident_memory_bytes") > 4<<30 || value("process_cpu_seconds_total") <= 0 || value("process_open_fds") < 3) {
		t.Error(b.String())
	}
}
