package watch

import (
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
)

func TestWriteMetrics(t *testing.T) {
	var b strings.Builder
	s := ask.Stats{Done: 10, Answered: 9, Cached: 4, Empty: 2, Refused: 1, Cut: 3, Failed: 1, Retries: 5,
		Usage: crosstalk.Usage{Prompt: 100, Completion: 20}, Cost: 0.5, Waits: []ask.Wait{{}}}
	if err := WriteMetrics(&b, s, 50); err != nil {
		t.Fatal(err)
	}
	var values []string
	declared := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		switch fields := strings.Fields(line); {
		case strings.HasPrefix(line, "# TYPE "):
			declared[fields[2]] = fields[3] == "counter" || fields[3] == "gauge"
		case strings.HasPrefix(line, "# HELP "):
		case !regexp.MustCompile(`^[a-z_]+(\{[a-z]+="[a-z]+"\})? [0-9.]+$`).MatchString(line):
			t.Errorf("%q", line)
		default:
			if name, _, _ := strings.Cut(fields[0], "{"); !declared[name] {
				t.Errorf("%s has no type", name)
			}
			values = append(values, strings.TrimPrefix(line, "crosstalk_"))
		}
	}
	want := []string{`requests_planned 50`, `answers_total{status="text"} 6`, `answers_total{status="empty"} 2`, `answers_total{status="refused"} 1`,
		`answers_total{status="failed"} 1`, `answers_saved_total 4`, `answers_cut_total 3`, `retries_total 5`, `tokens_total{kind="prompt"} 100`,
		`tokens_total{kind="completion"} 20`, `cost_total 0.5`, `endpoints_waiting 1`}
	if got := strings.Join(values, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s", got)
	}
}

func TestMetrics(t *testing.T) {
	h := Metrics(ask.NewSession(&ask.Memory{}, ask.Options{}), 7)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, _ := io.ReadAll(w.Body)
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") || !strings.Contains(string(text), "\ncrosstalk_requests_planned 7\n") {
		t.Errorf("%d %v\n%s", w.Code, w.Header(), text)
	}
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil)); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}
