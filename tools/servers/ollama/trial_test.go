//go:build unix

package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
)

// trials is what all checks share.
type trials struct {
	server  *server
	gateway string // its URL
	dir     string
	program string // crosstalk
	chain   *chain
}

// A trial is one check under way.
type trial struct {
	*testing.T
	*trials
	out   string // the run directory
	gated bool   // ask through the gateway
}

func (t *trial) note(format string, args ...any) {
	t.Helper()
	t.Logf(format, args...)
}

// expect complains unless ok.
func (t *trial) expect(ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// A process is a crosstalk under way.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// start starts crosstalk without what the environment may say of keys and settings.
func (t *trial) start(args ...string) *process {
	p := &process{Cmd: exec.Command(t.program, args...)}
	p.Dir, p.Stdout, p.Stderr = t.dir, &p.stdout, &p.stderr
	p.Env = []string{"HOME=" + t.dir, "PATH=" + os.Getenv("PATH"), "GATE_KEY=" + gatewayKey, "ANTHROPIC_API_KEY=none"}
	if err := p.Start(); err != nil {
		t.expect(false, "%v", err)
	}
	return p
}

// ends waits for crosstalk's end and complains unless it has that exit code and says these words.
func (t *trial) ends(p *process, code int, words ...string) {
	p.Wait()
	said := p.stdout.String() + p.stderr.String()
	t.expect(p.ProcessState.ExitCode() == code, "exit %d, not %d: %s", p.ProcessState.ExitCode(), code, last(said, 4))
	for _, w := range words {
		t.expect(strings.Contains(said, w), "%q is not said: %s", w, last(said, 4))
	}
}

func (t *trial) url() string {
	if t.gated {
		return t.gateway
	}
	return "http://" + t.server.address
}

// asks returns a command line that asks the items of an instrument: of tiny, unless more names another model or URL.
func (t *trial) asks(instrument string, more ...string) []string {
	args := []string{"run", instrument, "--items", fmt.Sprint(items), "--out", t.out}
	if !slices.Contains(more, "--model") {
		args = append(args, "--model", "ollama:tiny")
	}
	if !slices.Contains(more, "--base-url") {
		args = append(args, "--base-url", t.url()+"/v1")
	}
	if t.gated {
		args = append(args, "--header", routeHeader+"=ollama", "--header", keyHeader+"=$GATE_KEY")
	}
	if instrument == "consistency" {
		args = append(args, "--to", "paraphrase", "--part", "X")
	}
	return append(args, more...)
}

// records returns what the journal of the run has so far.
func (t *trial) records() (all []journal.Record) {
	j, err := journal.OpenReader(filepath.Join(t.out, journal.Name))
	if err != nil {
		return nil // not yet there
	}
	defer j.Close()
	for r, err := range j.All() {
		if err != nil {
			return nil // being written
		}
		all = append(all, r)
	}
	return all
}

// until waits until the running crosstalk has saved n answers.
func (t *trial) until(n int) {
	for deadline := time.Now().Add(2 * time.Minute); len(t.records()) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.expect(false, "no %d answers in two minutes", n)
			return
		}
	}
}

// answered notes how the answers came. There must be at least n, all with text.
func (t *trial) answered(n int) {
	records, text, again, most := t.records(), 0, 0, 0
	for _, r := range records {
		if r.Answer.Status == crosstalk.Text {
			text++
		}
		if r.Answer.Attempts > 1 {
			again++
		}
		most = max(most, r.Answer.Attempts)
	}
	t.note("%d of %d asks answered, %d after more than one attempt (at most %d)", text, len(records), again, most)
	t.expect(text == len(records) && text >= n, "want text to all of at least %d asks", n)
}

// measured notes the first figure of a run that has a value, and its items: of a model that babbles, the answers in
// some languages cannot be judged.
func (t *trial) measured() {
	b, err := os.ReadFile(filepath.Join(t.out, "estimates.json"))
	var f struct {
		Estimates []struct {
			Measure string
			Value   *float64
			N       int
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	for _, e := range f.Estimates {
		if e.Value != nil {
			t.note("%s %.3f, n %d", e.Measure, *e.Value, e.N)
			return
		}
	}
	t.expect(false, "no figures (%v)", err)
}
