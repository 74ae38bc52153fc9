package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"crosstalk/internal/testserver"
)

func TestRun(t *testing.T) {
	r, w := io.Pipe()
	stop, done := make(chan os.Signal), make(chan error)
	go func() {
		done <- run(w, io.Discard, strings.Fields("-key k -fail-first 1 -fault 503=0.1 -models m -unsupported top_k,max_tokens=max_completion_tokens"), stop)
	}()
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	ask := func(body string) int {
		req, _ := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer k")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	const body = `{"model":"m","messages":[{"role":"user","content":"x"}]`
	for i, want := range []int{503, 200} {
		if got := ask(body + "}"); got != want {
			t.Errorf("attempt %d: %d, want %d", i+1, got, want)
		}
	}
	if got := ask(body + `,"max_tokens":1}`); got != 400 {
		t.Errorf("unsupported parameter: %d", got)
	}
	if got := ask(strings.Replace(body, `"m"`, `"x"`, 1) + "}"); got != 404 {
		t.Errorf("unknown model: %d", got)
	}
	resp, err := http.Get(url + "/_stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var st testserver.Stats
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil || st.Answered != 1 || st.Attempts != 4 {
		t.Errorf("stats %+v %v", st, err)
	}
	stop <- os.Interrupt
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range []string{"-fault 500", "-fault nope=1", "-addr 0.0.0.0:0", "-latency -1s", "extra", "-nope"} {
		if err := run(io.Discard, io.Discard, strings.Fields(args), nil); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
