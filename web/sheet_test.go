package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/testing/golden"
	"crosstalk/run"
	"crosstalk/web/index"
)

// sheetRun writes a run with an old date. Its answers have requests, thoughts, tokens, variants and samples.
func sheetRun(t *testing.T, path string, day int, letters string) {
	t.Helper()
	model := crosstalk.Identity{Provider: "openai", Name: "m", Endpoint: "http://localhost"}
	d, err := run.Create(path, run.Recorded("confusion", "suite@1", "model"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	list := append(judged("m", letters), judged("n", letters[:2])...)
	for i := range min(3, len(list)) {
		request := crosstalk.Request{API: crosstalk.Chat,
			Messages: []crosstalk.Message{{Role: "system", Content: "s"}, {Role: "user", Content: fmt.Sprint("ask ", i)}}}
		if i == 1 {
			request = crosstalk.Request{API: crosstalk.Completions, Prompt: "prompt " + strings.Repeat("x", longest)}
		}
		r := journal.Record{Identity: model, Request: request, Answer: crosstalk.Answer{Key: crosstalk.KeyOf(model, request),
			Status: crosstalk.Text, Text: fmt.Sprint("answer ", i), Reasoning: []string{"", "thought", ""}[i], Raw: []byte(`{"raw":1}`),
			Reason: "stop", Model: "m-1", Usage: crosstalk.Usage{Prompt: 3, Completion: 5, Reasoning: i},
			Latency: 1234567890, Attempts: 1 + i,
			Time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}}
		if err := d.Journal.Put(r); err != nil {
			t.Fatal(err)
		}
		list[i].Answers = []crosstalk.Key{r.Answer.Key, r.Answer.Key, {9}}
	}
	list[1].Tokens = []crosstalk.Token{{Text: "a", Entropy: 1}, {Text: "b", Fault: true, Entropy: 2}}
	list[2].Sample, list[2].Variant = 1, "en>de"
	list[3].Labels["task"] = "crosslingual"
	word := list[1]
	word.Measure, word.Finding, word.Value, word.Tokens = "wpr", "", 1, nil
	word.Spans = []crosstalk.Span{{Line: 2, Start: 1, End: 4, Text: "y"}}
	implied := list[3]
	implied.Measure, implied.NotScored, implied.Implied, implied.Value, implied.Finding = "wpr", "line_error", true, crosstalk.Undefined, ""
	list = slices.Insert(list, 2, word)
	list = slices.Insert(list, 5, implied)
	recordAll(t, d, list...)
	var estimates []crosstalk.Estimate
	for i, measure := range []string{"lpr", "wpr", "lcpr", instrument.Named("confusion").Faults.Measure} {
		for j, task := range []string{"monolingual", "crosslingual", "other", "more"} {
			e := crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(.9 - .1*float64(i+j)), N: 10, Observations: 12,
				Better:   crosstalk.Higher,
				Interval: &crosstalk.Interval{Low: .1, High: .95, Level: .95}, Counts: map[string]int{"empty": j},
				Signature: fmt.Sprintf("%s|s:%d", measure, day),
				By:        map[string]string{"model": "m", "task": task, "language": "all"}}
			estimates = append(estimates, e)
		}
	}
	if err := d.WriteEstimates(estimates); err != nil {
		t.Fatal(err)
	}
	date := time.Date(2024, 5, day, 7, 8, 9, 0, time.UTC)
	for _, name := range []string{"manifest.json", "estimates.json"} {
		if err := os.Chtimes(filepath.Join(path, name), date, date); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	drawings = regexp.MustCompile(`(?s)<svg .*?</svg>`)
	headers  = regexp.MustCompile(`(?s)<head>.*?</head>`)
	cards    = regexp.MustCompile(`(?s)<section class="one".*?</section>`)
	dates    = regexp.MustCompile(`\d+ [A-Z][a-z]+ 20\d\d \d\d:\d\d|"Version":"[^"]*"|saved (?:\d+ s ago|now)|\d{4}-\d\d-\d\dT[0-9:.]*Z|crosstalk 0[.0-9a-z-]*|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+`)
)

// Every page of two runs, to the byte but for its head, drawings and dates.
func TestSheetOfPages(t *testing.T) {
	dir := t.TempDir()
	sheetRun(t, filepath.Join(dir, "old"), 1, "rwrwu-r")
	sheetRun(t, filepath.Join(dir, "new", "one"), 2, "wrrwrr-")
	judgedRun(t, filepath.Join(dir, "many"), judged("m", strings.Repeat("rrw", 50)))
	makeRun(t, filepath.Join(dir, "leak"), "leakage", nil)
	unfinished, err := run.Create(filepath.Join(dir, "open"), run.Recorded("confusion", "suite@2", "m"))
	if err != nil {
		t.Fatal(err)
	}
	putAnswer(t, unfinished, 1, crosstalk.Text)
	if err := unfinished.Close(); err != nil {
		t.Fatal(err)
	}
	judgedRun(t, filepath.Join(dir, "broken"), judged("m", "rw"))
	if err := os.WriteFile(filepath.Join(dir, "broken", "observations.jsonl"), []byte("{\"measure\":\"lpr\"}\nodd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"many", "leak", "open", "broken"} {
		date := time.Date(2024, 4, 3+i, 7, 8, 9, 0, time.UTC)
		for _, file := range []string{"manifest.json", "estimates.json"} {
			os.Chtimes(filepath.Join(dir, name, file), date, date) // an unfinished run has no figures
			date = date.AddDate(0, i, 0)
		}
	}
	s := newServer(t, dir, Options{})
	old, young, many := idOf("old"), idOf("new/one"), idOf("many")
	for _, id := range []string{old, young, many, idOf("leak")} {
		built(t, s, id)
	}
	post(s, "/runs/"+old+"/answers/2/note", "mark=1&text=a+note%0D%0Aof+two+lines")
	post(s, "/runs/"+old+"/answers/4/note", "text=only+text")
	var b strings.Builder
	show := func(target string, code int, body string) {
		body = strings.NewReplacer(dir, "DIR", old, "OLD", young, "NEW", many, "MANY", idOf("leak"), "LEAK", idOf("open"), "OPEN", idOf("broken"), "BROKEN").Replace(body)
		body = headers.ReplaceAllString(drawings.ReplaceAllString(body, "<svg/>"), "<head/>")
		if strings.Contains(target, "MANY") {
			body = cards.ReplaceAllString(body, "<card/>")
		}
		fmt.Fprintf(&b, "\n=== %s %d\n%s", target, code, dates.ReplaceAllString(body, "WHEN"))
	}
	for _, target := range []string{"/", "/?q=ONE&sort=run", "/?q=nothing", "/?sort=measured", "/runs/OLD", "/runs/OLD/answers", "/runs/OPEN/answers",
		"/runs/OLD/answers?noted=note&is.found=wrong+language&q=answer&sort=longest&is.nosuch=x", "/runs/OLD/answers?noted=no-error&skip=1&sort=shortest",
		"/runs/OLD/answers?q=%22answer+1+word%22&is.task=crosslingual", "/runs/OLD/answers?is.model=n&is.language=ar", "/runs/OLD/answers?is.found=any+fault",
		"/runs/MANY/answers", "/runs/MANY/answers?after=50", "/runs/MANY/answers?before=101", "/runs/MANY/answers?after=100&q=%22word+word%22",
		"/runs/MANY/answers?sort=doubtful", "/runs/MANY/answers?sort=doubtful&skip=70", "/runs/MANY/answers?sort=longest&skip=100&is.language=de",
		"/runs/OLD/answers/1", "/runs/OLD/answers/2", "/runs/OLD/answers/3", "/runs/OLD/answers/8", "/runs/OLD/answers/9", "/runs/OLD/answers/x", "/runs/OPEN/answers/1",
		"/runs/OLD/answers.csv", "/runs/OLD/answers.jsonl?sort=longest", "/runs/OPEN/answers.csv", "/runs/OLD/live.json", "/nothing", "/runs/nosuch",
		"/compare", "/compare?a=OLD", "/compare?a=OLD&b=NEW", "/compare?a=OLD&b=NEW&show=all&is.task=monolingual&is.model=m&bc=1&ac=0", "/compare?a=OLD&b=LEAK", "/compare?a=OLD&b=OPEN",
		"/compare?a=MANY&b=MANY&show=still+right&skip=30", "/compare?a=OLD&b=NEW&show=all", "/compare?a=NEW&b=OLD&show=all&skip=2",
		"/compare?a=MANY&bc=1", "/compare?a=MANY&ac=9", "/compare?a=MANY&bc=-1", "/compare?a=OLD&b=OLD&ac=1&bc=0", "/compare?b=OLD",
		"/runs/MANY/answers?after=-3", "/runs/MANY/answers?after=x&before=", "/runs/MANY/answers?after=149", "/runs/MANY/answers?before=1&is.found=nothing+wrong",
		"/runs/MANY/answers?sort=longest&skip=-1", "/runs/MANY/answers?after=9999999999999", "/runs/MANY/answers?before=9999999999999", "/runs/OLD/answers?sort=nosuch",
		"/runs/OLD/answers?is.language=zz&is.task=&is.=x", "/compare?a=OLD&b=NEW&is.task=nosuch&is.found=any+fault", "/style.css.", "/style.css/x",
		"/?sort=nosuch", "/?q=" + strings.Repeat("x", 300), "/runs/BROKEN", "/runs/BROKEN/answers", "/runs/BROKEN/answers/1",
		"/runs/BROKEN/answers.csv", "/compare?a=BROKEN", "/compare?a=BROKEN&b=OLD", "/compare?a=OLD&b=BROKEN", "/compare?a=OPEN&b=OPEN", "/compare?a=OPEN"} {
		at := strings.NewReplacer("OLD", old, "NEW", young, "MANY", many, "LEAK", idOf("leak"), "OPEN", idOf("open"), "BROKEN", idOf("broken")).Replace(target)
		w := get(s, at)
		for strings.Contains(w.Body.String(), "are being computed") && t.Context().Err() == nil {
			w = get(s, at)
		}
		show(target, w.Code, w.Body.String())
	}
	var file bytes.Buffer
	t.Setenv("TMPDIR", t.TempDir())
	result := comparedRuns(t, filepath.Join(dir, "old"), filepath.Join(dir, "new", "one"))
	if err := WriteComparison(t.Context(), &file, filepath.Join(dir, "old"), filepath.Join(dir, "new", "one"), result); err != nil {
		t.Fatal(err)
	}
	show("compare --html", 0, file.String())
	for _, paths := range [][2]string{{"old", "leak"}, {"leak", "leak"}, {"open", "old"}, {"nosuch", "old"}} {
		err := WriteComparison(t.Context(), &file, filepath.Join(dir, paths[0]), filepath.Join(dir, paths[1]), result)
		show(fmt.Sprint("compare ", paths), 0, fmt.Sprintln(err))
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 || err != nil {
		t.Errorf("%v are left; %v", left, err)
	}
	golden.Check(t, "testdata/pages.txt", b.String())
}

// A server on loopback needs no token; another one prints a new one with a warning.
func TestServe(t *testing.T) {
	for _, c := range []struct{ addr, said string }{
		{"127.0.0.1:0", `^Runs below DIR: http://127\.0\.0\.1:\d+/\n$`},
		{"0.0.0.0:0", `^Runs below DIR: http://[^/]+/\?token=[-\w]{20,}\nAnyone with this address can read everything there and write notes\. ` +
			`The connection is not encrypted\.\n$`},
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var said bytes.Buffer
		if err := Serve(ctx, &said, dir, c.addr, nil); err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(said.String(), dir, "DIR"); !regexp.MustCompile(c.said).MatchString(text) {
			t.Errorf("%s: %q", c.addr, text)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{file: file + " is a file; expected the directory above your runs",
		filepath.Join(file, "x"): "stat " + filepath.Join(file, "x") + ": not a directory"} {
		if err := Serve(t.Context(), &bytes.Buffer{}, dir, "127.0.0.1:0", nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if err := CheckDir(none, true); err == nil || !strings.Contains(err.Error(), "does not exist; expected") {
		t.Error(err)
	}
	if err := Serve(t.Context(), &bytes.Buffer{}, none, "nowhere", nil); err == nil {
		t.Error("served at no address")
	}
}

func TestWords(t *testing.T) {
	const thin = "\u202f"
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1" + thin + "000", count(-1234567): "-1" + thin + "234" + thin + "567", count(-123): "-123",
		number(1, "run", "runs"): "1 run", number(0, "run", "runs"): "0 runs", number(2000, "run", "runs"): "2" + thin + "000 runs",
		ago(time.Time{}): "-", ago(time.Now()): "now", ago(time.Now().Add(-90 * time.Second)): "2 min ago",
		ago(time.Now().Add(-3*time.Hour - time.Minute)): "3.0 h ago",
		duration(59 * time.Second):                      "59 s", duration(time.Minute): "1 min", duration(time.Hour): "1.0 h",
		size(999): "999 bytes", size(1000): "1 kB", size(999e3): "999 kB", size(1e6): "1 MB",
		indexing(index.State{}):                             "0 % of 0 bytes, 0 answers so far.",
		indexing(index.State{Read: 3, Size: 4, Answers: 1}): "75 % of 4 bytes, 1 answer so far.",
		joined("", "a", "", "b"):                            "a · b", brief(strings.Repeat("é", 240)): strings.Repeat("é", 240),
		brief(strings.Repeat("é", 241)): strings.Repeat("é", 240) + "…",
		brief(strings.Repeat("日", 321)): strings.Repeat("日", 240) + "…", cut(strings.Repeat("x", longest)): strings.Repeat("x", longest),
		cut(strings.Repeat("x", longest+1500)): strings.Repeat("x", longest) + "… (2 kB more not shown)",
	} {
		if got != want {
			t.Errorf("%.60q; want %.60q", got, want)
		}
	}
	if day := ago(time.Date(2024, 5, 6, 12, 8, 0, 0, time.Local)); day != "6 May 2024 12:08" {
		t.Error(day)
	}
}

// Few runs are open at a time: the one that nobody has looked at for longest goes first.
func TestOpenRunsAreFew(t *testing.T) {
	dir := t.TempDir()
	o := openRuns{cache: t.TempDir()}
	defer o.close()
	open := func(i int) func() {
		_, done := o.open(&runEntry{ID: fmt.Sprint(i), path: filepath.Join(dir, fmt.Sprint(i))})
		return done
	}
	first := open(0) // in use
	for i := range mostOpen {
		open(i + 1)()
	}
	if o.runs["0"] == nil || o.runs["1"] != nil || o.runs["2"] == nil || len(o.runs) != mostOpen {
		t.Errorf("%d runs are open", len(o.runs))
	}
	open(2)()
	first()
	open(100)()
	if o.runs["0"] != nil || o.runs["2"] == nil || o.runs["100"] == nil || len(o.runs) != mostOpen || o.runs["2"].users != 0 {
		t.Errorf("%d runs are open", len(o.runs))
	}
}

// Figures are computed once, and few are kept.
func TestComparisonsKept(t *testing.T) {
	var c comparisons
	entry := func(i int) side {
		return side{Run: &runEntry{ID: fmt.Sprint(i), path: filepath.Join(t.TempDir(), "none")}}
	}
	a := entry(0)
	table := c.of(t.Context(), a, a)
	if table == nil || !strings.Contains(table.Problem, "no such file") || strings.Contains(table.Problem, a.Run.path) ||
		c.of(t.Context(), a, a) != table {
		t.Errorf("%+v", table)
	}
	if c.of(t.Context(), a, entry(0)); c.of(t.Context(), a, a) != table {
		t.Error("computed again though there is room")
	}
	for i := range mostKept {
		if of := c.of(t.Context(), a, entry(i+1)); of == nil || !strings.Contains(of.Problem, "no such file") {
			t.Errorf("%d: %+v", i, of)
		}
	}
	if len(c.kept) > mostKept || c.of(t.Context(), a, a) == table {
		t.Errorf("%d are kept", len(c.kept))
	}
	large := side{Run: &runEntry{ID: "l", Name: "one", path: filepath.Join(t.TempDir(), "large")}}
	judgedRun(t, large.Run.path, judged("m", "r"))
	for size, want := range map[int64]string{mostCompared: "observations.jsonl:1: invalid",
		mostCompared + 1: "these runs are large; use: crosstalk compare one one"} {
		if err := os.WriteFile(filepath.Join(large.Run.path, "observations.jsonl"), []byte("odd\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(large.Run.path, "observations.jsonl"), size); err != nil {
			t.Fatal(err)
		}
		if _, err := compareFigures(large, large); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v; want %s", size, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status := get(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&Server{}).fail(w, r.WithContext(ctx), context.Canceled)
	}), "/").Code; status != http.StatusServiceUnavailable {
		t.Error(status)
	}
}
