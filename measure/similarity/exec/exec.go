// Package exec gets scores from a program of the user: COMET, BLEURT, or any other scorer.
//
// The program is started once and reads one JSON object per line:
//
//	{"id": 0, "a": "concept", "b": "answer"}
//
// (for a translation, a is the text to judge, b the reference, and an additional "source" the text that was translated)
// and writes one for each, in any order:
//
//	{"id": 0, "score": 0.83}
//
// A score of null means that there is none. {"id": 0, "error": "..."} ends the measurement. If the program fails, its
// stderr is shown. It should exit at the end of its input. It sees the environment without API keys (Options).
package exec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk/internal/duration"
	"crosstalk/measure/similarity"
)

// Scorer is a running program. It is safe for concurrent use; calls take turns. Close it when done.
type Scorer struct {
	command string
	words   []string // of the command
	options Options

	mu      sync.Mutex
	next    int // the next id
	process *process
	failed  error
}

type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte // of stdout; closed at its end
	stderr *tail
	hidden []string // environment variables that the program does not see
}

// DefaultTimeout is the maximum time for one answer, including the start of the program: large models load slowly.
const DefaultTimeout = 5 * time.Minute

// New returns a scorer that runs command, split at white space into words; quotes keep words together. It does not
// start the program. A program that does not answer in time is terminated.
func New(command string, o Options) (*Scorer, error) {
	words, err := split(command)
	if err != nil {
		return nil, fmt.Errorf("exec:%s: %w", command, err)
	}
	if len(words) == 0 {
		return nil, errors.New("exec: expected a command, as in exec:./score.py")
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fmt.Errorf("exec:%s: cannot be run: %w", command, err)
	}
	for _, name := range o.Show { // it may be misspelled
		if _, set := os.LookupEnv(name); !set {
			return nil, fmt.Errorf("exec:%s: cannot pass on the environment variable %q: it is not set", command, name)
		}
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return &Scorer{command: command, words: words, options: o}, nil
}

// Name is the command. The signature contains nothing else about the program, so a command should include its version.
func (s *Scorer) Name() string { return "exec:" + strings.ReplaceAll(s.command, "|", "/") }

// Scores implements similarity.Similarity.
func (s *Scorer) Scores(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return nil, s.failed
	}
	if s.process == nil {
		if s.process, s.failed = s.start(); s.failed != nil {
			return nil, s.failed
		}
	}
	scores, err := s.exchange(ctx, pairs)
	if err == nil {
		return scores, nil
	}
	p := s.process
	s.process = nil
	p.cmd.Process.Kill() // late answers must not reach a later call
	ended := p.end()
	if ctx.Err() != nil {
		return nil, err
	}
	select { // only then has all that it wrote been read
	case <-ended:
	case <-time.After(10 * time.Second):
	}
	s.failed = fmt.Errorf("exec:%s: %w", s.command, err)
	if said := p.stderr.String(); said != "" {
		s.failed = fmt.Errorf("%w; it said:\n%s%s", s.failed, said, hint(said, p.hidden))
	}
	return nil, s.failed
}

// exchange writes all pairs while it reads their scores: a program may answer each at once or wait for many.
func (s *Scorer) exchange(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	first := s.next
	s.next += len(pairs)
	written := make(chan error, 1)
	go func() { written <- write(s.process.in, first, pairs) }()
	scores := make([]float64, len(pairs))
	answered := make([]bool, len(pairs))
	limit := time.NewTimer(s.options.Timeout)
	defer limit.Stop()
	for missing := len(pairs); missing > 0; {
		select {
		case line, open := <-s.process.lines:
			if !open {
				return nil, fmt.Errorf("ended with %d of %d scores missing", missing, len(pairs))
			}
			id, score, err := parse(line)
			if err != nil {
				return nil, err
			}
			i := id - first
			if i < 0 || i >= len(pairs) || answered[i] {
				return nil, fmt.Errorf("answered id %d, which was not asked or answered before: %s", id, line)
			}
			scores[i], answered[i] = score, true
			missing--
			limit.Reset(s.options.Timeout)
		case err := <-written:
			if err != nil {
				return nil, fmt.Errorf("stopped reading: %w", err)
			}
			written = nil
		case <-limit.C:
			return nil, fmt.Errorf("has not answered for %s", duration.Text(s.options.Timeout))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return scores, nil
}

func write(w io.Writer, first int, pairs []similarity.Pair) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i, p := range pairs {
		if err := e.Encode(struct {
			ID     int    `json:"id"`
			A      string `json:"a"`
			B      string `json:"b"`
			Source string `json:"source,omitempty"`
		}{first + i, p.A, p.B, p.Source}); err != nil {
			return err
		}
	}
	return b.Flush()
}

func parse(line []byte) (id int, score float64, err error) {
	var answer struct {
		ID    *int             `json:"id"`
		Score *json.RawMessage `json:"score"`
		Error string           `json:"error"`
	}
	switch err := json.Unmarshal(line, &answer); {
	case err != nil || answer.ID == nil:
		return 0, 0, fmt.Errorf(`wrote %q; expected a line like {"id": 0, "score": 0.83}`, clip(line))
	case answer.Error != "":
		return 0, 0, fmt.Errorf("could not score pair %d: %s", *answer.ID, answer.Error)
	case answer.Score == nil: // null, too: encoding/json leaves the pointer nil
		return *answer.ID, math.NaN(), nil
	}
	if err := json.Unmarshal(*answer.Score, &score); err != nil {
		return 0, 0, fmt.Errorf("wrote %q; the score is not a number", clip(line))
	}
	return *answer.ID, score, nil
}

func clip(line []byte) []byte { return line[:min(len(line), 200)] }

// Close ends the program.
func (s *Scorer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	p := s.process
	s.process = nil
	select {
	case <-p.end():
	case <-time.After(10 * time.Second):
		p.cmd.Process.Kill()
	}
	return nil
}

const maxLine = 1 << 20 // the maximum length of a line from the program, in bytes

func (s *Scorer) start() (p *process, err error) {
	p = &process{cmd: exec.Command(s.words[0], s.words[1:]...), lines: make(chan []byte, 64), stderr: &tail{}}
	p.cmd.Stderr = p.stderr
	p.cmd.Env, p.hidden = s.options.environ(os.Environ())
	p.cmd.WaitDelay = time.Second
	var out io.ReadCloser
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		if out, err = p.cmd.StdoutPipe(); err == nil {
			err = p.cmd.Start()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("exec:%s: cannot be run: %w", s.command, err)
	}
	go func() {
		defer close(p.lines)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
				p.lines <- bytes.Clone(line)
			}
		}
	}()
	return p, nil
}

// end closes the program's input, and the channel when the program has ended and all its output has been read.
func (p *process) end() <-chan struct{} {
	p.in.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range p.lines {
		}
		p.cmd.Wait()
	}()
	return ended
}

// tail keeps the end of its input.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(t.text)), "\ufffd")
}

// split splits a command line into words; single and double quotes keep white space in a word.
func split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// Options control how a program is run; the zero value has defaults.
type Options struct {
	// Timeout is the maximum time for one answer; 0: DefaultTimeout.
	Timeout time.Duration
	// Hide are environment variables that the program does not see, besides those with names of secrets (environ).
	Hide []string
	// Show are environment variables that it sees nevertheless. Each must be set.
	Show []string
}

// secretName matches the names of variables with keys, tokens and passwords, as in OPENAI_API_KEY,
// AWS_SECRET_ACCESS_KEY, HF_TOKEN and PGPASSWORD.
var secretName = regexp.MustCompile(`(?i)(^|_)` +
	`(apikey|keys?|tokens?|secrets?|credentials?|[a-z]*password|passwd|passphrase)(_|$)`)

// environ splits an environment (NAME=VALUE) into what a program sees and the names of the variables that it does not.
func (o Options) environ(all []string) (seen, hidden []string) {
	has := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
	}
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if !has(o.Show, name) && (has(o.Hide, name) || secretName.MatchString(name)) {
			hidden = append(hidden, name)
			continue
		}
		seen = append(seen, variable)
	}
	return seen, hidden
}

// hint tells of hidden variables that a program's message mentions.
func hint(said string, hidden []string) string {
	for _, name := range hidden {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(said) {
			return fmt.Sprintf("\n(programs do not see %s unless --exec-env %[1]s passes it)", name)
		}
	}
	return ""
}
