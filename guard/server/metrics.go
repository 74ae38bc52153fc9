package server

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
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
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/measure/langid"
)

// Limits of what is counted and kept.
const (
	mostModels = 50       // models with their own counts
	mostLog    = 64 << 20 // bytes of a log of verdicts, before it is renamed to FILE.1 and begun anew
	mostSpans  = 20       // parts of an answer in an event
	mostRecent = 50       // verdicts kept for the page
)

// buckets are the upper bounds of the histogram of latencies, in seconds.
var buckets = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}

// metrics counts verdicts and refusals for Prometheus. Its labels are few: languages and status codes.
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

func newMetrics() *metrics {
	return &metrics{verdicts: map[verdictOf]int{}, refusals: map[string]int{},
		passed: map[string]int{noJSON: 0, badLanguage: 0, large: 0, late: 0, busy: 0, mixed: 0}, alarms: map[string]int{},
		models: map[string]bool{}}
}

// base is the label for a tag: its language.
func base(tag string) string {
	code, _ := langid.Canonical(tag)
	return cmp.Or(code, "unknown")
}

func (m *metrics) count(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (s *server) record(e event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	s.judged(e.Expected, e.Verdict, e.Route, e.Model)
	s.log.add(e)
}

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

func (m *metrics) took(d time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], d.Seconds())
	m.count(func() {
		m.times[i]++
		m.sum += d
	})
}

// unchecked counts texts that pass without a check, and logs the first for each reason.
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

// writeProcess writes the process metrics of Prometheus's own clients, where the system provides them.
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

// event is a verdict, or a missing one, for logs, counts and pages. It never contains the text.
type event struct {
	Time     time.Time       `json:"time"`
	ID       json.RawMessage `json:"id,omitempty"` // id of the record
	Call     string          `json:"call,omitempty"`
	Route    string          `json:"route"` // check, stream, litellm, promptfoo, portkey
	Model    string          `json:"model,omitempty"`
	Team     string          `json:"team,omitempty"`
	Expected string          `json:"expected"` // empty: unknown
	Language string          `json:"language"` // the language found
	Verdict  guard.Verdict   `json:"verdict"`  // or unchecked
	Reason   string          `json:"reason,omitempty"`
	P        float64         `json:"p"`
	Action   string          `json:"action"`
	Spans    []guard.Span    `json:"spans"`
	MS       float64         `json:"ms"` // time to judge the text, in milliseconds
}

// unchecked is the verdict of an event for a text that passed without a check.
const unchecked guard.Verdict = "unchecked"

type sent struct{ Model, Team string }

func (s sent) of(route, call string, v Verdict) event {
	return event{Route: route, Call: call, Model: label(s.Model), Team: label(s.Team), ID: short(v.ID),
		Expected: label(v.Expected), Language: v.Language, Verdict: v.Verdict, P: v.P, Action: v.Action,
		Spans: slices.Clone(v.Spans[:min(len(v.Spans), mostSpans)]),
		MS:    float64(v.took) / float64(time.Millisecond)}
}

// label shortens a name that a caller sends, and removes what a log or a metric cannot contain.
func label(name string) string {
	const most = 100
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name[:min(len(name), most)])
}

// short drops an id that is too long for a log.
func short(id json.RawMessage) json.RawMessage {
	if len(id) > mostCallID {
		return nil
	}
	return id
}

type verdicts struct {
	path   string // empty: no log
	most   int64
	report io.Writer // for errors

	mu     sync.Mutex
	failed bool
	recent []event // the newest last
}

func (l *verdicts) add(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent = append(l.recent, e)
	l.recent = l.recent[max(0, len(l.recent)-mostRecent):]
	if l.path == "" {
		return
	}
	if e.Spans == nil {
		e.Spans = []guard.Span{}
	}
	line, err := json.Marshal(e)
	if err == nil {
		err = l.write(append(line, '\n'))
	}
	if err != nil && !l.failed && l.report != nil {
		fmt.Fprintf(l.report, "The log of verdicts cannot be written; the service goes on without it: %v\n", err)
	}
	l.failed = err != nil
}

// write appends a line to the log, if there is one. It opens the file each time: another program may move it away.
func (l *verdicts) write(line []byte) error {
	if l.path == "" {
		return nil
	}
	if info, err := os.Stat(l.path); err == nil && info.Size() > 0 && info.Size()+int64(len(line)) > l.most {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

func (l *verdicts) last() []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.recent)
	slices.Reverse(all)
	return all
}

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle []byte

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

type pageRow struct {
	Name                string
	Right, Wrong, Other int
}

// Share is the share of wrong answers among those that could be judged, or "-".
func (r pageRow) Share() string {
	if r.Right+r.Wrong == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(r.Wrong)/float64(r.Right+r.Wrong))
}

func (s *server) page(w http.ResponseWriter, _ *http.Request) {
	growing := s.calls.settle(quiet)
	tables := map[string][]pageRow{}
	var all pageRow
	passed := 0
	s.count(func() {
		for title, of := range map[string]func(verdictOf) string{
			"Language": func(v verdictOf) string { return v.language }, "Route": func(v verdictOf) string { return v.route },
			"Model": func(v verdictOf) string { return v.model }} {
			rows := map[string]pageRow{}
			for v, n := range s.verdicts {
				row := rows[of(v)]
				row.Name = of(v)
				row.add(v.verdict, n)
				rows[of(v)] = row
			}
			tables[title] = slices.SortedFunc(maps.Values(rows), func(a, b pageRow) int {
				return cmp.Or(b.Wrong-a.Wrong, b.Right+b.Other-a.Right-a.Other, cmp.Compare(a.Name, b.Name))
			})
		}
		for v, n := range s.verdicts {
			all.add(v.verdict, n)
		}
		for _, n := range s.passed {
			passed += n
		}
	})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	pageTemplate().Execute(w, map[string]any{"Version": crosstalk.Version, "Block": s.Block, "All": all,
		"Tables": tables, "Growing": growing, "Passed": passed, "Recent": s.log.last()})
}

func (r *pageRow) add(v guard.Verdict, n int) {
	switch v {
	case guard.Right:
		r.Right += n
	case guard.Wrong:
		r.Wrong += n
	default:
		r.Other += n
	}
}
