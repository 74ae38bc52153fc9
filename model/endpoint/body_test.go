package endpoint

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"crosstalk"
)

// An object has its fields in the order in which they were set, and extra ones last, which override the others.
func TestBody(t *testing.T) {
	half := 0.5
	b := NewBody(map[string]any{"z": "<z>", "over": []int{1}, "b": nil})
	b.Set("q", "a<b>")
	b.Set("over", 2)
	for _, none := range []any{(*float64)(nil), 0, "", []string{}, map[string]any(nil)} {
		b.SetGiven("none", none)
	}
	b.SetGiven("two", []int{0, 0})
	b.SetGiven("half", &half)
	b.SetAll(map[string]any{"y": "$budget", "x": map[string]any{"n": "$budget", "m": "$budgets", "k": map[string]any{"d": "$budget"}},
		"over": 3}, 1023)
	b.SetAll(map[string]any{"w": "$budget"}, 1025)
	got, err := b.Bytes()
	want := `{"q":"a<b>","two":[0,0],"half":0.5,"x":{"k":{"d":1024},"m":"$budgets","n":1024},"y":1024,"w":1025,"b":null,"over":[1],"z":"\u003cz\u003e"}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if got, err := NewBody(nil).Bytes(); err != nil || string(got) != "{}" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := NewBody(map[string]any{"f": math.Inf(1)}).Bytes(); err == nil {
		t.Error("infinity was written")
	}
	for text, want := range map[string]bool{"": true, "null": true, "0": false, `""`: false, "{}": false} {
		if IsNull([]byte(text)) != want {
			t.Errorf("%q is null: %v", text, !want)
		}
	}
	system, turns := Apart([]crosstalk.Message{{Role: "user", Content: "a"}, {Role: "system", Content: "b"},
		{Role: "assistant", Content: "c"}, {Role: "system", Content: "d"}})
	if fmt.Sprint(system, turns) != "[b d] [{user a} {assistant c}]" {
		t.Errorf("%v, %v", system, turns)
	}
	if system, turns := Apart(nil); system != nil || turns == nil {
		t.Errorf("%v, %v", system, turns)
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]Count{"7": 7, `"12"`: 12, "2.9": 2, "0": 0, "-1": 0, "null": 0, `"x"`: 0, "{}": 0, "[1]": 0,
		"2147483647": math.MaxInt32, "2147483648": 0, "1e400": 0, "0.5": 0} {
		c := Count(99)
		if err := c.UnmarshalJSON([]byte(text)); err != nil || c != want {
			t.Errorf("%s: %d, %v; want %d", text, c, err, want)
		}
	}
}

func TestFits(t *testing.T) {
	asks := make([]crosstalk.BatchAsk, 5)
	for _, c := range []struct{ most, bytes, size, want int }{
		{5, 100, 1, 5}, {4, 100, 1, 4}, {9, 100, 1, 5}, {5, 30, 10, 3}, {5, 29, 10, 2}, {5, 31, 10, 3}, {5, 9, 10, 1}, {5,
			50, 10, 5},
		{1, 9, 10, 1},
	} {
		if got := Fits(asks, c.most, c.bytes, func(crosstalk.BatchAsk) int { return c.size }); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if got := Fits(nil, 5, 5, nil); got != 0 {
		t.Errorf("%d of none", got)
	}
}

// What a server says of a batch, and of its requests.
func TestBatches(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch page := r.URL.Query().Get("page"); {
		case r.URL.Path != "/v1/list":
			io.WriteString(w, "1\n\n2\n3")
		case page == "broken":
			w.WriteHeader(400)
		default:
			io.WriteString(w, page)
		}
	}))
	defer s.Close()
	e, err := New(Config{Provider: "p", Model: "m", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	var b struct{ ID string }
	down := errors.New("down")
	if err := e.Account([]byte(`{"id":"x"}`), down, &b, &b.ID); err != down || b.ID != "" {
		t.Errorf("%v, %q", err, b.ID)
	}
	for text, want := range map[string]string{`{"id":"x"}`: "", `{}`: "it has no id", `5`: "cannot unmarshal"} {
		b.ID = ""
		err := e.Account([]byte(text), nil, &b, &b.ID)
		var said *crosstalk.AskError
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.As(err, &said) ||
			said.Status != 200 || said.Fault != crosstalk.Transient) {
			t.Errorf("%s: %v", text, err)
		}
	}

	var pages []string
	for end, want := range map[string]string{"&page=3": "|3", "": "", "&page=broken": ""} {
		pages = nil
		next := map[string]string{"": "&page=1", "1": end, "3": "&page=3"} // which comes again
		err := e.Pages(t.Context(), "/list?x=y", func(page []byte) (string, error) {
			pages = append(pages, string(page))
			return next[string(page)], nil
		})
		if got := strings.Join(pages, "|"); got != "|1"+want || (err != nil) != (end == "&page=broken") {
			t.Errorf("%s: %q, %v", end, got, err)
		}
	}
	if err := e.Pages(t.Context(), "/list?x=y", func([]byte) (string, error) { return "&page=1", down }); err != down {
		t.Error(err)
	}

	got := ""
	read := func(line []byte) crosstalk.BatchResult {
		return crosstalk.BatchResult{Answer: crosstalk.Answer{Text: string(line)}}
	}
	for r, err := range e.Results(t.Context(), "/results", read) {
		got += fmt.Sprint(r.Answer.Text, err, ";")
	}
	for range e.Results(t.Context(), "/results", read) {
		break
	}
	s.Close()
	for r, err := range e.Results(t.Context(), "/results", read) {
		got += fmt.Sprint(r.Answer.Text, err != nil, ";")
	}
	for r, err := range NoResults(down) {
		got += fmt.Sprint(r.Key == crosstalk.Key{}, err)
	}
	if got != "1<nil>;2<nil>;3<nil>;true;true down" {
		t.Errorf("%q", got)
	}
}

func TestBatchResult(t *testing.T) {
	key := crosstalk.Key{7}
	requests := map[crosstalk.Key]crosstalk.Request{key: {Prompt: "Hi"}}
	line := `{"id":"` + key.String() + `"}`
	for _, c := range []struct {
		name, text string
		err        error
		known      bool
		says       string
	}{
		{"an answer", line, nil, true, ""},
		{"no answer", line, &crosstalk.AskError{Status: 400, Message: "bad"}, true, "bad"},
		{"another fault", line, errors.New("expired"), true, "expired"},
		{"answered and unreadable", line, &crosstalk.AskError{Status: 204, Message: "odd"}, false, "odd"},
		{"of another batch", `{"id":"` + crosstalk.Key{8}.String() + `"}`, nil, false, "a line is of no request of the batch"},
		{"no key", `{"id":"x"}`, nil, false, `an answer's key is 64 hexadecimal digits, not "x"`},
		{"no JSON", `{`, nil, false, "a line is not JSON of the right form: unexpected end of JSON input"},
		{"long", line + strings.Repeat(" ", MaxNumbers-len(line)), nil, false, "a line is longer than 16 MiB"},
		{"nearly long", line + strings.Repeat(" ", MaxNumbers-len(line)-1), nil, true, ""},
	} {
		var l struct{ ID string }
		r := BatchResult([]byte(c.text), &l, &l.ID, requests, func(req crosstalk.Request) (crosstalk.Answer, error) {
			return crosstalk.Answer{Text: req.Prompt}, c.err
		})
		says := ""
		if r.Err != nil {
			says = r.Err.Error()
		}
		if (r.Key == key) != c.known || !c.known && r.Key != (crosstalk.Key{}) || says != c.says || c.err == nil &&
			c.known && r.Answer.Text != "Hi" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// Only what says that nothing was created is clear.
func TestUnclear(t *testing.T) {
	for _, c := range []struct {
		err   error
		clear bool
	}{
		{&crosstalk.AskError{Fault: crosstalk.Rejected}, true}, {&crosstalk.AskError{Fault: crosstalk.Denied}, true},
		{&crosstalk.AskError{Status: 429}, true}, {&crosstalk.AskError{Status: 503}, true},
		{&crosstalk.AskError{Status: 529}, true},
		{&crosstalk.AskError{Status: 500}, false}, {&crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 504}, false},
		{&crosstalk.AskError{Err: &net.OpError{Op: "dial"}}, true}, {&net.OpError{Op: "proxyconnect"}, true},
		{&crosstalk.AskError{Err: &net.OpError{Op: "read"}}, false}, {errors.New("odd"), false},
	} {
		var unclear *crosstalk.UnclearError
		if got := Unclear(c.err); errors.As(got, &unclear) == c.clear || !errors.Is(got, c.err) {
			t.Errorf("%#v: %v", c.err, got)
		}
	}
}

// JSON is counted by its values, and times by their form, on both sides of each bound.
func TestBounds(t *testing.T) {
	for text, want := range map[string]int{"": 0, `{"a":1}`: 1, `[1,2,3]`: 3, `["a,b","\"[,",{}]`: 4, `"open`: 0, `"a\\",1`: 1, `[`: 1} {
		if got := values([]byte(text)); got != want {
			t.Errorf("%s: %d values; want %d", text, got, want)
		}
	}
	now := time.Unix(2e9, 0)
	for text, want := range map[string]time.Duration{"1000000000": 1e9 * time.Second, "2000000007": 7 * time.Second,
		"100000000000": longestWait, "2000000008000": 8 * time.Second, "1m": time.Minute, "-5": 0, "soon": 0,
		now.Add(9 * time.Second).UTC().Format(time.RFC3339): 9 * time.Second} {
		if got := reset(text, now); got != want {
			t.Errorf("%s: %v; want %v", text, got, want)
		}
	}
	base, _ := url.Parse("http://u@h/v1?token=t-123456789&my_Secret=s-123456789&signature=g-123456789&x-auth=a-123456789&" +
		"passphrase=p-123456789&code=c-123456789&subscription-id=i-123456789&credential=r-123456789&apikey=k-123456789&" +
		"version=v-123456789&token=u-123456789&empty_key=")
	if got := len(newSecrets("", base)); got != 10 {
		t.Errorf("%d secrets", got)
	}
	for c, want := range map[byte]bool{'a': true, 'z': true, 'A': true, 'Z': true, '0': true, '9': true, '_': true,
		0x80: true, 0xff: true,
		'`': false, '{': false, '@': false, '[': false, '/': false, ':': false, '-': false, 0x7f: false} {
		if isWord(c) != want {
			t.Errorf("%q is of a word: %v", c, !want)
		}
	}
	for r, want := range map[rune]bool{'a': false, 'z': false, 'A': false, 'Z': false, '@': true, '[': true, '`': true, '{': true, '1': true} {
		if notLetter(r) != want {
			t.Errorf("%q is no letter: %v", r, want)
		}
	}
	for key, good := range map[string]bool{"!~": true, "a b": false, "a\x7f": false, "": true, "é": false} {
		if err := checkKey(key, "K"); (err == nil) != good {
			t.Errorf("%q: %v", key, err)
		}
	}
}
