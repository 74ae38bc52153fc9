package watch

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

// WriteMetrics writes the counts of a session, which is to send planned requests,
// in Prometheus' text format 0.0.4.
func WriteMetrics(w io.Writer, s ask.Stats, planned int) error {
	var b strings.Builder
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP crosstalk_%s %s\n# TYPE crosstalk_%s %s\n", name, help, name, kind)
	}
	metric("requests_planned", "gauge", "Requests of the measurement.")
	fmt.Fprintf(&b, "crosstalk_requests_planned %d\n", max(planned, s.Done))
	metric("answers_total", "counter", "Requests that are done, by what came back.")
	for _, c := range []struct {
		status string
		n      int
	}{
		{string(crosstalk.Text), s.Answered - s.Empty - s.Refused}, {string(crosstalk.Empty), s.Empty},
		{string(crosstalk.Refused), s.Refused}, {string(crosstalk.Failed), s.Failed},
	} {
		fmt.Fprintf(&b, "crosstalk_answers_total{status=%q} %d\n", c.status, c.n)
	}
	metric("answers_saved_total", "counter", "Answers of an earlier run, which were not asked for again.")
	fmt.Fprintf(&b, "crosstalk_answers_saved_total %d\n", s.Cached)
	metric("answers_cut_total", "counter", "Answers that ended at the limit on their tokens.")
	fmt.Fprintf(&b, "crosstalk_answers_cut_total %d\n", s.Cut)
	metric("retries_total", "counter", "Attempts beyond the first of each request.")
	fmt.Fprintf(&b, "crosstalk_retries_total %d\n", s.Retries)
	metric("tokens_total", "counter", "Tokens of the answers that were asked for; completion has those of reasoning.")
	fmt.Fprintf(&b, "crosstalk_tokens_total{kind=\"prompt\"} %d\ncrosstalk_tokens_total{kind=\"completion\"} %d\n", s.Usage.Prompt, s.Usage.Completion)
	metric("cost_total", "counter", "Cost of these tokens, in the currency of --prices; 0 without them.")
	fmt.Fprintf(&b, "crosstalk_cost_total %g\n", s.Cost)
	metric("endpoints_waiting", "gauge", "Endpoints that are down, that asked to wait, or that have not answered for 15 seconds.")
	fmt.Fprintf(&b, "crosstalk_endpoints_waiting %d\n", len(s.Waits))
	_, err := io.WriteString(w, b.String())
	return err
}

// ServeMetrics serves the metrics of a session at an address, HOST:PORT, until stop is
// called.
func ServeMetrics(addr string, s *ask.Session, planned int) (stop func(), err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, crosstalk.BadOption("metrics", " %s: %w; expected HOST:PORT with a free port, such as 127.0.0.1:9090", addr, err)
	}
	server := &http.Server{Handler: Metrics(s, planned), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 14}
	go server.Serve(l)
	return func() { server.Close() }, nil
}

// Metrics serves the metrics of a session at /metrics.
func Metrics(session *ask.Session, planned int) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		WriteMetrics(w, session.Stats(), planned)
	})
	return m
}
