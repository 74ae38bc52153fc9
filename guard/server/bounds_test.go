package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"crosstalk/guard"
)

// Serve needs the token that it is given, here and for other machines, and makes no other.
func TestServeGivenToken(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		t.Setenv(TokenVar, "mine")
		for _, o := range []Options{{}, {Token: "given"}} {
			want := o.Token
			if want == "" {
				want = "mine"
			}
			url, printed, stop := guarding(t, addr, o)
			here := "http://127.0.0.1" + url[strings.LastIndex(url, ":"):]
			if got := status(t, here+"/metrics"); got != 401 {
				t.Errorf("%s: %d without the token %s", addr, got, want)
			}
			if got := status(t, here+"/metrics?token="+want); got != 200 {
				t.Errorf("%s: %d with the token %s", addr, got, want)
			}
			if !strings.Contains(printed, "\nRequests need the token of "+TokenVar+".\n") || strings.Contains(printed, "Bearer") || strings.Contains(printed, want) {
				t.Errorf("%s: printed %s", addr, printed)
			}
			stop()
		}
	}
}

// A gateway's request that passes without a check is logged once for each reason.
func TestUncheckedLog(t *testing.T) {
	var log bytes.Buffer
	handler := New(Options{Log: &log})
	for range 3 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+promptfooPath, strings.NewReader("x")))
		if w.Code != 200 || !strings.Contains(w.Body.String(), "not checked: ") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := strings.Count(log.String(), "passed without a check: it is not the JSON that was expected"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// A body that does not arrive, or is not UTF-8, is refused in JSON, and leaves room for others.
func TestBodiesRefused(t *testing.T) {
	handler := New(Options{})
	send := func(r *http.Request, status int, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != status || !strings.Contains(w.Body.String(), want) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%d %v %.200s; want %d %s", w.Code, w.Header(), w.Body, status, want)
		}
	}
	send(httptest.NewRequest("POST", "http://localhost/v1/check", iotest.ErrReader(os.ErrDeadlineExceeded)),
		408, "The request's body did not arrive.")
	large := "\xff" + strings.Repeat("x", 4<<20)
	for range mostBodies/len(large) + 2 {
		send(httptest.NewRequest("POST", "http://localhost/v1/check", strings.NewReader(large)), 400, "byte 0 is not valid")
	}
}

// An id comes back as it was sent.
func TestIDsAsSent(t *testing.T) {
	handler := New(Options{})
	for path, kind := range map[string]string{"/v1/check": "application/json", "/v1/check/stream": "application/x-ndjson"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+path,
			strings.NewReader(`{"id":"<a&b>","text":"`+german+`","language":"de"}`)))
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"id":"<a&b>"`) || w.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
}

// Of texts that cannot be told, the share is one.
func TestCannotTellRatio(t *testing.T) {
	url := serving(t, Options{})
	metric := func() string {
		t.Helper()
		response, err := http.Get(url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(response.Body); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "# TYPE crosstalk_guard_growing gauge\ncrosstalk_guard_growing 0\n") {
			t.Errorf("no type of growing: %s", b.String())
		}
		_, after, _ := strings.Cut(b.String(), "\ncrosstalk_guard_cannot_tell_ratio ")
		value, _, _ := strings.Cut(after, "\n")
		return value
	}
	for _, want := range []string{"0", "1"} {
		if got := metric(); got != want {
			t.Errorf("the ratio is %s, want %s", got, want)
		}
		post(t, url+"/v1/check", record("12", "de"))
	}
}

// Of a long conversation the newest messages are kept: as many as are judged.
func TestFitsForgets(t *testing.T) {
	user := func(n int) guard.Message {
		return guard.Message{Role: "user", Content: guard.Content(strings.Repeat("x", n))}
	}
	reply := guard.Message{Role: "assistant", Content: guard.Content(strings.Repeat("y", mostText))}
	r := guard.Request{Language: guard.User, Messages: []guard.Message{user(1), reply, user(mostText - 100), reply,
		user(90), user(11)}}
	if err := fits(&r); err != nil || len(r.Messages) != 3 || string(r.Messages[1].Content) != strings.Repeat("x", 90) {
		t.Errorf("%d messages are left, %v", len(r.Messages), err)
	}
	r = guard.Request{Language: guard.User, Messages: []guard.Message{user(1), reply, user(mostText - 100), reply,
		user(89), user(10)}}
	if err := fits(&r); err != nil || len(r.Messages) != 6 {
		t.Errorf("%d messages are left, %v; want all", len(r.Messages), err)
	}
}
