package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/internal/testing/golden"

	"golang.org/x/sync/semaphore"
)

// TestRequests sends the requests of testdata/requests.txt and compares what is answered with what follows each there.
// A request is a line: which server (it observes, blocks, or blocks by the user's language), a path and a body, in
// which ␤ stands for a line break. Then come the metrics of each server, but for times. -update writes the file anew.
func TestRequests(t *testing.T) {
	const file = "testdata/requests.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]*server{"observe": newServer(Options{}), "block": newServer(Options{Block: true}),
		"user": newServer(Options{Block: true, Language: guard.User})}
	var got strings.Builder
	send := func(s *server, method, path, body string) string {
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
		out := fmt.Sprintf("%d %s", w.Code, w.Header().Get("Content-Type"))
		for _, name := range []string{"Allow", "Retry-After", "Connection"} {
			if value := w.Header().Get(name); value != "" {
				out += " " + name + ": " + value
			}
		}
		return "\t" + out + "\n\t" + strings.ReplaceAll(strings.TrimSuffix(w.Body.String(), "\n"), "\n", "\n\t") + "\n"
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		got.WriteString(line)
		which, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		path, body, _ := strings.Cut(rest, " ")
		if servers[which] != nil {
			method := "POST"
			if body == "GET" {
				method, body = "GET", ""
			}
			out := send(servers[which], method, path, strings.ReplaceAll(body, "␤", "\n"))
			got.WriteString(timed.ReplaceAllString(out, ""))
		}
	}
	golden.Check(t, file, got.String())
}

// timed are the metrics that are not the same each time.
var timed = regexp.MustCompile(`(?m)^\tcrosstalk_guard_(check_seconds_(bucket|sum)|build_info).*\n|^\t(# HELP )?(process_|go_)[^$]*`)

// What was counted and logged, as Prometheus and people read it.
func TestMetricsAndPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(Options{Block: true})
		of := func(expected string, v guard.Verdict, route, model string) {
			s.record(event{Expected: expected, Language: "en", Verdict: v, Route: route, Model: model, Action: Allow,
				P: 0.875, MS: 1.25})
		}
		for range 2 {
			of("de", guard.Right, "check", `b"\`)
			of("de", guard.Right, "check", "a")
			of("de", guard.Wrong, "stream", "a")
		}
		of("ar", guard.Wrong, "check", "")
		of("pt_BR", guard.CannotTell, "check", "a")
		of("", guard.CannotTell, "litellm", "")
		s.record(event{Time: time.Now().Add(-time.Hour), Call: "call", Expected: "de", Verdict: guard.Wrong,
			Route: "litellm", Team: "team", Action: Block,
			Spans: []guard.Span{{Start: 1, End: 2, Language: "en"}, {Start: 3, End: 4, Language: "fr", Excuse: guard.Loan},
				{Start: 5, End: 6, Language: "it"}, {Start: 7, End: 8, Language: "es"}, {Start: 9, End: 10, Language: "nl"}}})
		for _, d := range []time.Duration{0, time.Millisecond, 2 * time.Millisecond, 3 * time.Second} {
			s.took(d)
		}
		s.count(func() { s.alarms["de"], s.alarms["ar"], s.streams = 2, 1, 3 })
		for _, status := range []int{413, 400, 413} {
			s.refused(&refusal{status: status})
		}
		s.unchecked(nil, large)
		s.calls.found("x", 0, "text", event{Verdict: guard.Right})
		time.Sleep(quiet - time.Second)
		for path, file := range map[string]string{"/metrics": "metrics.txt", "/": "page.html"} {
			w := httptest.NewRecorder()
			s.handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
			text, process, _ := strings.Cut(w.Body.String(), "# HELP process_start")
			if path == "/metrics" && (!strings.Contains(process, "\nprocess_start_time_seconds ") || !strings.Contains(process, "\ngo_goroutines ")) {
				t.Errorf("nothing of the process: %s", process)
			}
			golden.Check(t, "testdata/"+file, strings.NewReplacer(runtime.Version(), "GO", crosstalk.Version, "VERSION").Replace(text))
		}
		if n := s.calls.settle(-1); n != 0 || s.log.last()[0].Time != time.Now().Add(time.Second-quiet) {
			t.Errorf("%d left; an answer is logged at %v", n, s.log.last()[0].Time)
		}
	})
}

// The longest wait ends first, if it took a second: of who has said nothing, then of who is idle; of one address, or of
// all.
func TestLongestWait(t *testing.T) {
	now := time.Now()
	a := newAdmission(connections, ofOneAddress, mostCrowded)
	all := map[string]*fakeConn{}
	for name, v := range map[string]visitor{
		"new":    {address: "a", state: http.StateNew, since: now.Add(-settled)},
		"older":  {address: "b", state: http.StateNew, since: now.Add(-settled - 1)},
		"oldest": {address: "b", state: http.StateIdle, since: now.Add(-9 * settled)},
		"idle":   {address: "a", state: http.StateIdle, since: now.Add(-8 * settled)},
		"busy":   {address: "c", state: http.StateActive, since: now.Add(-99 * settled)},
		"later":  {address: "d", state: http.StateIdle, since: now.Add(-settled)},
		"d":      {address: "d", state: http.StateIdle, since: now.Add(-2 * settled)},
		"young":  {address: "e", state: http.StateNew, since: now.Add(time.Hour)},
		"crowd":  {address: "e", crowded: true, state: http.StateIdle, since: now.Add(-99 * settled)},
	} {
		all[name] = &fakeConn{}
		a.open[all[name]] = &v
	}
	for _, c := range []struct {
		address, want string
		only          bool
	}{{"x", "older", false}, {"a", "new", true}, {"b", "older", true}, {"c", "", true}, {"d", "d", true}, {"x", "", true},
		{"e", "", true}} {
		found := a.longest(c.address, c.only)
		if c.want == "" && found != nil || c.want != "" && found != all[c.want] {
			t.Errorf("%+v: another", c)
		}
	}
	if n := a.silent(); n != 3 {
		t.Errorf("%d are silent", n)
	}
}

// A large answer gives its room back.
func TestAnswersGiveRoomBack(t *testing.T) {
	s := newServer(Options{})
	s.bodies = semaphore.NewWeighted(2 << 20)
	for _, body := range []string{filled(200<<10, `{"language":"de","text":"`, `"}`), "[" + strings.Repeat(record(german, "de")+",", 900) + record(german, "de") + "]",
		"[" + strings.Repeat(record(german, "de")+",", 900) + "5]", filled(3<<20, `{"language":"de","text":"`, `"}`)} {
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/check", strings.NewReader(body)))
		if !s.bodies.TryAcquire(2 << 20) {
			t.Fatalf("%.40s: %d, and the room is not given back", body, w.Code)
		}
		s.bodies.Release(2 << 20)
	}
}

// What has no text adds none to a stream.
func TestPieces(t *testing.T) {
	for line, want := range map[string]string{
		`{"text":"a"}`: "a", `{"text":null}`: "", `{"text":""}`: "", `{"choices":[]}`: "", `{"choices":[{"delta":{}}]}`: "",
		`{"choices":[{"delta":{"content":null}}]}`: "", `{"choices":[{"delta":{"content":"b"}},{"delta":{"content":"c"}}]}`: "b",
		`{"choices":[{"index":1,"delta":{"content":"c"}}]}`: "", `{"choices":[{"delta":{"content":null,"refusal":"No."}}]}`: "No.",
		`{"choices":[{"delta":{"content":"b","refusal":null}}]}`: "b", `{"type":"response.refusal.delta","delta":"No."}`: "No.",
		`{"type":"response.output_text.delta","delta":"d"}`: "d", `{"type":"content_block_delta","delta":{"text":"e"}}`: "e",
		`{"type":"content_block_delta","delta":{"thinking":"e"}}`: "", `{"type":"ping"}`: "", `{"type":"x","delta":"y"}`: "",
		`{"type":"x","text":"y"}`: "y", `{"TEXT":"f\u00e9\n"}`: "fé\n",
		`{}`: "!", `{"text":5}`: "!", `{"text":[]}`: "!", `[]`: "!", `{"type":"content_block_delta","delta":"e"}`: "!", `{"text":"a"`: "!", `{"other":"x"}`: "!",
	} {
		text, err := new(pieces).next([]byte(line))
		if err != nil {
			text = "!"
			if err.Error() != `expected an object with more text, {"text":"..."}, or a chunk of OpenAI or Anthropic` {
				t.Errorf("%s: %v", line, err)
			}
		}
		if text != want {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}
