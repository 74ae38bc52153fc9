package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/reference"
	"crosstalk/suite"
)

var full = flag.Bool("full", false, "ask more, kill more, try every case of every table, and score all recorded answers; "+
	"-v prints the table of TestFamilies")

// long skips a test that takes long.
func long(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("takes long: -full runs it")
	}
}

// inTurn returns element i of a list that is repeated, or the whole list with -full.
func inTurn[T any](i int, list []T) []T {
	if *full {
		return list
	}
	return list[i%len(list):][:1]
}

// served are the families of the test server, each by a model of its provider.
var served = []struct{ profile, model string }{
	{testserver.NoProfile, "openai:gpt-4o-mini"},
	{"o-series", "openai:o4-mini"},
	{"gpt-5", "openai:gpt-5-mini"},
	{"gpt-5.1", "openai:gpt-5.1"},
	{"gpt-6-astra", "azure:gpt-6-astra"},
	{"gpt-5.5", "openai:gpt-5.6-sol"},
	{"gpt-oss", "bedrock:openai.gpt-oss-120b"},
	{"gpt-oss without a parser", "vllm:raw-gpt-oss"},
	{"claude-4.7", "anthropic:claude-opus-4-7"},
	{"claude-4.5", "anthropic:claude-sonnet-4-5"},
	{"claude-5.5", "anthropic:claude-opus-5-5"},
	{"claude-5", "anthropic:claude-sonnet-5"},
	{"gemini-2.5-flash", "gemini:gemini-2.5-flash"},
	{"gemini", "gemini:gemini-3.5-flash"},
	{"mistral-medium-3.5", "mistral:mistral-medium-3.5"},
	{"mistral-small", "mistral:mistral-small-2603"},
	{"mistral", "mistral:mistral-large-2512"},
	{"magistral", "mistral:magistral-medium-2509"},
	{"deepseek", "deepseek:deepseek-v4-pro"},
	{"grok-4.3", "xai:grok-4.3"},
	{"grok", "xai:grok-4.20"},
	{"qwen-open", "qwen:qwen3-32b"},
	{"qwen", "qwen:qwen3.5-plus"},
	{"kimi-k2.6", "moonshot:kimi-k2.6"},
	{"kimi-k3", "moonshot:kimi-k3"},
	{"glm", "zai:glm-5.2"},
	{"minimax", "minimax:MiniMax-M2.7"},
	{"openrouter", "openrouter:openrouter-x"},
	{"groq", "groq:groq-qwen3"},
	{"litellm", "litellm:litellm-x"},
	{"no parser", "vllm:think-x"},
	{"no parser, tag in the template", "vllm:lone-x"},
	{"no system message", "vllm:google/gemma-2-9b-it"},
}

// What a run may cost beyond the answers that it needs: answers to questions
// that were asked wrongly, and requests that the server refused, which cost
// nothing. Four requests go ahead to find out each of three parameters.
const (
	mostUseless = 8
	mostRefused = 12
)

// Every family is measured by each command with no flags but the model and its
// address: under its provider's name, as a model of that name at another server,
// and as one that nobody knows. All items are measured, and the same command
// again asks nothing. Without -full each family is asked by one command, in turn, under two names.
func TestFamilies(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many runs")
	}
	t.Parallel()
	profiles := map[string]bool{}
	for _, s := range served {
		profiles[s.profile] = true
	}
	for _, name := range testserver.Profiles() {
		if !profiles[name] {
			t.Errorf("the profile %q is not measured", name)
		}
	}
	var rows table
	commands := familyCommands(t)
	for n, c := range commands {
		s := newFamilyServer(c, testserver.NoProfile)
		need := s.measure(t, c, "openai:m", t.TempDir())
		s.Close()
		if need.code != 0 || need.items == 0 {
			t.Fatalf("%s: %+v", c.name, need)
		}
		t.Run(c.name, func(t *testing.T) {
			for i, family := range served {
				_, name, _ := strings.Cut(family.model, ":")
				for j, model := range []string{family.model, "compatible:" + name, "compatible:mystery"} {
					if !*full && (j == 1 || (i+j)%len(commands) != n) {
						continue
					}
					t.Run(family.profile+" "+model, func(t *testing.T) {
						t.Parallel()
						s := newFamilyServer(c, family.profile)
						defer s.Close()
						out := t.TempDir()
						got := s.measure(t, c, model, out)
						useless := got.answers - need.answers
						rows.set(i, j, c.name, fmt.Sprintf("%s | %s | %s | %d of %d | %d | %d | %d | %s", family.profile, model, c.name,
							got.items, need.items, useless, got.refused, got.code, strings.Join(got.notes, " · ")))
						if got.code != 0 || got.items != need.items || useless < 0 || useless > mostUseless || got.refused > mostRefused {
							t.Errorf("exit code %d, %d of %d items, %d useless answers, %d refused requests; stderr:\n%s",
								got.code, got.items, need.items, useless, got.refused, got.stderr)
						}
						if again := s.measure(t, c, model, out); again.answers != got.answers || again.items != got.items ||
							again.code != 0 {
							t.Errorf("again: exit code %d, %d of %d items, %d more answers; stderr:\n%s",
								again.code, again.items, got.items, again.answers-got.answers, again.stderr)
						}
					})
				}
			}
		})
	}
	rows.log(t)
}

// familyCommand is a command over a suite, and how models answer it.
type familyCommand struct {
	name   string
	args   []string
	answer func(testserver.Request) testserver.Reply
}

func familyCommands(t *testing.T) []familyCommand {
	confusion, items := confusionSuite(t)
	task := filepath.Join(t.TempDir(), "task.yaml")
	if err := os.WriteFile(task, []byte(smallTask), 0o666); err != nil {
		t.Fatal(err)
	}
	suites := [3][]string{{"--suite", writeSuite(t, 1)}, {"--suite", confusion}, {"--suite", task, "--accept-rewrites"}}
	if *full {
		task = "consistency"
		suites = [3][]string{nil, nil, {"--accept-rewrites"}}
		s, err := suite.LoadFor("confusion", "confusion")
		if err != nil {
			t.Fatal(err)
		}
		items = s.Items.List()
	}
	confused, err := reference.NewConfused(items, reference.Confusion{Line: 0, Word: 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return []familyCommand{
		{"leakage", suites[0], testserver.Continue},
		{"confusion", suites[1], func(r testserver.Request) testserver.Reply {
			a, err := confused.Answer(t.Context(),
				crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: r.Prompt}}})
			if err != nil {
				return testserver.Reply{Text: err.Error()}
			}
			return testserver.Reply{Text: a.Text}
		}},
		{"consistency", suites[2], translator(t, task, reference.Inconsistency{})},
	}
}

// familyServer counts the answers that it makes, those included that it turns
// into an error.
type familyServer struct {
	*testserver.Server
	answers atomic.Int64
}

func newFamilyServer(c familyCommand, profile string) *familyServer {
	s := &familyServer{}
	s.Server = testserver.New(testserver.Options{Profile: profile, Answer: func(r testserver.Request) testserver.Reply {
		s.answers.Add(1)
		// All models give the same answers, whatever they are asked with.
		r.Model, r.Messages, r.Temperature = "m", nil, nil
		r.Prompt = strings.TrimPrefix(r.Prompt, "You are a helpful assistant.\n\n")
		return c.answer(r)
	}})
	return s
}

// familyRun is the result of a run. Answers and requests are the server's so far.
type familyRun struct {
	items, answers, refused, code int
	notes                         []string
	stderr                        string
}

func (s *familyServer) measure(t *testing.T, c familyCommand, model, out string) (r familyRun) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := []string{"run", c.name, "--model", model, "--base-url", s.URL + "/v1", "--out", filepath.Join(out, "run")}
	r.code = execute(append(args, c.args...), &stdout, &stderr)
	r.stderr = stderr.String()
	for line := range strings.Lines(r.stderr) {
		if note, found := strings.CutPrefix(line, "note: "); found {
			r.notes = append(r.notes, strings.TrimSpace(note))
		}
	}
	stats := s.Stats()
	r.answers = int(s.answers.Load())
	r.refused = stats.Attempts - r.answers
	measured := map[string]bool{}
	if r.code == 0 {
		for line := range strings.Lines(readFile(t, out, "run", "observations.jsonl")) {
			var o crosstalk.Observation
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			if o.NotScored == "" {
				measured[o.Item] = true
			}
		}
	}
	r.items = len(measured)
	return r
}

// table collects rows from tests that run side by side.
type table struct {
	mu   sync.Mutex
	rows map[string]string
}

func (t *table) set(family, model int, command, row string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[string]string{}
	}
	t.rows[fmt.Sprintf("%02d %d %s", family, model, command)] = row
}

func (t *table) log(test *testing.T) {
	var b strings.Builder
	b.WriteString("profile | model | command | measured items | useless answers | refused requests | exit code | notes\n")
	for _, key := range slices.Sorted(maps.Keys(t.rows)) {
		b.WriteString(t.rows[key] + "\n")
	}
	test.Log(b.String())
}
