package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// guarding runs the service and returns its address and what it printed; stop ends it.
func guarding(t *testing.T, addr string, o Options) (url, printed string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, w, addr, o)
		w.Close()
	}()
	var all bytes.Buffer
	for !strings.Contains(all.String(), "no answer is blocked") {
		if _, err := io.CopyN(&all, r, 1); err != nil {
			t.Fatalf("%v: %s", err, all.String())
		}
	}
	go io.Copy(io.Discard, r)
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	return strings.TrimSuffix(regexp.MustCompile(`http://\S+`).FindString(all.String()), "/"), all.String(), stop
}

func TestServe(t *testing.T) {
	url, printed, stop := guarding(t, "127.0.0.1:0", Options{})
	if strings.Contains(printed, "Requests need") {
		t.Errorf("a token on loopback: %s", printed)
	}
	// A request in progress is answered when the service ends.
	body, text := io.Pipe()
	request, err := http.NewRequest("POST", url+"/v1/check", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Expect", "100-continue") // the body is read once the service reads it
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	done := make(chan string, 1)
	go func() {
		response, err := client.Do(request)
		if err != nil {
			done <- err.Error()
			return
		}
		data, _ := io.ReadAll(response.Body)
		done <- string(data)
	}()
	io.WriteString(text, `{"text":"Your order is on its way.",`)
	ended := make(chan bool)
	go func() { stop(); close(ended) }()
	// For a second it still answers, but load balancers are told to send no more.
	ending := 0
	for {
		response, err := http.Get(url + "/readyz")
		if err != nil {
			break // it takes no more connections
		}
		response.Body.Close()
		if response.StatusCode == 503 && response.Close {
			health, err := http.Get(url + "/healthz")
			if err != nil {
				break // it ended between the two requests
			}
			health.Body.Close()
			if health.StatusCode != 200 {
				t.Errorf("healthz while ending: %d", health.StatusCode)
			}
			ending++
		}
		time.Sleep(10 * time.Millisecond)
	}
	if ending == 0 {
		t.Error("it was never ending and still there")
	}
	io.WriteString(text, `"language":"de"}`)
	text.Close()
	if got := <-done; !strings.Contains(got, `"verdict":"wrong"`) {
		t.Errorf("the request in progress: %s", got)
	}
	<-ended
}

func TestServeToken(t *testing.T) {
	url, printed, stop := guarding(t, "0.0.0.0:0", Options{})
	defer stop()
	token := regexp.MustCompile(`Bearer (\w{26,})`).FindStringSubmatch(printed)
	if token == nil {
		t.Fatal(printed)
	}
	here := "http://127.0.0.1:" + regexp.MustCompile(`:(\d+)$`).FindStringSubmatch(url)[1]
	if got := status(t, here+"/metrics"); got != 401 {
		t.Errorf("%d without the token", got)
	}
	if got := status(t, here+"/metrics?token="+token[1]); got != 200 {
		t.Errorf("%d with the token", got)
	}
	if got := status(t, here+"/healthz"); got != 200 {
		t.Errorf("healthz: %d", got)
	}
	t.Setenv(TokenVar, "mine")
	url, printed, other := guarding(t, "127.0.0.1:0", Options{})
	defer other()
	if got := status(t, url+"/metrics?token=mine"); got != 200 || strings.Contains(printed, "mine") {
		t.Errorf("%d with the variable's token; printed %s", got, printed)
	}
}

func status(t *testing.T, url string) int {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}
