package server

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// A request that is refused gets the error and nothing else.
func TestRefusedOnly(t *testing.T) {
	for _, c := range []struct {
		o                  Options
		method, path, body string
		status             int
	}{
		{Options{Token: "secret"}, "GET", "/metrics", "", 401},
		{Options{Token: "secret"}, "POST", "/v1/check", record(german, "de"), 401},
		{Options{Block: true}, "POST", promptfooPath, `{"output":"` + german + `","context":{"vars":{"language":"tlh"}}}`, 400},
		{Options{Block: true}, "POST", promptfooPath, "x", 400},
	} {
		w := httptest.NewRecorder()
		New(c.o).ServeHTTP(w, httptest.NewRequest(c.method, "http://localhost"+c.path, strings.NewReader(c.body)))
		var got map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != c.status || err != nil || got["error"] == "" || len(got) != 1 {
			t.Errorf("%s: %d, %v: %s; want %d and an error alone", c.path, w.Code, err, w.Body, c.status)
		}
	}
}
