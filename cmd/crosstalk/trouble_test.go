package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/internal/testing/testserver"

	"github.com/ncruces/go-sqlite3"
)

// Wrong settings are found out with few asks, in words that name them, and the
// directory is good for the right ones.
func TestWrongSettings(t *testing.T) {
	for name, c := range map[string]struct {
		options testserver.Options
		env     []string
		more    []string
		asks    int
		says    []string
	}{
		"key":       {testserver.Options{}, []string{"CROSSTALK_API_KEY=sk-wrong-0123456789"}, nil, 4, []string{"CROSSTALK_API_KEY was refused by URL/v1", "HTTP 401"}},
		"no key":    {testserver.Options{}, []string{"CROSSTALK_API_KEY="}, nil, 4, []string{"CROSSTALK_API_KEY is not set, and URL/v1 wants a key"}},
		"key-var":   {testserver.Options{}, []string{"MY_KEY=nonsense"}, []string{"--key-var", "MY_KEY"}, 4, []string{"MY_KEY was refused"}},
		"no var":    {testserver.Options{}, nil, []string{"--key-var", "MY_KEY"}, 0, []string{"the environment variable MY_KEY is not set"}},
		"model":     {testserver.Options{Models: []string{"other"}}, nil, nil, 4, []string{`URL/v1 has no model "m"`}},
		"parameter": {testserver.Options{Unsupported: []string{"max_tokens", "max_completion_tokens"}}, nil, nil, 14, []string{"max_completion_tokens", "rejected the request"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, c.options)
			out := filepath.Join(t.TempDir(), "run")
			says := make([]string, len(c.says))
			for i := range says {
				says[i] = strings.ReplaceAll(c.says[i], "URL", s.URL)
			}
			p := start(t, c.env, runLeakage(s, writeSuite(t, 10), out, c.more...)...).expect(2, says...)
			if got := s.Stats().Attempts; got > c.asks {
				t.Errorf("%d asks; want at most %d", got, c.asks)
			}
			if strings.Contains(p.stderr.String(), "sk-wrong") || strings.Contains(p.stderr.String(), "nonsense") {
				t.Error("the wrong key is shown")
			}
			if n := strings.Count(p.stderr.String(), "\n"); n > 2 {
				t.Errorf("%d lines; want one or two", n)
			}
		})
	}
}

// A wrong key, then the right one: the run goes on.
func TestRightKeyLater(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{})
	args := runLeakage(s, writeSuite(t, 2), filepath.Join(t.TempDir(), "run"))
	start(t, []string{"CROSSTALK_API_KEY=sk-wrong-0123456789"}, args...).expect(2)
	start(t, nil, args...).expect(0)
	askedOnce(t, s, 20)
}

// Where nothing listens, or no host is, the command says so after a few quick
// tries.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	url := "http://" + l.Addr().String() + "/v1"
	start(t, nil, "run", "leakage", "--model", "compatible:m", "--base-url", url, "--out", filepath.Join(t.TempDir(), "run")).
		expect(2, "nothing listens at "+url+": check that the server runs, and the base URL")
}

// A server that goes away in the middle makes asks fail, which are asked for
// again when it is back.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	s, n := counting(t, testserver.Options{Latency: 20 * time.Millisecond})
	suite, out := writeSuite(t, 6), filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, suite, out, "--concurrency", "4", "--patience", "2s")
	p := start(t, nil, args...)
	until(t, "answers", func() bool { return n.Load() >= 20 })
	s.Close()
	p.expect(3, "no answer since", "nothing listens at", "run the same command again to resume")
	again, err := testserver.Listen(strings.TrimPrefix(s.URL, "http://"), testserver.Options{Key: apiKey})
	if err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	defer again.Close()
	start(t, nil, args...).expect(0)
	if both := s.Stats().Answered + again.Stats().Answered; both < 60 || both > 64 {
		t.Errorf("%d and %d answers to 60 asks", s.Stats().Answered, again.Stats().Answered)
	}
	other := filepath.Join(t.TempDir(), "run")
	start(t, nil, runLeakage(again, suite, other)...).expect(0)
	sameResult(t, out, other)
}

// Asks that fail are counted beside the figures; exit code 3. The same command
// asks for these alone.
func TestFailedAsks(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Seed: 1, Faults: map[testserver.Fault]float64{"500": 0.3}})
	out := filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, writeSuite(t, 4), out, "--retries", "0", "--concurrency", "1")
	p := start(t, nil, args...).expect(3, " of 40 requests failed (the last: compatible:m: "+s.URL+"/v1 failed (HTTP 500", "run the same command again to retry them")
	var document struct{ Estimates []crosstalk.Estimate }
	if err := json.Unmarshal(p.stdout.Bytes(), &document); err != nil || len(document.Estimates) == 0 ||
		document.Estimates[0].Counts["failed"] == 0 {
		t.Errorf("%v\n%s", err, p.stdout.String())
	}
	for range 20 { // each asks for what is left
		if p = start(t, nil, args...); p.code() == 0 {
			break
		}
	}
	p.expect(0)
	askedOnce(t, s, 40)
}

// A budget is kept to, used up, and the same command goes on.
func TestBudgets(t *testing.T) {
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices, []byte("m: {input: 1, output: 1000000}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flags []string
		least int // answers in the first go
		most  int
		says  string
	}{
		"asks": {[]string{"--budget-asks", "30"}, 29, 30, "the next item needs up to 2 more (--budget-asks 30)"},
		"cost": {[]string{"--budget-cost", "400", "--prices", prices}, 15, 95, "more (--budget-cost 400)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, testserver.Options{Latency: 5 * time.Millisecond})
			suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
			bound := []string{"--max-tokens", "20"}
			args := runLeakage(s, suite, out, append(bound, c.flags...)...)
			p := start(t, nil, args...).expect(3, c.says, "run the same command again to resume")
			first := s.Stats().Answered
			if first < c.least || first > c.most || s.Stats().Attempts != first || len(journalled(t, out)) != first {
				t.Errorf("%d asks, %d answers, %d saved", s.Stats().Attempts, first, len(journalled(t, out)))
			}
			// Two runs that are cut by the same budget measure the same items.
			twin := filepath.Join(t.TempDir(), "run")
			start(t, nil, runLeakage(s, suite, twin, append(bound, c.flags...)...)...).expect(3)
			sameResult(t, out, twin)
			// The asks may have been spent before any item had both its answers.
			if figures := p.stdout.String(); !strings.Contains(figures, "items were not measured: stopped") && !strings.Contains(figures, `"estimates": []`) {
				t.Errorf("no warning beside the figures:\n%s", figures)
			}
			goes := 1
			for ; p.code() == 3 && goes < 10; goes++ {
				p = start(t, nil, args...)
			}
			p.expect(0)
			if n := len(journalled(t, out)); n != 100 {
				t.Errorf("%d answers; want 100, each asked for once", n)
			}
			other := filepath.Join(t.TempDir(), "run")
			start(t, nil, runLeakage(s, suite, other, bound...)...).expect(0)
			sameResult(t, out, other)
			t.Logf("%d goes, %d answers in the first", goes, first)
		})
	}
}

// --dry-run asks nothing and writes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{})
	dir := t.TempDir()
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices, []byte("m: {input: 1, output: 2}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, runLeakage(s, writeSuite(t, 10), filepath.Join(dir, "run"), "--dry-run", "--prices", prices, "--samples", "3")...).expect(0)
	for _, line := range []string{"model      compatible:m", "requests   300", "tokens     about 4", "at most 30000 out", "cost       at most 0.06", "directory  " + dir + "/run"} {
		if !strings.Contains(p.stdout.String(), line) {
			t.Errorf("stdout does not say %q:\n%s", line, p.stdout.String())
		}
	}
	p2 := start(t, nil, "run", "leakage", "--dry-run").expect(0)
	for _, instrument := range []string{"leakage", "confusion", "consistency"} { // nothing is asked, so it needs no key
		args := []string{"run", instrument, "--model", "openai:m"}
		start(t, []string{"OPENAI_API_KEY="}, append(args, "--dry-run")...).expect(0)
		start(t, []string{"OPENAI_API_KEY="}, args...).expect(2, "OPENAI_API_KEY is not set")
	}
	for _, d := range []string{dir, p.cmd.Dir, p2.cmd.Dir} {
		if entries, err := os.ReadDir(d); err != nil || len(entries) != 0 {
			t.Errorf("%s: %v, %v", d, entries, err)
		}
	}
	if got := s.Stats().Attempts; got != 0 || p.stderr.String() != "" {
		t.Errorf("%d asks; stderr %q", got, p.stderr.String())
	}
}

// Directories that are not for this run are refused, with nothing asked and
// nothing changed.
func TestRefusedDirectories(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{})
	suite := writeSuite(t, 2)
	good := filepath.Join(t.TempDir(), "run")
	start(t, nil, runLeakage(s, suite, good)...).expect(0)
	asked := s.Stats().Attempts
	for name, c := range map[string]struct {
		prepare func(out string) error
		more    []string
		says    string
	}{
		"other plan":   {nil, []string{"--temperature", "0.7"}, " has a run with other settings: its temperature is 0, not 0.7: use another --out, or the settings of that run"},
		"other suite":  {nil, []string{"--suite", "leakage-en"}, "its suite is \"test@"},
		"other prefix": {nil, []string{"--prefix", "Go on: "}, `its prefix is "", not "Go on: "`},
		"newer journal": {func(out string) error {
			c, err := sqlite3.Open("file:" + filepath.Join(out, "answers.db"))
			if err != nil {
				return err
			}
			defer c.Close()
			return c.Exec("PRAGMA user_version = 99")
		}, nil, "answers.db: was written by a newer crosstalk (journal version 99, this one reads 5): update crosstalk, or use another --out"},
		"damaged journal": {func(out string) error {
			return os.WriteFile(filepath.Join(out, "answers.db"), []byte(strings.Repeat("no journal ", 1000)), 0o666)
		}, nil, "answers.db: is not a readable journal: move it away, or use another --out"},
		"newer manifest": {func(out string) error {
			return os.WriteFile(filepath.Join(out, "manifest.json"), []byte(`{"schema":"crosstalk/run/v9"}`), 0o666)
		}, nil, `manifest.json: unknown schema "crosstalk/run/v9"`},
		"somebody's": {func(out string) error {
			if err := os.RemoveAll(out); err != nil {
				return err
			}
			if err := os.Mkdir(out, 0o777); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(out, "thesis.tex"), nil, 0o666)
		}, nil, "is not empty and not a run directory (thesis.tex): use another --out"},
		"a file": {func(out string) error {
			if err := os.RemoveAll(out); err != nil {
				return err
			}
			return os.WriteFile(out, nil, 0o666)
		}, nil, "is a file; expected a directory: use another --out"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(out, os.DirFS(good)); err != nil {
				t.Fatal(err)
			}
			if c.prepare != nil {
				if err := c.prepare(out); err != nil {
					t.Fatal(err)
				}
			}
			before := listing(t, out)
			p := start(t, nil, runLeakage(s, suite, out, c.more...)...).expect(2, out, c.says)
			if n := strings.Count(p.stderr.String(), "\n"); n != 1 {
				t.Errorf("%d lines on stderr; want one", n)
			}
			if after := listing(t, out); before != after {
				t.Errorf("changed:\n%s\n%s", before, after)
			}
			if s.Stats().Attempts != asked {
				t.Error("the model was asked")
			}
		})
	}
}

// listing is names and contents of a directory, or of a file.
func listing(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		return readFile(t, path)
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %x\n", e.Name(),
			crosstalk.KeyOf(crosstalk.Identity{}, crosstalk.Request{Prompt: readFile(t, path, e.Name())}).String()[:8])
	}
	return b.String()
}

// Flags out of range are named, and nothing is made.
func TestFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CROSSTALK_API_KEY", apiKey)
	for _, flag := range []string{"--concurrency=0", "--rpm=-1", "--retries=-1", "--budget-asks=0", "--budget-cost=0",
		"--budget-cost=NaN", "--budget-cost=-1", "--timeout=0s", "--timeout=-1m", "--samples=0", "--max-tokens=0", "--temperature=warm", "--temperature=-1",
		"--temperature=NaN", "--top-p=0", "--top-p=1.1", "--param=x", "--prices=none.yaml", "--similarity=none", "--format=xml", "--protocol=mine"} {
		var stdout, stderr strings.Builder
		code := execute([]string{"run", "leakage", "--model", "compatible:m", "--base-url", "http://127.0.0.1:1/v1", flag}, &stdout, &stderr)
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if text := stderr.String(); code != exitUsage || !strings.Contains(text, name) && !strings.Contains(text, value) ||
			strings.Count(text, "\n") > 2 {
			t.Errorf("%s: exit code %d, stderr:\n%s", flag, code, text)
		}
		if entries, _ := os.ReadDir("."); len(entries) != 0 {
			t.Errorf("%s: %v was made", flag, entries)
		}
	}
}

// Progress is plain lines where there is no terminal, with what went wrong
// last, and nothing with --quiet.
func TestProgress(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		t.Run(fmt.Sprint(quiet), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, testserver.Options{FailFirst: 1, Latency: 300 * time.Millisecond})
			args := runLeakage(s, writeSuite(t, 1), filepath.Join(t.TempDir(), "run"), "--concurrency", "2")
			if quiet {
				args = append(args, "--quiet")
			}
			p := start(t, nil, args...).expect(0)
			if quiet {
				if p.stderr.String() != "" {
					t.Errorf("stderr:\n%s", p.stderr.String())
				}
				return
			}
			lines := strings.Split(p.stderr.String(), "\n")
			if !strings.HasPrefix(lines[0], "request failed: compatible:m: "+s.URL+"/v1 failed (HTTP 500") ||
				!strings.Contains(lines[1], "/10 requests") || !strings.Contains(lines[1], " retries") ||
				strings.ContainsAny(p.stderr.String(), "\r\x1b") {
				t.Errorf("stderr:\n%q", p.stderr.String())
			}
		})
	}
}
