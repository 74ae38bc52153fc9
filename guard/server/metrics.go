package server

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/guard"
)

// buckets are the upper bounds of the histogram of latencies, in seconds.
var buckets = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}

// metrics counts verdicts and refusals, in the text format of Prometheus. Labels are languages that can be judged and
// status codes, so they are few.
type metrics struct {
	mu       sync.Mutex
	verdicts map[verdictOf]int
	refusals map[string]int // by status
	passed   map[string]int // unchecked, by reason
	alarms   map[string]int
	times    [len(buckets) + 1]int // by bucket, not cumulative; the last counts longer ones
	sum      time.Duration
	streams  int // open ones
	models   map[string]bool
}

type verdictOf struct {
	language string // expected
	verdict  guard.Verdict
	route    string
	model    string // "other" for all after the first mostModels
}

// mostModels is how many models have counts of their own.
const mostModels = 50

func newMetrics() *metrics {
	return &metrics{verdicts: map[verdictOf]int{}, refusals: map[string]int{},
		passed: map[string]int{noJSON: 0, badLanguage: 0, large: 0, late: 0, busy: 0}, alarms: map[string]int{},
		models: map[string]bool{}}
}

// base is the label of a tag: its language.
func base(tag string) string {
	language, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	return cmp.Or(strings.ToLower(language), "unknown")
}

// count changes the counters.
func (m *metrics) count(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// record counts, logs and keeps a verdict.
func (s *server) record(e event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	s.judged(e.Expected, e.Verdict, e.Route, e.Model)
	s.log.add(e)
}

// judged counts the verdict on a text.
func (m *metrics) judged(expected string, v guard.Verdict, route, model string) {
	m.count(func() {
		if model != "" && !m.models[model] {
			if len(m.models) >= mostModels {
				model = "other"
			} else {
				m.models[model] = true
			}
		}
		m.verdicts[verdictOf{base(expected), v, route, model}]++
	})
}

func (m *metrics) refused(f *refusal) { m.count(func() { m.refusals[strconv.Itoa(f.status)]++ }) }

// took counts the time to judge a text.
func (m *metrics) took(d time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], d.Seconds())
	m.count(func() {
		m.times[i]++
		m.sum += d
	})
}

// unchecked counts what passed without a check, and logs the first of each reason.
func (m *metrics) unchecked(log io.Writer, reason string) {
	m.count(func() {
		if m.passed[reason]++; m.passed[reason] == 1 && log != nil {
			fmt.Fprintf(log, "A gateway's request passed without a check: %s. "+
				"/metrics counts more of them: crosstalk_guard_unchecked_total{reason=%q}.\n", said[reason], reason)
		}
	})
}

func (s *server) writeMetrics(w http.ResponseWriter, _ *http.Request) {
	growing := s.calls.settle(quiet)
	m := s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	head := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP crosstalk_guard_%s %s\n# TYPE crosstalk_guard_%[1]s %[3]s\n", name, help, kind)
	}
	line := func(name string, value any) { fmt.Fprintf(w, "crosstalk_guard_%s %v\n", name, value) }
	counts := func(name, help, label string, of map[string]int) {
		head(name, "counter", help)
		for _, value := range slices.Sorted(maps.Keys(of)) {
			line(fmt.Sprintf("%s{%s=%q}", name, label, value), of[value])
		}
	}
	head("verdicts_total", "counter", "Texts that were judged, by expected language, verdict, route and model.")
	all, unclear := 0, 0
	for _, v := range slices.SortedFunc(maps.Keys(m.verdicts), func(a, b verdictOf) int {
		return cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.verdict, b.verdict),
			cmp.Compare(a.route, b.route), cmp.Compare(a.model, b.model))
	}) {
		model := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v.model)
		line(fmt.Sprintf(`verdicts_total{language=%q,verdict=%q,route=%q,model="%s"}`,
			v.language, v.verdict, v.route, model), m.verdicts[v])
		all += m.verdicts[v]
		if v.verdict == guard.CannotTell {
			unclear += m.verdicts[v]
		}
	}
	head("growing", "gauge", "Answers of gateways that may still grow, and are not counted yet.")
	line("growing", growing)
	head("cannot_tell_ratio", "gauge", "Share of the texts since the start whose verdict is cannot_tell.")
	line("cannot_tell_ratio", float64(unclear)/float64(max(1, all)))
	counts("alarms_total", "Parts in another language found in streams, by expected language.", "language", m.alarms)
	counts("refused_total", "Requests that were refused, by status code.", "status", m.refusals)
	counts("unchecked_total", "Requests of gateways that passed without a check, by reason.", "reason", m.passed)
	head("streams", "gauge", "Streams that are open.")
	line("streams", m.streams)
	head("check_seconds", "histogram", "Time to judge a text, each time, without network and waiting.")
	n := 0
	for i, bound := range append(buckets[:], math.Inf(1)) {
		n += m.times[i]
		line(fmt.Sprintf("check_seconds_bucket{le=\"%g\"}", bound), n)
	}
	line("check_seconds_sum", m.sum.Seconds())
	line("check_seconds_count", n)
	head("build_info", "gauge", "The version of the service and of Go.")
	line(fmt.Sprintf("build_info{version=%q,goversion=%q}", crosstalk.Version, runtime.Version()), 1)
	writeProcess(w)
}

// started is about when the process began.
var started = time.Now()

// writeProcess writes what Prometheus's own clients say of a process, as far as the system tells.
func writeProcess(w io.Writer) {
	write := func(name, kind, help string, value any) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n%[1]s %[4]v\n", name, help, kind, value)
	}
	write("process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.", started.Unix())
	write("go_goroutines", "gauge", "Number of goroutines.", runtime.NumGoroutine())
	stat, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest) // from the third, proc(5)
	if len(fields) < 22 {
		return
	}
	number := func(i int) float64 { n, _ := strconv.ParseFloat(fields[i-3], 64); return n }
	const ticks = 100 // a second, on all Linux systems that Go supports
	write("process_cpu_seconds_total", "counter", "CPU time, of users and of the system.", (number(14)+number(15))/ticks)
	write("process_resident_memory_bytes", "gauge", "Memory in use.", number(24)*float64(os.Getpagesize()))
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		write("process_open_fds", "gauge", "Number of open file descriptors.", len(files)-1)
	}
}
