package testserver

import (
	"bytes"
	"context"
	"crosstalk/internal/testing/golden"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// result is what a client sees of one request.
type result struct {
	status int
	header http.Header
	body   []byte
	err    error // from sending or from reading the body
}

func (r result) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if r.err != nil {
		t.Fatal(r.err)
	}
	if err := json.Unmarshal(r.body, &m); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	return m
}

// at walks keys and indices into a JSON value; nil if there is nothing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			a, _ := v.([]any)
			if p >= len(a) {
				return nil
			}
			v = a[p]
		}
	}
	return v
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

func do(ctx context.Context, s *Server, method, path, body string, headers ...string) result {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return result{err: err}
	}
	if path == messagesPath {
		req.Header.Set("anthropic-version", "2023-06-01")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return result{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, b, err}
}

func post(s *Server, path, body string, headers ...string) result {
	return do(context.Background(), s, "POST", path, body, headers...)
}

func chat(prompt string, more ...string) string {
	return fmt.Sprintf(`{"model":"test","messages":[{"role":"user","content":%q}]%s}`, prompt, strings.Join(more, ""))
}

func msg(prompt string, more ...string) string {
	return fmt.Sprintf(`{"model":"test","max_tokens":50,"messages":[{"role":"user","content":%q}]%s}`, prompt, strings.Join(more, ""))
}

func await(t *testing.T, ok func() bool) {
	t.Helper()
	for range 5000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not come about in 5 seconds")
}

func wantPath(t *testing.T, m any, want any, path ...any) {
	t.Helper()
	if got := at(m, path...); !reflect.DeepEqual(got, want) {
		t.Errorf("%v = %#v, want %#v", path, got, want)
	}
}

// What the server answers with options to requests. A case is the options, then two lines for each request: method,
// path and a header, and the body.
func TestExchanges(t *testing.T) {
	dated := regexp.MustCompile(`"created(_at)?":[^,}]*`)
	golden.Cases(t, "testdata/exchanges.txt", func(input string) string {
		options, requests, _ := strings.Cut(input, "\n")
		var o Options
		if err := yaml.UnmarshalWithOptions([]byte(options), &o, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", options, err)
		}
		s := start(t, o)
		var b strings.Builder
		lines := strings.Split(requests, "\n")
		for i := 0; i < len(lines); i += 2 {
			head, body := lines[i], ""
			if i+1 < len(lines) {
				body = lines[i+1]
			}
			request := strings.SplitN(head, " ", 3)
			var headers []string
			if len(request) == 3 {
				headers = strings.SplitN(request[2], ": ", 2)
			}
			r := do(t.Context(), s, request[0], request[1], body, headers...)
			fmt.Fprintf(&b, "%d %v", r.status, r.err != nil)
			for _, name := range []string{"Content-Type", "Retry-After", "Retry-After-Ms"} {
				value := r.header.Get(name)
				if at, err := http.ParseTime(value); err == nil && time.Until(at).Abs() < 3*time.Second {
					value = "soon"
				}
				fmt.Fprintf(&b, " %q", value)
			}
			fmt.Fprintf(&b, "\n%s\n", bytes.TrimSpace(dated.ReplaceAll(r.body, nil)))
		}
		st := s.Stats()
		fmt.Fprintf(&b, "%d attempts, %d answered, faults %v", st.Attempts, st.Answered, st.Faults)
		return b.String()
	})
}

func TestHangUntilTheClientGivesUp(t *testing.T) {
	s := start(t, Options{Faults: map[Fault]float64{"hang": 1}})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if r := do(ctx, s, "POST", chatPath, chat("x")); r.err == nil {
		t.Errorf("got %d, want nothing", r.status)
	}
	await(t, func() bool { return s.Stats().InFlight == 0 }) // the server notices a moment later
}

func TestHangUntilTheServerCloses(t *testing.T) {
	s := New(Options{Faults: map[Fault]float64{"hang": 1}})
	time.AfterFunc(20*time.Millisecond, s.Close)
	if r := post(s, chatPath, chat("x")); r.err == nil {
		t.Errorf("got %d, want nothing", r.status)
	}
	s.Close() // twice is fine
}

// The same faults meet the same requests and attempts whatever the order of
// arrival.
func TestFaultsDoNotDependOnOrder(t *testing.T) {
	o := Options{Seed: 7, Faults: map[Fault]float64{"500": 0.3, "429": 0.2, "empty": 0.3}}
	const requests, attempts = 20, 4
	trace := func(order func(i int) int, parallel bool) (got [requests][attempts]string) {
		s := start(t, o)
		var wg sync.WaitGroup
		for i := range requests {
			one := func() {
				k := order(i)
				for a := range attempts {
					r := post(s, chatPath, chat(fmt.Sprint("prompt ", k)))
					got[k][a] = fmt.Sprint(r.status, string(r.body))
				}
			}
			if parallel {
				wg.Go(one)
			} else {
				one()
			}
		}
		wg.Wait()
		return got
	}
	forward := trace(func(i int) int { return i }, false)
	if backward := trace(func(i int) int { return requests - 1 - i }, true); forward != backward {
		t.Errorf("order changed what was answered")
	}
	kinds, changed := map[string]int{}, 0
	for _, r := range forward {
		if r[0][:3] != r[1][:3] {
			changed++
		}
		for _, a := range r {
			kinds[a[:3]]++
		}
		texts := map[string]bool{}
		for _, a := range r {
			if strings.HasPrefix(a, "200") {
				texts[a] = true
			}
		}
		if len(texts) > 1 {
			t.Errorf("one request has %d different answers", len(texts))
		}
	}
	if kinds["200"] == 0 || kinds["500"] == 0 || kinds["429"] == 0 {
		t.Errorf("statuses %v: want all three", kinds)
	}
	if changed == 0 || changed == requests {
		t.Errorf("the second attempt fared differently for %d of %d requests", changed, requests)
	}
	o.Seed = 8
	if other := trace(func(i int) int { return i }, false); other == forward {
		t.Errorf("the seed changed nothing")
	}
}

func TestFaultRates(t *testing.T) {
	o := Options{Faults: map[Fault]float64{"500": 0.25, "cut": 0.5, "refusal": 0.1, "slow": 0.4}}
	got := map[Fault]float64{}
	const n = 20000
	for i := range n {
		f := o.fate(fmt.Sprint(i), 1)
		got[f.failure] += 1.0 / n
		got[f.outcome+"*"] += 1.0 / n
		if f.slow {
			got["slow"] += 1.0 / n
		}
	}
	for f, want := range map[Fault]float64{"500": 0.25, "cut": 0.5, "": 0.25, "refusal" + "*": 0.1, "*": 0.9, "slow": 0.4} {
		if d := got[f] - want; d < -0.015 || d > 0.015 { // over four standard errors
			t.Errorf("%q happened in %.3f of draws, want %.3f", f, got[f], want)
		}
	}
}

func TestFailFirst(t *testing.T) {
	s := start(t, Options{FailFirst: 2, Faults: map[Fault]float64{"503": 1}})
	for i := range 8 {
		for a, want := range []bool{false, false, true, true} {
			r := post(s, chatPath, chat(fmt.Sprint(i)))
			if got := r.status == 200; got != want || !want && r.status != 500 {
				t.Errorf("request %d attempt %d: status %d", i, a+1, r.status)
			}
		}
	}
	if f := s.Stats().Faults; f["500"] != 16 || len(f) > 1 {
		t.Errorf("faults %v, want 500 16 times", f)
	}
}

func TestLatencyAndSlowness(t *testing.T) {
	took := func(o Options) time.Duration {
		s := start(t, o)
		began := time.Now()
		if r := post(s, chatPath, chat("x")); r.status != 200 || r.err != nil {
			t.Fatal(r.status, r.err)
		}
		return time.Since(began)
	}
	const d = 40 * time.Millisecond
	for name, o := range map[string]Options{
		"latency": {Latency: d},
		"slow":    {Stall: d, Faults: map[Fault]float64{"slow": 1}},
	} {
		if got := took(o); got < d {
			t.Errorf("%s: took %v, want at least %v", name, got, d)
		}
	}
	o := Options{Jitter: d}
	draw := o.fate(hashOf("POST", chatPath, []byte(chat("x"))), 1).jitter
	if want := time.Duration(draw * float64(d)); want < time.Millisecond || took(o) < want {
		t.Errorf("jitter: took less than %v", want)
	}
	seen := map[float64]bool{}
	for i := range 100 {
		j := o.fate(fmt.Sprint(i), 1).jitter
		if seen[j] = true; j < 0 || j >= 1 {
			t.Errorf("jitter %v is outside [0, 1)", j)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d different jitters", len(seen))
	}
}

func TestStatsOverHTTP(t *testing.T) {
	s := start(t, Options{FailFirst: 1})
	for range 3 {
		post(s, chatPath, chat("x"), "Authorization", "Bearer secret")
	}
	post(s, chatPath, chat("x"), "Authorization", "Bearer another") // the same request all the same
	st := s.Stats()
	want := Count{4, 3}
	if got := st.Requests[hashOf("POST", chatPath, []byte(chat("x")))]; got != want || len(st.Requests) != 1 {
		t.Errorf("requests %+v, want one: %+v", st.Requests, want)
	}
	if st.Faults["500"] != 1 || st.InFlight != 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestRecords(t *testing.T) {
	s := start(t, Options{Record: true})
	post(s, chatPath, chat("x"), "Authorization", "Bearer secret")
	post(s, "/v1/nowhere", "y")
	rs := s.Records()
	if len(rs) != 2 || rs[0].Header.Get("Authorization") != "Bearer secret" || string(rs[0].Body) != chat("x") ||
		rs[0].Method != "POST" || rs[0].Path != chatPath || rs[1].Path != "/v1/nowhere" {
		t.Errorf("records %+v", rs)
	}
	quiet := start(t, Options{})
	if post(quiet, chatPath, chat("x")); len(quiet.Records()) != 0 {
		t.Errorf("recorded without being asked to")
	}
}

// An answer that comes a byte at a time is whole, and is counted when it is.
func TestDribble(t *testing.T) {
	s := start(t, Options{Faults: map[Fault]float64{"dribble": 1}, Stall: 40 * time.Millisecond})
	began := time.Now()
	r := post(s, chatPath, chat("x"))
	if took := time.Since(began); r.err != nil || took < 39*time.Millisecond ||
		string(r.body) != string(post(start(t, Options{}), chatPath, chat("x")).body) {
		t.Errorf("%v after %v: %s", r.err, took, r.body)
	}
	if st := s.Stats(); st.Faults["dribble"] != 1 || st.Answered != 1 {
		t.Errorf("stats %+v", st)
	}
	s = start(t, Options{Faults: map[Fault]float64{"dribble": 1}, Stall: 1000 * time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if r := do(ctx, s, "POST", chatPath, chat("x")); r.err == nil {
		t.Errorf("%d %s", r.status, r.body)
	}
	await(t, func() bool { st := s.Stats(); return st.InFlight == 0 && st.Attempts == 1 && st.Answered == 0 })
}

func TestWrongOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"unknown fault": {Faults: map[Fault]float64{"501": 1}},
		"batches":       {Batches: Batches{Results: "lost"}},
	} {
		if _, err := Listen("127.0.0.1:0", o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
