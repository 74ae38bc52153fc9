package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	standard "log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"crosstalk/ask/journal"
	"crosstalk/internal/testing/testserver"
)

// A test binary that is started with this variable is the command. What can be
// killed and interrupted is a process, and this is the cheapest one.
const asCommand = "CROSSTALK_TEST_COMMAND"

// graceVariable sets grace in it.
const graceVariable = "CROSSTALK_TEST_GRACE"

func init() {
	batchPoll, batchSettle = 20*time.Millisecond, time.Second
	if d, err := time.ParseDuration(os.Getenv(graceVariable)); err == nil {
		grace = d
	}
	if os.Getenv(asCommand) != "" {
		os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Setenv("AZURE_OPENAI_API_KEY", apiKey) // Azure asks for one at any address; here, so that tests run side by side
}

// process is a crosstalk that was started.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr lockedBuffer
	ended  chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const apiKey = "sk-test-0123456789abcdefghij"

// start starts the command in a directory of its own, with nothing in its
// environment but what env says, which stands before apiKey.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{})}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append([]string{asCommand + "=1", fmt.Sprint("GOGC=", fewerCollections), "HOME=" + p.cmd.Dir,
		"PATH=" + os.Getenv("PATH"), "CROSSTALK_API_KEY=" + apiKey}, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.ended })
	return p
}

// patience is how long a command may take that does not hang. None takes more
// than some seconds, but a busy machine may have no time for it.
const patience = 5 * time.Minute

// code waits for the end and returns the exit code, -1 for a kill.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.ended
		p.t.Fatalf("the command hangs; stderr:\n%s", p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// over reports whether the command has ended.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// expect waits for the end and checks the exit code and what stands on stderr,
// in any order.
func (p *process) expect(code int, says ...string) *process {
	p.t.Helper()
	if got := p.code(); got != code {
		p.t.Errorf("exit code %d; want %d", got, code)
	}
	for _, s := range says {
		if !strings.Contains(p.stderr.String(), s) {
			p.t.Errorf("stderr does not say %q", s)
		}
	}
	if code != 0 && code != exitGate && code != exitIncomplete && p.stdout.Len() > 0 {
		p.t.Errorf("exit code %d and a result:\n%s", code, p.stdout.String())
	}
	if strings.Contains(p.stdout.String()+p.stderr.String(), apiKey[:12]) {
		p.t.Error("the API key is shown")
	}
	if p.t.Failed() {
		p.t.Logf("%s\nstderr:\n%s", strings.Join(p.cmd.Args[1:], " "), p.stderr.String())
	}
	return p
}

// until waits for a condition of the world outside the command.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(3 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// settings are the arguments that name a file with these lines.
func settings(t *testing.T, lines ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config", file}
}

// runLeakage are the arguments of a run over a suite against a server.
func runLeakage(s *testserver.Server, suite, out string, more ...string) []string {
	return append([]string{"run", "leakage", "--model", "compatible:m", "--base-url", s.URL + "/v1", "--suite", suite, "--out", out, "--format", "json"}, more...)
}

// newServer is a server that wants apiKey.
func newServer(t *testing.T, o testserver.Options) *testserver.Server {
	o.Key = apiKey
	s := testserver.New(o)
	t.Cleanup(s.Close)
	return s
}

// writeSuite writes a suite of groups x 9 tests, each group with one control:
// groups x 10 prompts.
func writeSuite(t *testing.T, groups int) string {
	t.Helper()
	concepts := []string{"bread", "rain", "music", "train", "apple", "winter", "garden", "honey", "letter"}
	var b strings.Builder
	b.WriteString("suite: test\ninstrument: leakage\nversion: 1\nlanguage: en\nitems:\n")
	for g := range groups {
		for _, c := range concepts {
			fmt.Fprintf(&b, "  - {id: %s-%d, category: %s, cluster: c%d, concept: %s, test: \"Number %d likes %s. He has\", control: \"Number %d. He has\"}\n",
				c, g, c[:1], g, c, g, c, g)
		}
	}
	file := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// journalled returns the raw answers that a run's journal holds. The run is
// dead or alive.
func journalled(t *testing.T, out string) []journal.Record {
	t.Helper()
	j, err := journal.OpenReader(filepath.Join(out, "answers.db"))
	if err != nil {
		return nil // killed before there was one
	}
	defer j.Close()
	var records []journal.Record
	for r, err := range j.All() {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameResult checks that two runs came to the same figures, observations
// included, byte for byte.
func sameResult(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"estimates.json", "observations.jsonl", "manifest.json"} {
		x, y := readFile(t, a, name), readFile(t, b, name)
		if x != y || len(x) < 100 {
			t.Errorf("%s differs: %d and %d bytes", name, len(x), len(y))
		}
	}
}

// noKey checks that no file of a directory holds a part of apiKey.
func noKey(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if strings.Contains(readFile(t, path), apiKey[:12]) {
			t.Errorf("%s holds the API key", path)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files searched for the key: %v", files, err)
	}
}

// What files and servers say cannot control the terminal, and no password is
// printed with the URL that has it.
func TestPrintable(t *testing.T) {
	var out, log bytes.Buffer
	if code := execute([]string{"run", "leakage", "--config=", "--out", t.TempDir(), "--model", "compatible:m@http://u:hunter2@h/\x1b[2J"}, &out, &log); code != exitUsage ||
		strings.Contains(log.String(), "hunter2") || strings.Contains(log.String(), "\x1b") || !strings.Contains(log.String(), "[hidden]@h") {
		t.Errorf("%d %q", code, log.String())
	}
	if standard.Writer() != io.Discard {
		t.Error("packages can write to stderr")
	}
}
