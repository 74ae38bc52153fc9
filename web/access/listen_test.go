package access

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestListen(t *testing.T) {
	for _, c := range []struct {
		addr     string
		hosts    []string
		url      string // with PORT; "": any
		names    []string
		loopback bool
	}{
		{"127.0.0.1:0", nil, "http://127.0.0.1:PORT/", nil, true},
		{"localhost:0", nil, "http://localhost:PORT/", []string{"localhost"}, true},
		{"127.0.0.1:0", []string{"lab.example"}, "http://lab.example:PORT/", []string{"lab.example"}, true},
		{":0", nil, "", nil, false},
		{"0.0.0.0:0", []string{"lab.example", "b"}, "http://lab.example:PORT/", []string{"lab.example", "b"}, false},
	} {
		l, err := Listen(c.addr, c.hosts)
		if err != nil {
			t.Fatal(err)
		}
		port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
		if want := strings.Replace(c.url, "PORT", port, 1); want != "" && l.URL != want {
			t.Errorf("%s: %s, want %s", c.addr, l.URL, want)
		}
		if !slices.Equal(l.Hosts, c.names) || l.Loopback() != c.loopback {
			t.Errorf("%s: %q, loopback %v", c.addr, l.Hosts, l.Loopback())
		}
		l.Close()
	}
	for addr, want := range map[string]string{
		"8020":            "--addr 8020: address 8020: missing port in address; expected HOST:PORT, such as 127.0.0.1:8020",
		"127.0.0.1:99999": "cannot listen on 127.0.0.1:99999: listen tcp: address 99999: invalid port; name another address with --addr (port 0 is any free port)",
	} {
		if _, err := Listen(addr, nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// A request in progress is answered when the context ends, if it does not take too
// long.
func TestServe(t *testing.T) {
	for _, patient := range []bool{true, false} {
		l, err := Listen("127.0.0.1:0", nil)
		if err != nil {
			t.Fatal(err)
		}
		begun, end := make(chan bool), make(chan bool)
		ctx, cancel := context.WithCancel(t.Context())
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-end
			io.WriteString(w, "answer")
		})
		grace := time.Minute
		if !patient {
			grace = time.Millisecond
		}
		served := make(chan error, 1)
		go func() { served <- l.ServeUntil(ctx, NewServer(handler), grace) }()
		answer := make(chan string, 1)
		go func() {
			r, err := http.Get(l.URL)
			if err != nil {
				answer <- fmt.Sprint("error ", err)
				return
			}
			defer r.Body.Close()
			text, _ := io.ReadAll(r.Body)
			answer <- string(text)
		}()
		<-begun
		cancel()
		if patient {
			close(end)
		}
		if got := <-answer; (got == "answer") != patient {
			t.Errorf("patient %v: %s", patient, got)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		if !patient {
			close(end)
		}
	}
}

// A request that only reads has no body, wherever requests with one are taken.
func TestGuardBodyOfReading(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for body, want := range map[string]int{"": http.StatusOK, "x": http.StatusRequestEntityTooLarge} {
			rules := Rules{Body: 100,
				Refuse: func(w http.ResponseWriter, _ *http.Request, status int, _ string) { w.WriteHeader(status) },
				Admit:  func(http.ResponseWriter, *http.Request) bool { return true }}
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, "http://localhost/", strings.NewReader(body))
			rules.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s with %q: %d, want %d", method, body, w.Code, want)
			}
		}
	}
}
