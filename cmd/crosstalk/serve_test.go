package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"crosstalk/web"
)

// serving begins to serve a directory and returns the printed address.
func serving(t *testing.T, dir, addr string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := web.Serve(ctx, w, dir, addr, nil)
		w.CloseWithError(io.EOF)
		ended <- err
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(<-ended)
	}
	go io.Copy(io.Discard, r)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	url := regexp.MustCompile(`http://\S+`).FindString(line)
	if url == "" {
		t.Fatalf("no address in %q", line)
	}
	return url
}

// Before the first run there is a page that says how to make one; a run that comes
// later is in the list.
func TestServeNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs")
	url := serving(t, dir, "127.0.0.1:0")
	body := func() string {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 {
			t.Fatal(r.Status, err)
		}
		return string(text)
	}
	if page := body(); !strings.Contains(page, "crosstalk run leakage") {
		t.Error(page)
	}
	inProcess(t, "run", "leakage", "--items", "4", "--out", filepath.Join(dir, "first"), "--quiet")
	for end := time.Now().Add(time.Minute); !strings.Contains(body(), ">first</a>"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the run is not in the list: ", body())
		}
	}
}

// Loopback needs no token; any other address does, and prints it.
func TestServe(t *testing.T) {
	if url := serving(t, t.TempDir(), "127.0.0.1:0"); strings.Contains(url, "token") || status(t, http.DefaultClient, url) != 200 {
		t.Error(url)
	}
	url := serving(t, t.TempDir(), "0.0.0.0:0")
	port := regexp.MustCompile(`:(\d+)/`).FindStringSubmatch(url)[1]
	_, token, ok := strings.Cut(url, "/?token=")
	if !ok || len(token) < 26 {
		t.Fatalf("no token in %s", url)
	}
	here := "http://127.0.0.1:" + port + "/"
	if got := status(t, http.DefaultClient, here); got != http.StatusUnauthorized {
		t.Errorf("%d without the token", got)
	}
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	if got := status(t, client, here+"?token="+token); got != 200 {
		t.Errorf("%d with the token", got)
	}
	if got := status(t, client, here); got != 200 {
		t.Errorf("%d with the cookie", got)
	}
}

func status(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}
