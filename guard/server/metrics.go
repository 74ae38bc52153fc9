package server

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk/guard"
)

// buckets are the upper bounds of the histogram of latencies, in seconds.
var buckets = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}

// metrics counts verdicts and refusals, in the text format of Prometheus. Labels are languages that can be judged and
// status codes, so they are few.
type metrics struct {
	mu       sync.Mutex
	verdicts map[verdictOf]int
	refusals map[int]int
	passed   map[string]int // unchecked, by reason
	alarms   map[string]int
	times    []int // by bucket, not cumulative; the last counts longer ones
	sum      time.Duration
	streams  int // open ones
}

type verdictOf struct {
	language string // expected
	verdict  guard.Verdict
}

func newMetrics() *metrics {
	return &metrics{verdicts: map[verdictOf]int{}, refusals: map[int]int{}, passed: map[string]int{}, alarms: map[string]int{}, times: make([]int, len(buckets)+1)}
}

// base is the label of a tag: its language.
func base(tag string) string {
	language, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	return cmp.Or(strings.ToLower(language), "unknown")
}

// judged counts the verdict on a text.
func (m *metrics) judged(expected string, v guard.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verdicts[verdictOf{base(expected), v}]++
}

// took counts the time to judge a text.
func (m *metrics) took(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, _ := slices.BinarySearch(buckets, d.Seconds())
	m.times[i]++
	m.sum += d
}

// unchecked counts what passed without a check, and says so for the first of each reason.
func (m *metrics) unchecked(log io.Writer, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.passed[reason]++; m.passed[reason] == 1 && log != nil {
		fmt.Fprintf(log, "A gateway's request passed without a check: %s. /metrics counts more of them: crosstalk_guard_unchecked_total{reason=%q}.\n", said[reason], reason)
	}
}

func (m *metrics) alarmed(tag string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alarms[base(tag)]++
}

func (m *metrics) refused(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusals[status]++
}

func (m *metrics) streaming(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams += n
}

func (s *server) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	growing := s.calls.settle()
	m := s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	head := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	head("crosstalk_guard_verdicts_total", "counter", "Texts that were judged, by expected language and verdict.")
	all, unclear := 0, 0
	for _, v := range slices.SortedFunc(maps.Keys(m.verdicts), func(a, b verdictOf) int {
		return cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.verdict, b.verdict))
	}) {
		fmt.Fprintf(w, "crosstalk_guard_verdicts_total{language=%q,verdict=%q} %d\n", v.language, v.verdict, m.verdicts[v])
		all += m.verdicts[v]
		if v.verdict == guard.CannotTell {
			unclear += m.verdicts[v]
		}
	}
	head("crosstalk_guard_growing", "gauge", "Answers of gateways that may still grow, and are not counted yet.")
	fmt.Fprintf(w, "crosstalk_guard_growing %d\n", growing)
	head("crosstalk_guard_cannot_tell_ratio", "gauge", "Share of the texts since the start whose verdict is cannot_tell.")
	fmt.Fprintf(w, "crosstalk_guard_cannot_tell_ratio %g\n", float64(unclear)/float64(max(1, all)))
	head("crosstalk_guard_alarms_total", "counter", "Parts in another language found in streams, by expected language.")
	for _, language := range slices.Sorted(maps.Keys(m.alarms)) {
		fmt.Fprintf(w, "crosstalk_guard_alarms_total{language=%q} %d\n", language, m.alarms[language])
	}
	head("crosstalk_guard_refused_total", "counter", "Requests that were refused, by status code.")
	for _, status := range slices.Sorted(maps.Keys(m.refusals)) {
		fmt.Fprintf(w, "crosstalk_guard_refused_total{status=\"%d\"} %d\n", status, m.refusals[status])
	}
	head("crosstalk_guard_unchecked_total", "counter", "Requests of gateways that passed without a check, by reason.")
	for _, reason := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprintf(w, "crosstalk_guard_unchecked_total{reason=%q} %d\n", reason, m.passed[reason])
	}
	head("crosstalk_guard_streams", "gauge", "Streams that are open.")
	fmt.Fprintf(w, "crosstalk_guard_streams %d\n", m.streams)
	head("crosstalk_guard_check_seconds", "histogram", "Time to judge a text, each time, without network and waiting.")
	n := 0
	for i, bound := range buckets {
		n += m.times[i]
		fmt.Fprintf(w, "crosstalk_guard_check_seconds_bucket{le=\"%g\"} %d\n", bound, n)
	}
	n += m.times[len(buckets)]
	fmt.Fprintf(w, "crosstalk_guard_check_seconds_bucket{le=\"+Inf\"} %d\n", n)
	fmt.Fprintf(w, "crosstalk_guard_check_seconds_sum %g\ncrosstalk_guard_check_seconds_count %d\n", m.sum.Seconds(), n)
}
