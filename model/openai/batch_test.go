package openai

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

// script is a server that answers each address with the next of its replies, the last again and again, and notes what
// it was sent.
type script struct {
	replies map[string][]string // by method and URI: a status and a body
	sent    []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	at := r.Method + " " + r.URL.RequestURI()
	s.sent = append(s.sent, at+" "+string(body))
	list := s.replies[at]
	if len(list) == 0 {
		list = []string{`404 {"error":{"message":"not here"}}`}
	}
	if len(list) > 1 {
		s.replies[at] = list[1:]
	}
	status, text, _ := strings.Cut(list[0], " ")
	var code int
	fmt.Sscan(status, &code)
	w.WriteHeader(code)
	io.WriteString(w, text)
}

// scripted is a model at such a server. Replies are given as METHOD URI, reply, METHOD URI, reply.
func scripted(t *testing.T, o Options, replies ...string) (*Model, *script) {
	t.Helper()
	s := &script{replies: map[string][]string{}}
	for i := 0; i < len(replies); i += 2 {
		s.replies[replies[i]] = append(s.replies[replies[i]], replies[i+1])
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	m, err := New(endpoint.Config{Provider: "p", Model: "m", BaseURL: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func asks(m *Model, texts ...string) (list []crosstalk.BatchAsk) {
	for _, text := range texts {
		req := chat(text)
		list = append(list, crosstalk.BatchAsk{Key: crosstalk.KeyOf(m.Identity(), req), Request: req})
	}
	return list
}

func TestSubmit(t *testing.T) {
	const files, batches = "POST /files", "POST /batches"
	m, s := scripted(t, Options{}, files, `200 {"id":"f1"}`, batches, `200 {"id":"b1"}`)
	list := asks(m, "one", "two")
	if id, err := (Batcher{m}).Submit(t.Context(), "TAG", list); err != nil || id != "b1" {
		t.Fatal(id, err)
	}
	for _, want := range []string{
		"name=\"purpose\"\r\n\r\nbatch\r\n", `name="file"; filename="crosstalk-TAG.jsonl"`,
		fmt.Sprintf(`{"custom_id":"%s","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"one"}]}}`+"\n"+
			`{"custom_id":"%s","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"two"}]}}`+"\n", list[0].Key, list[1].Key),
	} {
		if !strings.Contains(s.sent[0], want) {
			t.Errorf("the upload lacks %s:\n%s", want, s.sent[0])
		}
	}
	if want := batches + ` {"completion_window":"24h","endpoint":"/v1/chat/completions","input_file_id":"f1","metadata":{"crosstalk":"TAG"}}`; s.sent[1] != want {
		t.Errorf("%s, want %s", s.sent[1], want)
	}
	bad := asks(m, "one")
	bad[0].Request.Decoding.Extra = map[string]any{"x": func() {}}
	if _, err := (Batcher{m}).Submit(t.Context(), "TAG", bad); err == nil || len(s.sent) != 2 {
		t.Errorf("%v, %d requests", err, len(s.sent))
	}
	for _, c := range []struct {
		file, made string
		unclear    bool
		want       string
	}{
		{"500 {}", "", false, "failed (HTTP 500"},
		{"200 {}", "", false, "it has no id"},
		{"200 x", "", false, "invalid character"},
		{`200 {"id":"f"}`, `400 {"error":{"message":"no"}}`, false, `rejected the request (HTTP 400, "no")`},
		{`200 {"id":"f"}`, `500 {}`, true, "failed (HTTP 500"},
		{`200 {"id":"f"}`, `200 {}`, true, "it has no id"},
	} {
		m, _ := scripted(t, Options{}, files, c.file, batches, c.made)
		id, err := (Batcher{m}).Submit(t.Context(), "TAG", asks(m, "one"))
		unclear := errors.As(err, new(*crosstalk.UnclearError))
		if id != "" || err == nil || unclear != c.unclear || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %q, %v", c, id, err)
		}
	}
	if n := (Batcher{m}).Fits(asks(m, "one", "two", "three")); n != 3 {
		t.Errorf("%d of 3 fit", n)
	}
	long := asks(m, strings.Repeat("x", 50<<20), strings.Repeat("x", 50<<20))
	if n := (Batcher{m}).Fits(long); n != 1 {
		t.Errorf("%d of 2 long ones fit", n)
	}
	if n := (Batcher{m}).Fits(make([]crosstalk.BatchAsk, mostAsks+1)); n != mostAsks {
		t.Errorf("%d fit", n)
	}
}

func TestPoll(t *testing.T) {
	for body, want := range map[string]crosstalk.BatchState{
		`"status":"validating"`: {},
		`"status":"in_progress","request_counts":{"total":9,"completed":3,"failed":1}`:                                       {Done: 4},
		`"status":"COMPLETED","request_counts":{"total":9,"completed":7,"failed":2}`:                                         {Ended: true, Done: 9, Failed: 2},
		`"status":"expired","request_counts":{"total":9,"completed":3,"failed":1}`:                                           {Ended: true, Done: 4, Failed: 6},
		`"status":"cancelled","request_counts":{"total":9,"completed":0,"failed":0}`:                                         {Ended: true, Failed: 9},
		`"status":"failed","request_counts":{"total":9,"completed":1,"failed":0}`:                                            {Ended: true, Done: 1, Failed: 8},
		`"status":"failed","request_counts":{"total":9,"completed":0,"failed":2}`:                                            {Ended: true, Done: 2, Problem: "the server does not say why"},
		`"status":"failed","errors":{"data":[{"code":"a","message":"one"},{"code":"b","message":"two"}]}`:                    {Ended: true, Problem: `"one (a)"`},
		`"status":"failed","errors":{"data":[{"code":"a","message":"one"},{"code":"token_limit_exceeded","message":"two"}]}`: {Ended: true, Problem: `"one (a)"`, Full: true},
		`"status":"paused"`: {},
	} {
		m, _ := scripted(t, Options{}, "GET /batches/b%2F1", `200 {"id":"b/1",`+body+`}`)
		if got, err := (Batcher{m}).Poll(t.Context(), "b/1"); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", body, got, err, want)
		}
	}
	m, _ := scripted(t, Options{})
	if _, err := (Batcher{m}).Poll(t.Context(), "b"); err == nil {
		t.Error("a batch that is not there has a state")
	}
}

func TestFind(t *testing.T) {
	at := time.Unix(1e9, 0)
	old := at.Add(-24*time.Hour - time.Second).Unix()
	page := func(more bool, batches ...string) string {
		return fmt.Sprintf(`200 {"data":[%s],"has_more":%v}`, strings.Join(batches, ","), more)
	}
	batch := func(id string, created int64, tag string) string {
		return fmt.Sprintf(`{"id":%q,"created_at":%d,"input_file_id":"f-%[1]s","metadata":{"crosstalk":%[3]q}}`, id, created, tag)
	}
	const first, second = "GET /batches?limit=100", "GET /batches?limit=100&after="
	now := at.Unix()
	for _, c := range []struct {
		name    string
		replies []string
		id      string
		sure    bool
		pages   int
	}{
		{"none", []string{first, page(false)}, "", true, 1},
		{"empty, and more", []string{first, page(true)}, "", true, 1},
		{"by its metadata", []string{first, page(true, batch("a", now, "OTHER"), batch("b", now, "TAG"))}, "b", true, 1},
		{"too old", []string{first, page(false, batch("a", old, "TAG"))}, "", true, 1},
		{"as old as can be", []string{first, page(false, batch("a", old+1, "TAG"))}, "a", true, 1},
		{"on the second page", []string{first, page(true, batch("a b", now, "OTHER")), second + "a+b", page(false, batch("c", now, "TAG"))}, "c", true, 2},
		{"no further than the old ones", []string{first, page(true, batch("a", now, "OTHER"), batch("b", old, "X"))}, "", true, 1},
		{"unless the oldest come first", []string{first, page(true, batch("a", old-9, "OTHER"), batch("b", old, "X")),
			second + "b", page(false, batch("c", now, "TAG"))}, "c", true, 2},
		{"by the name of its file", []string{first, page(false, batch("a", now, ""), batch("b", now, "")),
			"GET /files/f-a", `200 {"filename":"crosstalk-OTHER.jsonl"}`, "GET /files/f-b", `200 {"filename":"crosstalk-TAG.jsonl"}`}, "b", true, 3},
		{"its file is gone", []string{first, page(false, batch("a", now, "")), "GET /files/f-a", "410 {}"}, "", true, 2},
		{"its file cannot be read", []string{first, page(false, batch("a", now, "")), "GET /files/f-a", "500 {}"}, "", false, 2},
		{"no list", []string{first, "500 {}"}, "", false, 1},
		{"not JSON", []string{first, "200 x"}, "", false, 1},
	} {
		m, s := scripted(t, Options{}, c.replies...)
		id, sure, err := (Batcher{m}).Find(t.Context(), "TAG", at, nil, nil)
		if id != c.id || sure != c.sure || (err == nil) != sure || len(s.sent) != c.pages {
			t.Errorf("%s: %q, %v, %v after %q", c.name, id, sure, err, s.sent)
		}
	}
}

func TestResults(t *testing.T) {
	const answer = `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`
	m, _ := scripted(t, Options{})
	list := asks(m, "one", "two", "three", "four", "five")
	requests := map[crosstalk.Key]crosstalk.Request{}
	var lines []string
	for i, rest := range []string{
		`"response":{"status_code":200,"body":` + answer + `}`,
		`"response":{"status_code":500,"body":{"error":{"message":"x"}}}`,
		`"response":null,"error":{"code":"batch_expired","message":"too late"}`,
		`"response":null`,
		`"response":{"status_code":200,"body":{"choices":[]}}`,
	} {
		requests[list[i].Key] = list[i].Request
		lines = append(lines, fmt.Sprintf(`{"custom_id":"%s",%s}`, list[i].Key, rest))
	}
	stranger := fmt.Sprintf(`{"custom_id":"%s","response":null}`, asks(m, "stranger")[0].Key)
	answered, errorFile := lines[0]+"\n\n"+lines[4]+"\nx\n"+stranger+"\n", lines[1]+"\n"+lines[2]+"\n"+lines[3]
	const of, out, failed = "GET /batches/b", "GET /files/o/content", "GET /files/e/content"
	account := func(output, errors string) string {
		return fmt.Sprintf(`200 {"id":"b","status":"completed","output_file_id":%q,"error_file_id":%q}`, output, errors)
	}
	read := func(replies ...string) (all []string) {
		m, _ := scripted(t, Options{}, replies...)
		for r, err := range (Batcher{m}).Results(t.Context(), "b", requests) {
			if err != nil {
				all = append(all, "error "+err.Error())
				continue
			}
			for i, a := range list {
				if a.Key == r.Key {
					all = append(all, fmt.Sprint(i))
				}
			}
			if r.Key == (crosstalk.Key{}) {
				all = append(all, "strange")
			}
			if r.Err != nil {
				all[len(all)-1] += " " + r.Err.Error()
			} else {
				all[len(all)-1] += " " + r.Answer.Text
			}
		}
		return all
	}
	has := func(got []string, want ...string) {
		t.Helper()
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			first, last, _ := strings.Cut(want[i], "…")
			ok = ok && strings.HasPrefix(got[i], first) && strings.Contains(got[i], last)
		}
		if !ok {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	has(read(of, account("o", "e"), out, "200 "+answered, failed, "200 "+errorFile),
		"0 hi…", "strange …it has no choices", "strange …not JSON", "strange …of no request", "1 …HTTP 500", `2 "too late (batch_expired)"…`, "strange …")
	has(read(of, account("", "")))
	has(read(of, account("", "e"), failed, "200 "+lines[1]), "1 …HTTP 500")
	has(read(of, account("o", "e"), failed, "200 "+lines[1]), "1 …HTTP 500", "error …HTTP 404")
	has(read(of, account("o", "e"), out, "500 {}", failed, "200 "+lines[1]), "error …HTTP 500")
	has(read(of, "500 {}"), "error …HTTP 500")
}
