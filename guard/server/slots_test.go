package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk/guard"

	"golang.org/x/sync/semaphore"
)

// A short text is judged while a long one is and others wait, and all are answered.
func TestShortBesideLong(t *testing.T) {
	s := newServer(Options{Block: true})
	s.turns = newTurns(2)
	server := httptest.NewServer(s.handler())
	defer server.Close()
	s.turns.take(t.Context(), mostText) // one is judged
	statuses := make(chan int)
	for _, path := range []string{"/v1/check", litellmPath, promptfooPath + "?language=de"} {
		go func() {
			long := strings.Repeat(german+" ", mostText/(len(german)+1))
			status, _ := post(t, server.URL+path, `{"language":"de","input_type":"response","text":"`+long+
				`","texts":["`+long+`"],"output":"`+long+`"}`)
			statuses <- status
		}()
	}
	waiting := func() (n int) {
		s.turns.mu.Lock()
		defer s.turns.mu.Unlock()
		return len(s.turns.queueOf(mostText).waiting) + len(s.turns.queueOf(mostText-1).waiting)
	}
	for waiting() < 3 {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		if status, got := post(t, server.URL+"/v1/check", record(german, "de")); status != 200 {
			t.Errorf("a short text: %d %s", status, got)
		}
	}
	if n := waiting(); n != 3 {
		t.Errorf("%d long texts wait, want 3", n)
	}
	s.turns.leave(mostText)
	for range 3 {
		if status := <-statuses; status != 200 {
			t.Errorf("a long text: %d", status)
		}
	}
	if all := newTurns(2); s.turns.slots != all.slots || s.turns.room != all.room {
		t.Errorf("%d slots and %d bytes are left", s.turns.slots, s.turns.room)
	}
}

// Texts take turns by their lengths: each length gets the same share of work.
func TestTurns(t *testing.T) {
	const k = 1 << 10
	for _, c := range []struct {
		name  string
		sizes []int  // in the order of arrival
		want  string // the order in which they are judged
	}{
		{"alike in the order of arrival", []int{500, 0, 1000, k - 1}, "0 1 2 3"},
		{"the short one first", []int{200 * k, 200 * k, 100}, "2 0 1"},
		{"a long one is not kept out", []int{4 * k, k, k, k, k, k, k}, "1 0 2 3 4 5 6"},
		{"nor by one that is hardly shorter", []int{200 * k, 100 * k, 100 * k, 100 * k}, "1 0 2 3"},
		{"nor by empty ones", []int{4 * k, 0, 0, 0}, "1 0 2 3"},
		{"longer than is judged", []int{2 * mostText, 100}, "1 0"},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(1)
			turns.slots = 0
			var order []string
			for i, size := range c.sizes {
				go func() {
					if turns.take(t.Context(), size) == nil {
						order = append(order, fmt.Sprint(i))
						turns.leave(size)
					}
				}()
				synctest.Wait()
			}
			turns.leave(0)
			synctest.Wait()
			if got := strings.Join(order, " "); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		})
	}
}

// Who sent nothing for a while does not get more than its share later.
func TestTurnsAfterRest(t *testing.T) {
	const k = 1 << 10
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		for range 100 {
			turns.take(t.Context(), 100)
			turns.leave(100)
		}
		turns.slots = 0
		var order []string
		for _, size := range []int{4 * k, 4*k + 1, 4*k + 2, 100} {
			go func() {
				turns.take(t.Context(), size)
				order = append(order, fmt.Sprint(size))
				turns.leave(size)
			}()
			synctest.Wait()
		}
		turns.leave(0)
		synctest.Wait()
		if got := strings.Join(order, " "); got != "4096 100 4097 4098" {
			t.Errorf("order %s", got)
		}
	})
}

// A turn that comes at the moment in which its text is given up goes to another.
func TestTurnGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		for range 100 {
			turns.take(t.Context(), mostText)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if turns.take(ctx, mostText) == nil {
					turns.leave(mostText)
				}
			}()
			synctest.Wait()
			cancel()
			turns.leave(mostText)
			synctest.Wait()
		}
		if all := newTurns(1); turns.slots != all.slots || turns.room != all.room {
			t.Errorf("%d slots and %d bytes are left", turns.slots, turns.room)
		}
	})
}

// At a time as many texts are judged as there are cores, and of long ones as many as there is room for.
func TestTurnsAtATime(t *testing.T) {
	const k = 1 << 10
	for _, c := range []struct{ cores, size, want int }{
		{1, 0, 2}, {2, freeText, 2}, {3, freeText, 3}, {2, mostText, 1}, {2, 2 * mostText, 1}, {2, 200 * k, 1},
		{16, freeText, 16}, {16, 40 * k, 16}, {16, 41 * k, 15}, {16, mostText, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := newTurns(c.cores)
			ctx, leave := context.WithCancel(t.Context())
			var judged, left atomic.Int32
			for range 20 {
				go func() {
					if turns.take(ctx, c.size) == nil {
						judged.Add(1)
					} else {
						left.Add(1)
					}
				}()
				synctest.Wait()
			}
			inside := int(judged.Load())
			if inside != c.want {
				t.Errorf("%d cores: %d texts of %d bytes at a time, want %d", c.cores, inside, c.size, c.want)
			}
			leave() // who waits gives up, and takes nothing along
			synctest.Wait()
			for range inside {
				turns.leave(c.size)
			}
			if all := newTurns(c.cores); turns.slots != all.slots || turns.room != all.room || int(left.Load()) != 20-c.want {
				t.Errorf("%d cores: %d slots and %d bytes are left, %d gave up", c.cores, turns.slots, turns.room, left.Load())
			}
		})
	}
}

// Each line gives a stream 30 seconds for the next, up to ten minutes in all.
func TestLongStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		start, lines := time.Now(), 0
		body := readerFunc(func(p []byte) (int, error) {
			if lines++; lines > 35 {
				return 0, io.EOF
			}
			time.Sleep(20 * time.Second)
			return copy(p, fmt.Sprintln(lines)), nil
		})
		l := newLines(body, http.NewResponseController(w), semaphore.NewWeighted(0), func() {})
		<-l.read
		l.end()
		if len(w.reading) != 36 {
			t.Fatalf("%d deadlines", len(w.reading))
		}
		for i, got := range w.reading {
			want := min(time.Duration(i)*20*time.Second+30*time.Second, 10*time.Minute)
			if got.Sub(start) != want {
				t.Errorf("line %d: a deadline of %v, want %v", i, got.Sub(start), want)
			}
		}
	})
}

// The time to judge is counted in the bucket of its upper bound.
func TestBuckets(t *testing.T) {
	s := newServer(Options{})
	// one at each, and one above it
	for _, bound := range []float64{0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1} {
		at := time.Duration(bound * float64(time.Second))
		one := newServer(Options{})
		one.took(at)
		one.took(at + 1)
		w := httptest.NewRecorder()
		one.handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
		if want := fmt.Sprintf(`check_seconds_bucket{le="%g"} 1`, bound); !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
	for _, d := range []time.Duration{0, 100 * time.Microsecond, 100*time.Microsecond + 1, time.Second, time.Second + 1,
		time.Minute} {
		s.took(d)
	}
	s.judged("PT_br", guard.Wrong, "check", "")
	s.judged("pt-PT", guard.Wrong, "check", "")
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	for _, want := range []string{`seconds_bucket{le="0.0001"} 2`, `seconds_bucket{le="0.00025"} 3`, `seconds_bucket{le="0.1"} 3`, `seconds_bucket{le="1"} 4`, `seconds_bucket{le="+Inf"} 6`,
		"seconds_count 6", "seconds_sum 62.0002", `verdicts_total{language="pt",verdict="wrong",route="check",model=""} 2`, "cannot_tell_ratio 0", "guard_streams 0", "guard_growing 0"} {
		if !strings.Contains(w.Body.String(), "crosstalk_guard_check_"+want) &&
			!strings.Contains(w.Body.String(), "crosstalk_guard_"+want+"\n") && !strings.Contains(w.Body.String(), "crosstalk_"+want+"\n") {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
}

// The reasons that a gateway reads name the languages and count parts without an excuse.
func TestReasons(t *testing.T) {
	url := serving(t, Options{Block: true})
	for text, want := range map[string]string{
		german: `"pass":true,"reason":"the answer is in de","score":1`,
		"12":   `"pass":true,"reason":"cannot tell the language of the answer","score":0.5`,
		english + "\\n\\n" + german + "\\n\\nDer Techniker kommt завтра um acht, however спать.": `"pass":false,"reason":"the answer should be in de; in another language (en, ru): lines 1, runs of words 3","score":0`,
		"Die Taste «Check for updates» und завтра.":                                              `"reason":"the answer should be in de; in another language (ru): lines 0, runs of words 1"`,
	} {
		if status, got := post(t, url+promptfooPath+"?language=de", `{"output":"`+text+`"}`); status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %s", text, status, got, want)
		}
	}
	// Of objects the texts are in the order of their keys; a prompt that is a conversation is one.
	for body, want := range map[string]string{
		`{"output":{"b":"` + english + `","a":["` + german + `",5,null]},"context":{"vars":{"language":"de"}}}`:                                                       "lines 1",
		`{"output":"` + german + `","context":{"prompt":"[{\"role\":\"user\",\"content\":\"Wann kommt meine Bestellung endlich an?\"}]"}}`:                            "the answer is in de",
		`{"output":"` + german + `","context":{"prompt":"Wann kommt meine Bestellung endlich an?"}}`:                                                                  "the answer is in de",
		`{"output":"` + german + `","context":{"prompt":"When does my order arrive, please?","vars":{"language":5}}}`:                                                 "the answer should be in en",
		`{"output":"` + german + `","context":{"prompt":"[{\"role\":\"user\",\"content\":\"When does my order arrive, please?\"}]","vars":{"language":"de"}}}`:        "the answer is in de",
		`{"output":"` + german + `","context":{"prompt":"[{\"role\":\"system\",\"content\":\"x\"},{\"role\":\"user\",\"content\":\"When does my order arrive?\"}]"}}`: "the answer should be in en",
	} {
		if status, got := post(t, url+promptfooPath, body); status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %s", body, status, got, want)
		}
	}
}

// Refusals for being busy or late state when to try again; others do not.
func TestRetryAfter(t *testing.T) {
	s := newServer(Options{Block: true})
	s.bodies = semaphore.NewWeighted(0)
	h := s.handler()
	for body, want := range map[string]string{
		filled(freeBody+600, `{"language":"de","text":"`, `"}`): "503 1",
		filled(freeBody-600, `{"language":"de","text":"`, `"}`): "200 ",
		"x": "400 ",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/v1/check", strings.NewReader(body)))
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After")); got != want {
			t.Errorf("%d bytes: %s, want %s", len(body), got, want)
		}
	}
}

// The language of LiteLLM's user is that of the request, by its call, or of the conversation.
func TestUserOfCall(t *testing.T) {
	s := newServer(Options{Block: true})
	h := s.handler()
	send := func(body string) string {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+litellmPath, strings.NewReader(body)))
		if w.Code != 200 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		return w.Body.String()
	}
	const asks = "Wann kommt meine Bestellung endlich bei mir an?"
	for _, c := range []struct {
		body    string
		blocked bool
	}{
		{`{"input_type":"response","texts":["` + english + `"]}`, false},                       // unknown
		{`{"input_type":"request","litellm_call_id":"a","texts":["` + asks + `"]}`, false},     // a request passes
		{`{"input_type":"response","litellm_call_id":"a","texts":["` + english + `"]}`, true},  // in another language than it
		{`{"input_type":"response","litellm_call_id":"a","texts":["` + german + `"]}`, false},  //
		{`{"input_type":"response","litellm_call_id":"b","texts":["` + english + `"]}`, false}, // another call
		{`{"input_type":"request","litellm_call_id":"","texts":["` + asks + `"]}`, false},      //
		{`{"input_type":"response","litellm_call_id":"","texts":["` + english + `"]}`, false},  // no call
		{`{"input_type":"response","texts":["` + english + `"],"structured_messages":[{"role":"user","content":"` + asks + `"}]}`, true},
		{`{"input_type":"response","texts":["` + english + `"],"structured_messages":[{"role":"user","content":"` +
			strings.Repeat(asks+" ", mostText/len(asks)) + `"}]}`, false}, // a message that is too long to be judged
		{`{"input_type":"request","litellm_call_id":"d","texts":["` + strings.Repeat(" ", mostText+1) + `"],` +
			`"structured_messages":[{"role":"user","content":"` + asks + `"}]}`, false}, // a text that is too long is not looked at
		{`{"input_type":"response","litellm_call_id":"d","texts":["` + english + `"]}`, true},
		{`{"input_type":"request","litellm_call_id":"c","texts":[],"structured_messages":[{"role":"user","content":"` + asks + `"}]}`, false},
		{`{"input_type":"response","litellm_call_id":"c","texts":["` + english + `"],"structured_messages":[{"role":"user","content":"When does it arrive, please?"}]}`, true},
	} {
		if got := send(c.body); strings.Contains(got, "BLOCKED") != c.blocked {
			t.Errorf("%s: %s", c.body, got)
		}
	}
}

// Languages that cannot be judged are refused before anything is served.
func TestLanguageOption(t *testing.T) {
	for language, ok := range map[string]bool{"": true, "user": true, "de": true, "pt-BR": true, "tlh": false, "Koreanish": false} {
		if err := (guard.Checker{}).CheckLanguage(language); (err == nil) != ok || err != nil &&
			!strings.HasPrefix(err.Error(), "language: ") {
			t.Errorf("%q: %v", language, err)
		}
	}
}

// A stream counts its alarms and its errors, and takes a byte order mark where it begins.
func TestStreamCounts(t *testing.T) {
	url := serving(t, Options{})
	for _, c := range []struct{ body, want string }{
		{"\ufeff" + record(german, "de"), `"verdict":"right"`},
		{record("<b>"+german+"</b>\n"+english+"\n\n", "de-AT") + "\n" + record(german, ""), `{"alarm":{`},
		{record(german, "de") + "\n\ufeff" + record(german, ""), `{"error":"line 2: expected an object with more text`},
		{record(german, "de") + "\n{\"text\":5}", `{"error":"line 2: expected an object with more text`},
		{record(german, "de") + "\n" + "{\"text\":\"\xff\"}", `{"error":"line 2: expected JSON in UTF-8`},
		{`{"language":"de","x":[` + strings.Repeat("1,", mostValues) + `1]}`, `{"error":"line 1: expected at most 100000 values`},
		{record(strings.Repeat("x", mostText-1), "de") + "\n" + record("y", ""), `"verdict"`},
		{record(strings.Repeat("x", mostText-1), "de") + "\n" + record("yz", ""), `{"error":"The text is longer than 256 KiB."}`},
	} {
		if _, got := post(t, url+"/v1/check/stream", c.body); !strings.Contains(got, c.want) {
			t.Errorf("%.80q: %.300s, want %s", c.body, got, c.want)
		}
	}
	got := metricsOf(t, url+"/metrics")
	for _, want := range []string{`crosstalk_guard_alarms_total{language="de"} 1`, `crosstalk_guard_refused_total{status="400"} 3`, `crosstalk_guard_refused_total{status="413"} 2`, "# TYPE crosstalk_guard_refused_total counter",
		`crosstalk_guard_verdicts_total{language="de",verdict="right",route="stream",model=""} 1`, "crosstalk_guard_streams 0"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// The id of a call is kept up to 200 bytes, and a text is not the answer that it begins like.
func TestCallEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			id, first, then string
			want            string
		}{
			{strings.Repeat("x", mostCallID), german, german + " Ja.", "right 0, wrong 0, unclear 0, growing 1, judged 2"},
			{strings.Repeat("x", mostCallID+1), german, german + " Ja.", "right 2, wrong 0, unclear 0, growing 0, judged 2"},
			{"a", german, "Meine Bestellung ist unterwegs und kommt morgen bestimmt an.", "right 1, wrong 0, unclear 0, growing 1, judged 2"},
			{"a", german, german[:20], "right 1, wrong 0, unclear 0, growing 1, judged 2"},
		} {
			s := newServer(Options{})
			sends(t, s, c.id, c.first)
			sends(t, s, c.id, c.then)
			if got := counted(s); got != c.want {
				t.Errorf("%s then %s: %s, want %s", c.first, c.then, got, c.want)
			}
		}
	})
}
