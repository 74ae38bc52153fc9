package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crosstalk"
)

// A key in a file is read again when the file changes, and none of the keys it
// had is shown.
func TestKeyFile(t *testing.T) {
	const first, second = "ya29.first-0123456789", "ya29.second-9876543210"
	path := filepath.Join(t.TempDir(), "token")
	stamp := time.Now()
	write := func(text string) {
		t.Helper()
		stamp = stamp.Add(time.Second)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, stamp, stamp)); err != nil {
			t.Fatal(err)
		}
	}
	valid, renew := first, ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if renew != "" {
			write(renew)
			renew = ""
		}
		if sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); sent != valid {
			w.WriteHeader(401)
			fmt.Fprintf(w, "no %s", sent)
			return
		}
		fmt.Fprintf(w, `{"ok":"%s %s"}`, first, second)
	}))
	defer s.Close()
	c := Config{Provider: "p", Model: "m", KeyFile: path, BaseURL: s.URL}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "token: no such file") {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]string{" \n": path + ": expected an API key, found an empty file", "a b": path + " contains a space"} {
		write(text)
		if _, err := New(c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	write(first + "\n")
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	answer := func() (crosstalk.Answer, error) {
		return e.Ask(t.Context(), "/x", nil, maxText,
			func(b []byte) (crosstalk.Answer, error) { return crosstalk.Answer{Text: string(b)}, nil })
	}
	if _, err := answer(); err != nil {
		t.Fatal(err)
	}
	// Renewed while a request with the old one was under way: worth asking again.
	valid, renew = second, second
	var ask *crosstalk.AskError
	if _, err := answer(); !errors.As(err, &ask) || ask.Fault != crosstalk.Transient {
		t.Errorf("expired and renewed: %v", err)
	}
	a, err := answer()
	if err != nil || strings.Contains(a.Text, first) || strings.Contains(a.Text, second) {
		t.Errorf("%+v, %v", a, err)
	}
	// Being replaced: the last key is good.
	write("")
	if _, err := answer(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	valid = "another"
	if _, err := answer(); !errors.As(err, &ask) || ask.Fault != crosstalk.Denied ||
		!strings.Contains(err.Error(), "the key in "+path+" was refused") ||
		strings.Contains(err.Error(), second) {
		t.Errorf("expired: %v", err)
	}
}

// A header that the user sets comes before the key, and is not shown.
func TestHeaderSecrets(t *testing.T) {
	_, err := ask(t, Config{Provider: "p", Model: "m", Key: key, Header: http.Header{"Authorization": {"Basic dXNlcjpwYXNzd29yZA=="}}, Secrets: []string{"Basic dXNlcjpwYXNzd29yZA=="}},
		400, nil, `{"error":"got Basic dXNlcjpwYXNzd29yZA=="}`)
	if err == nil || !strings.Contains(err.Message, `"got [key]"`) {
		t.Error(err)
	}
}

func TestGet(t *testing.T) {
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.String()
		if r.URL.Path != "/v1/models" {
			w.WriteHeader(404)
		}
		fmt.Fprint(w, "{}")
	}))
	defer s.Close()
	e, err := New(Config{Provider: "p", Model: "m", BaseURL: s.URL + "/v1?version=2"})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := e.Get(t.Context(), "/models?limit=3"); err != nil || string(b) != "{}" || asked != "GET /v1/models?limit=3&version=2" {
		t.Errorf("%s: %s, %v", asked, b, err)
	}
	if _, err := e.Get(t.Context(), "/none"); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Error(err)
	}
}
