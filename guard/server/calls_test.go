package server

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk/guard"
)

// sends sends to a handler what LiteLLM sends of the answers of a call, and returns its action.
func sends(t *testing.T, s *server, call string, texts ...string) string {
	t.Helper()
	return sendsIn(t, s, "de", call, texts...)
}

func sendsIn(t *testing.T, s *server, language, call string, texts ...string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"input_type": "response", "litellm_call_id": call, "texts": texts,
		"additional_provider_specific_params": map[string]string{"language": language}})
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+litellmPath, strings.NewReader(string(body))))
	if w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// counted returns the counts of /metrics: of right, wrong and unclear answers, of those that may grow, and of
// judgements.
func counted(s *server) string {
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	value := func(name string) (n int) {
		_, rest, _ := strings.Cut(w.Body.String(), "\ncrosstalk_guard_"+name+" ")
		fmt.Sscan(rest, &n)
		return n
	}
	verdict := func(v guard.Verdict) int {
		return value(fmt.Sprintf(`verdicts_total{language="de",verdict=%q,route="litellm",model=""}`, v))
	}
	return fmt.Sprintf("right %d, wrong %d, unclear %d, growing %d, judged %d",
		verdict(guard.Right), verdict(guard.Wrong), verdict(guard.CannotTell), value("growing"), value("check_seconds_count"))
}

// LiteLLM sends a streamed answer every five pieces, each time all of it so far. It is one answer, whatever the first
// pieces look like, and its last state counts once it does not grow any more.
func TestGrowingAnswersCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(Options{})
		want := func(when, want string) {
			t.Helper()
			if got := counted(s); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		pieces := strings.SplitAfter(german, " ")
		for i := range pieces {
			sends(t, s, "a", strings.Join(pieces[:i+1], ""))
		}
		want("while it grows", "right 0, wrong 0, unclear 0, growing 1, judged 8")
		sends(t, s, "a", german) // LiteLLM sends the whole at the end
		time.Sleep(quiet)
		want("until it is quiet", "right 0, wrong 0, unclear 0, growing 1, judged 9")
		time.Sleep(time.Nanosecond)
		want("quiet", "right 1, wrong 0, unclear 0, growing 0, judged 9")
		sends(t, s, "a", german+"\n"+english)
		time.Sleep(2 * quiet)
		want("more after a pause", "right 1, wrong 0, unclear 0, growing 0, judged 10")
		sends(t, s, "b", "Ihre", "Your order is")
		sends(t, s, "b", german, english)
		want("two choices", "right 1, wrong 0, unclear 0, growing 2, judged 14")
		sends(t, s, "b", english, english)
		want("another answer", "right 2, wrong 0, unclear 0, growing 2, judged 16")
		sends(t, s, "", german)
		sends(t, s, "", german+" ")
		sends(t, s, strings.Repeat("x", mostCallID+1), german)
		want("calls without an id that can be kept", "right 5, wrong 0, unclear 0, growing 2, judged 19")
		time.Sleep(2 * quiet)
		want("at the end", "right 5, wrong 2, unclear 0, growing 0, judged 19")
	})
}

// Calls are forgotten when they are old, or too many; what was not counted of them is.
func TestCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := calls{count: func(event) { n++ }}
		c.keep("first", "de")
		for i := range mostCalls - 1 {
			c.found(fmt.Sprint(i), 0, "x", event{})
		}
		if c.language("first") != "de" || n != 0 || len(c.ids) != mostCalls {
			t.Errorf("full: %q, %d counted, %d kept", c.language("first"), n, len(c.ids))
		}
		c.keep("more", "fr")
		c.keep("and more", "fr")
		if c.language("first") != "" || n != 1 || len(c.ids) != mostCalls || c.all.Len() != mostCalls {
			t.Errorf("more: %q, %d counted, %d kept, %d listed", c.language("first"), n, len(c.ids), c.all.Len())
		}
		time.Sleep(longestCall)
		if got := c.language("more"); got != "fr" {
			t.Errorf("old: %q", got)
		}
		time.Sleep(time.Nanosecond)
		if got := c.language("more"); got != "" {
			t.Errorf("too old: %q", got)
		}
		if left := c.settle(quiet); left != 0 || n != mostCalls-1 || len(c.ids) != 0 {
			t.Errorf("too old: %d left, %d counted, %d kept", left, n, len(c.ids))
		}
		for i := range mostChoices + 3 {
			c.found("choices", i, "x", event{})
		}
		if n != mostCalls-1+3 || c.settle(quiet) != mostChoices {
			t.Errorf("%d counted of many choices, %d left", n-mostCalls+1, c.settle(quiet))
		}
	})
}

// What is not certain of an answer that grows does not block it: at its end, or as a whole one, it does.
func TestGrowingAnswersAreBlockedWhenCertain(t *testing.T) {
	s := newServer(Options{Block: true})
	const explained = "Ihre Bestellung kommt morgen (the engine runs but"
	for _, c := range []struct {
		call, text string
		want       bool
	}{
		{"1", "Ihre Bestellung", false},
		{"1", explained, false},
		{"1", explained + " does not move the car) mit der Post.", false},
		{"2", explained + " does not", true}, // too long for a beginning
		{"2", explained + " does not move", false},
		{"3", english, true},
		{"4", "Ihre", false},
		{"4", german + " Tomorrow", false},
		{"4", german + " Tomorrow", true}, // the stream has ended
		{"5", german, false},
		{"5", german + " Tomorrow.", true},
		{"6", german, false},
		{"6", german + "\n\nYour order is on its way and", true},
	} {
		if got := sends(t, s, c.call, c.text); strings.Contains(got, "BLOCKED") != c.want {
			t.Errorf("%s: %s", c.text, got)
		}
	}
}

// A call is remembered as long as its user may wait for the answer, whatever other calls come meanwhile.
func TestCallsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calls{count: func(event) {}}
		c.keep("first", "de")
		time.Sleep(longestCall)
		c.keep("second", "fr")
		if got := c.language("first") + " " + c.language("second"); got != "de fr" {
			t.Errorf("remembered: %s", got)
		}
		time.Sleep(time.Nanosecond)
		c.keep("third", "en")
		if got := c.language("first"); got != "" || len(c.ids) != 2 {
			t.Errorf("remembered too long: %q of %d", got, len(c.ids))
		}
	})
}
