package anthropic

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
)

// script answers each address, METHOD URI, with a status and a body, and notes what it was sent.
type script struct {
	replies map[string]string
	sent    []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	at := r.Method + " " + r.URL.RequestURI()
	s.sent = append(s.sent, at+" "+string(body))
	reply, known := s.replies[at]
	if !known {
		reply = `404 {"error":{"message":"not here"}}`
	}
	status, text, _ := strings.Cut(reply, " ")
	code := 0
	fmt.Sscan(status, &code)
	w.WriteHeader(code)
	io.WriteString(w, text)
}

// scripted is a model at such a server. Replies are given as METHOD URI, reply, METHOD URI, reply.
func scripted(t *testing.T, replies ...string) (*Model, *script) {
	t.Helper()
	s := &script{replies: map[string]string{}}
	for i := 0; i < len(replies); i += 2 {
		s.replies[replies[i]] = replies[i+1]
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	m, err := New(endpoint.Config{Provider: "p", Model: "m", BaseURL: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func asks(texts ...string) (list []crosstalk.BatchAsk) {
	for i, text := range texts {
		list = append(list, crosstalk.BatchAsk{Key: crosstalk.Key{byte(i + 1)}, Request: request("user", text)})
	}
	return list
}

const batches = "/messages/batches"

func TestSubmit(t *testing.T) {
	m, s := scripted(t, "POST "+batches, `200 {"id":"b1"}`)
	id, err := m.Submit(t.Context(), "TAG", asks("one", "two"))
	one := func(key, text string) string {
		return `{"custom_id":"` + key + strings.Repeat("0", 62) + `","params":{"model":"m","messages":[{"role":"user","content":"` + text +
			`"}],"max_tokens":4096}}`
	}
	want := "POST " + batches + ` {"requests":[` + one("01", "one") + "," + one("02", "two") + `]}`
	if err != nil || id != "b1" || len(s.sent) != 1 || s.sent[0] != want {
		t.Errorf("%q, %v, sent\n%q, want\n%q", id, err, s.sent, want)
	}
	for reply, unclear := range map[string]bool{"200 {}": true, "500 {}": true, `400 {"error":{"message":"no"}}`: false} {
		s.replies["POST "+batches] = reply
		var u *crosstalk.UnclearError
		if _, err := m.Submit(t.Context(), "TAG", asks("one")); err == nil || errors.As(err, &u) != unclear {
			t.Errorf("%s: %v", reply, err)
		}
	}
	sent, bad := len(s.sent), asks("one")
	bad[0].Request.Decoding.Extra = map[string]any{"f": func() {}}
	if _, err := m.Submit(t.Context(), "TAG", bad); err == nil || len(s.sent) != sent {
		t.Error(err)
	}
	if n := m.Fits(make([]crosstalk.BatchAsk, 100_001)); n != 100_000 {
		t.Errorf("%d requests", n)
	}
	// Of 90 MiB, two requests of half of it fit with what is around their texts, 173 bytes, and not with one more byte.
	half := strings.Repeat("x", 45<<20-173)
	if n := m.Fits(asks(half, half, "c")); n != 2 {
		t.Errorf("%d of 90 MiB", n)
	}
	if n := m.Fits(asks(half+"x", half, "c")); n != 1 {
		t.Errorf("%d of more than 90 MiB", n)
	}
}

func TestPoll(t *testing.T) {
	m, s := scripted(t)
	counts := `"request_counts":{"processing":1,"succeeded":10,"errored":100,"canceled":1000,"expired":10000}`
	for status, ended := range map[string]bool{"in_progress": false, "canceling": false, "ended": true} {
		s.replies["GET "+batches+"/b%2F1"] = `200 {"id":"b/1","processing_status":"` + status + `",` + counts + `}`
		got, err := m.Poll(t.Context(), "b/1")
		if want := (crosstalk.BatchState{Ended: ended, Done: 11110, Failed: 11100}); err != nil || got != want {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
	}
	for _, reply := range []string{"200 {}", "200 {", "404 {}", "503 busy"} {
		s.replies["GET "+batches+"/b%2F1"] = reply
		if got, err := m.Poll(t.Context(), "b/1"); err == nil || got.Ended {
			t.Errorf("%s: %+v, %v", reply, got, err)
		}
	}
}

// A batch is ours if it is not known, has as many requests, and its first result is of one of them.
func TestFind(t *testing.T) {
	at := time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)
	one := func(id string, created time.Time, status string, n int) string {
		return fmt.Sprintf(`{"id":"%s","processing_status":"%s","created_at":"%s","results_url":"u","request_counts":{"succeeded":%d}}`,
			id, status, created.Format(time.RFC3339), n)
	}
	result := func(key crosstalk.Key) string {
		return "200 \n" + `{"odd":1}` + "\nx\n" + `{"custom_id":"` + key.String() + `"}`
	}
	const first, second = "GET " + batches + "?limit=100", "GET " + batches + "?limit=100&after_id=l%2F1"
	list := func(more bool, last string, all ...string) string {
		return fmt.Sprintf(`200 {"data":[%s],"has_more":%v,"last_id":"%s"}`, strings.Join(all, ","), more, last)
	}
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		pages []string // first and second
		id    string
		sure  bool
		fails bool
	}{
		"ours":            {[]string{list(false, "", one("mine", at, "ended", 2))}, "mine", true, false},
		"known":           {[]string{list(false, "", one("known", at, "ended", 2))}, "", true, false},
		"fewer":           {[]string{list(false, "", one("mine", at, "ended", 1))}, "", true, false},
		"more":            {[]string{list(false, "", one("mine", at, "ended", 3))}, "", true, false},
		"another's":       {[]string{list(false, "", one("other", at, "ended", 2), one("mine", at, "ended", 2))}, "mine", true, false},
		"under way":       {[]string{list(false, "", one("mine", at, "in_progress", 2))}, "", false, false},
		"a day before":    {[]string{list(false, "", one("mine", at.Add(-day), "ended", 2))}, "mine", true, false},
		"earlier":         {[]string{list(false, "", one("mine", at.Add(-day-time.Second), "ended", 2))}, "", true, false},
		"on a later page": {[]string{list(true, "l/1", one("other", at, "ended", 2)), list(false, "", one("mine", at, "ended", 2))}, "mine", true, false},
		"no later page":   {[]string{list(false, "l/1", one("other", at, "ended", 2)), list(false, "", one("mine", at, "ended", 2))}, "", true, false},
		"a nameless page": {[]string{list(true, "", one("other", at, "ended", 2)), list(false, "", one("mine", at, "ended", 2))}, "", true, false},
		"no list":         {[]string{"200 []"}, "", false, true},
		"down":            {[]string{"503 busy"}, "", false, true},
		"no results":      {[]string{list(false, "", one("gone", at, "ended", 2))}, "gone", false, true},
		"empty results":   {[]string{list(false, "", one("empty", at, "ended", 2))}, "empty", false, true},
	} {
		m, s := scripted(t, first, c.pages[0], "GET "+batches+"/mine/results", result(crosstalk.Key{2}),
			"GET "+batches+"/other/results", result(crosstalk.Key{9}), "GET "+batches+"/known/results", result(crosstalk.Key{1}),
			"GET "+batches+"/empty/results", "200 {}\n")
		if len(c.pages) > 1 {
			s.replies[second] = c.pages[1]
		}
		id, sure, err := m.Find(t.Context(), "TAG", at, asks("one", "two"), func(id string) bool { return id == "known" })
		if id != c.id || sure != c.sure || (err != nil) != c.fails {
			t.Errorf("%s: %q, %v, %v", name, id, sure, err)
		}
	}
	// What nobody can read any more is nobody's.
	for age, fails := range map[time.Duration]bool{29*day - time.Hour: true, 29*day + time.Hour: false} {
		created := time.Now().Add(-age)
		gone := strings.Replace(one("gone", created, "ended", 2), `"u"`, "null", 1)
		m, _ := scripted(t, first, list(false, "", gone))
		if id, sure, err := m.Find(t.Context(), "TAG", created, asks("one", "two"),
			func(string) bool { return false }); fails != (err != nil) ||
			!fails && (id != "" || !sure) {
			t.Errorf("after %v: %q, %v, %v", age, id, sure, err)
		}
	}
}

func TestResults(t *testing.T) {
	var lines, want []string
	requests := map[crosstalk.Key]crosstalk.Request{}
	add := func(known bool, result, says string) {
		key := crosstalk.Key{byte(len(lines) + 1)}
		if known {
			requests[key] = request("user", "hi")
		}
		lines = append(lines, `{"custom_id":"`+key.String()+`","result":{`+result+`}}`)
		want = append(want, says)
	}
	ok := `"type":"succeeded","message":{"content":[{"type":"text","text":"Yes"}],"stop_reason":"end_turn"}`
	add(true, ok, "Yes stop")
	add(true, `"type":"canceled"`, "the request is canceled")
	add(true, `"type":"expired"`, "the request is expired")
	add(true, `"type":"succeeded","message":{}`, "200")
	add(false, ok, "a line is of no request of the batch")
	for kind, status := range map[string]int{"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
		"permission_error": 403, "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
		"overloaded_error": 529, "api_error": 500, "": 500} {
		add(true, `"type":"errored","error":{"type":"error","error":{"type":"`+kind+`","message":"why"}}`, fmt.Sprint(status))
	}
	m, s := scripted(t, "GET "+batches+"/b1", `200 {"id":"b1","processing_status":"ended","results_url":"http://elsewhere"}`,
		"GET "+batches+"/b1/results", "200 "+strings.Join(lines, "\n"))
	i := 0
	for r, err := range m.Results(t.Context(), "b1", requests) {
		if err != nil || i >= len(want) {
			t.Fatal(i, err)
		}
		got := fmt.Sprint(r.Answer.Text, " ", r.Answer.Finish)
		var e *crosstalk.AskError
		if errors.As(r.Err, &e) {
			got = fmt.Sprint(e.Status)
		} else if r.Err != nil {
			got = r.Err.Error()
		}
		if got != want[i] || (r.Key[0] == byte(i+1)) != (i != 3 && i != 4) {
			t.Errorf("%d: %q of %v; want %q", i, got, r.Key[0], want[i])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d results", i)
	}
	s.replies["GET "+batches+"/b1"] = `200 {"id":"b1","results_url":null}`
	for r := range m.Results(t.Context(), "b1", requests) {
		t.Errorf("of a batch without results: %+v", r)
	}
	s.replies["GET "+batches+"/b1"] = "404 {}"
	n := 0
	for r, err := range m.Results(t.Context(), "b1", requests) {
		if n++; err == nil || r.Key != (crosstalk.Key{}) {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if n != 1 {
		t.Errorf("%d errors", n)
	}
}

// The user's headers go along, and come before ours.
func TestHeaders(t *testing.T) {
	h := Headers(http.Header{"anthropic-beta": {"a", "b"}})
	if len(h) != 2 || h.Get("anthropic-version") != "2023-06-01" || len(h.Values("Anthropic-Beta")) != 2 {
		t.Errorf("%v", h)
	}
	if got := Headers(http.Header{"anthropic-version": {"x"}}).Values("Anthropic-Version"); len(got) != 1 || got[0] != "x" {
		t.Errorf("%v", got)
	}
	m, _ := scripted(t)
	if m.API() != crosstalk.Chat || m.Identity().Name != "m" || m.Identity().Provider != "p" {
		t.Errorf("%v, %v", m.API(), m.Identity())
	}
}
