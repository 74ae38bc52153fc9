//go:build unix

package ollama

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"crosstalk"
)

type check struct {
	name  string
	gated bool
	check func(*trial)
}

// checks returns all checks, in order. The main ones are done twice, the second time through the gateway.
func checks() []check {
	main := []check{
		{"leakage", false, instrument("leakage")},
		{"confusion", false, instrument("confusion")},
		{"consistency", false, instrument("consistency")},
		{"logprobs", false, logprobs},
		{"kill -9 of crosstalk, resume", false, killed},
		{"kill -9 of the server, restart", false, func(t *trial) { away(t, 12*time.Second) }},
		{"outage", false, func(t *trial) { away(t, outage) }},
	}
	all := append(main[:len(main):len(main)],
		check{"missing model", false, fails([]string{"--model", "ollama:nosuch"}, 2,
			`has no model "nosuch"`, "ollama pull nosuch")},
		check{"impossible model name", false, fails([]string{"--model", "ollama:Bad/Name/x:y:z"}, 2, "HTTP 400")},
		check{"model that cannot be loaded", false, broken},
		check{"base URL without /v1", false, func(t *trial) { fails([]string{"--base-url", t.url()}, 2, "the base URL")(t) }},
		check{"nothing listens", false, fails([]string{"--base-url", "http://127.0.0.1:9/v1"}, 2, "nothing listens at")},
		check{"logprobs 30", false, func(t *trial) {
			p := t.start(t.asks("confusion", "--logprobs", "30")...)
			t.ends(p, 0, "logprobs 30 is not sent") // Ollama gives at most 20
			t.answered(items)
			t.note("%s", mentions(p, "logprobs 30"))
		}},
		check{"logprobs of completions", false, completions},
		check{"two models, a queue of 4", false, twoModels},
		check{"seed", false, seed},
		check{"system message", false, system},
		check{"prompts cut by the server", false, cut},
		check{"empty answers", false, empty},
		check{"server does not come back", false, gone},
		check{"Ctrl-C", false, interrupted},
		check{"budget", false, budget},
		check{"embeddings", false, func(t *trial) {
			t.ends(t.start(t.asks("leakage", "--similarity", "gloss,ollama:tiny@"+t.url()+"/v1")...), 0, "ollama:tiny")
			t.answered(items)
			t.measured()
		}},
		check{"Anthropic's API", false, func(t *trial) {
			t.ends(t.start(t.asks("leakage", "--model", "anthropic:tiny")...), 0)
			t.answered(items)
			t.measured()
		}},
		check{"models, models --check", false, func(t *trial) {
			t.ends(t.start("models", "ollama:", "--base-url", t.url()+"/v1"), 0, "tiny")
			t.ends(t.start("models", "ollama:tiny", "--check", "--base-url", t.url()+"/v1"), 0, "tiny")
		}},
		check{"gateway, no header", false, func(t *trial) {
			fails([]string{"--base-url", t.gateway + "/v1"}, 2, "x-gateway-route header is required")(t)
		}},
	)
	for _, c := range main {
		all = append(all, check{"gateway, " + c.name, true, c.check})
	}
	return all
}

func instrument(name string) func(*trial) {
	return func(t *trial) {
		t.ends(t.start(t.asks(name)...), 0)
		t.answered(items)
		t.measured()
		if !t.gated {
			return
		}
		filepath.WalkDir(t.out, func(path string, _ os.DirEntry, _ error) error {
			b, _ := os.ReadFile(path) // nothing, of a folder
			t.expect(!bytes.Contains(b, []byte(gatewayKey)), "%s has the gateway's key", filepath.Base(path))
			return nil
		})
	}
}

// logprobs compares what the journal has with the model's own table.
func logprobs(t *trial) {
	t.ends(t.start(t.asks("confusion", "--logprobs", "20", "--temperature", "1.5")...), 0, "entropy")
	t.answered(items)
	tokens, worst := 0, 0.0
	for _, r := range t.records() {
		t.expect(len(r.Answer.Logprobs) > 0, "an answer has no log probabilities")
		for i, p := range r.Answer.Logprobs {
			if i == 0 {
				continue // follows the prompt
			}
			before, known := t.chain.id[r.Answer.Logprobs[i-1].Token]
			this, also := t.chain.id[p.Token]
			if known && also {
				tokens++
				worst = max(worst, math.Abs(p.Logprob-t.chain.next[before][this]))
			}
		}
	}
	t.note("%d tokens, at most %.1g nats from the model's table", tokens, worst)
	t.expect(tokens >= 2*items && worst < 0.01, "want many tokens within 0.01 nats")
}

// many makes a run last.
var many = []string{"--samples", "5", "--temperature", "1"}

// killed kills crosstalk and asks again: what was saved is not asked again.
func killed(t *trial) {
	p := t.start(t.asks("leakage", many...)...)
	t.until(items)
	p.Process.Kill()
	p.Wait()
	saved := map[crosstalk.Key]time.Time{}
	for _, r := range t.records() {
		saved[r.Answer.Key] = r.Answer.Time
	}
	t.ends(t.start(t.asks("leakage", many...)...), 0)
	kept := 0
	for _, r := range t.records() {
		if at, ok := saved[r.Answer.Key]; ok && at.Equal(r.Answer.Time) {
			kept++
		}
	}
	t.note("%d saved at the kill, %d reused", len(saved), kept)
	t.expect(kept == len(saved), "saved answers were asked for again")
	t.answered(5 * items)
	t.measured()
}

// away kills the server in the middle of a run and starts it later. No ask may fail.
func away(t *trial, d time.Duration) {
	p := t.start(t.asks("leakage", many...)...)
	t.until(items)
	t.server.kill()
	before := len(t.records())
	time.Sleep(d)
	if err := t.server.start(); err != nil {
		t.expect(false, "%v", err)
	}
	t.ends(p, 0)
	t.note("away for %v after %d answers", d, before)
	t.answered(5 * items)
	t.expect(len(t.records()) > before, "the server was killed too late")
	t.measured()
}

// gone kills the server for good: the run stops in time, and continues when the server is back.
func gone(t *trial) {
	p := t.start(t.asks("leakage", append(many, "--patience", "5s")...)...)
	t.until(items)
	t.server.kill()
	start := time.Now()
	t.ends(p, 3, "--patience 5s")
	t.note("stopped %.0f s after the kill with %d answers saved", time.Since(start).Seconds(), len(t.records()))
	t.expect(time.Since(start) < time.Minute, "took longer than a minute to stop")
	if err := t.server.start(); err != nil {
		t.expect(false, "%v", err)
	}
	t.ends(t.start(t.asks("leakage", many...)...), 0)
	t.answered(5 * items)
}

func interrupted(t *trial) {
	p := t.start(t.asks("leakage", many...)...)
	t.until(items)
	p.Process.Signal(syscall.SIGINT)
	t.ends(p, 130, "interrupted")
	t.answered(items)
}

func broken(t *trial) {
	start := time.Now()
	t.ends(t.start(t.asks("leakage", "--model", "ollama:broken")...), 2, "HTTP 500", "attn_q")
	t.note("ended after %.0f s in the server's words, %d answers", time.Since(start).Seconds(), len(t.records()))
	t.expect(time.Since(start) < 3*time.Minute, "took longer than three minutes")
}

// completions checks that crosstalk notices log probabilities that Ollama's completions leave out.
func completions(t *trial) {
	p := t.start(t.asks("confusion", "--api", "completions", "--logprobs", "5")...)
	t.ends(p, 0, "log probabilities")
	t.answered(items)
	t.note("%s", mentions(p, "log probabilities"))
}

// mentions returns the first line with a word.
func mentions(p *process, word string) string {
	for line := range strings.Lines(p.stderr.String() + p.stdout.String()) {
		if strings.Contains(line, word) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func twoModels(t *trial) {
	t.ends(t.start(t.asks("leakage", "--model", "ollama:tiny,ollama:twin", "--concurrency", "32")...), 0)
	t.answered(2 * items)
	t.measured()
}

// seed runs the same twice.
func seed(t *trial) {
	texts, same, first := map[crosstalk.Key]string{}, 0, t.out
	for _, t.out = range []string{first, first + "again"} {
		t.ends(t.start(t.asks("leakage", "--seed", "3", "--temperature", "1")...), 0)
		for _, r := range t.records() {
			key := r.Answer.Key
			if text, ok := texts[key]; ok && text == r.Answer.Text {
				same++
			}
			texts[key] = r.Answer.Text
		}
	}
	t.note("%d of %d texts are equal in two runs", same, len(texts))
	t.expect(same == len(texts) && same >= items, "want all equal")
}

func system(t *trial) {
	tokens := func() (n int) {
		for _, r := range t.records() {
			n += r.Answer.Usage.Prompt
		}
		return n
	}
	t.ends(t.start(t.asks("leakage")...), 0)
	without := tokens()
	t.out += "system"
	t.ends(t.start(t.asks("leakage", "--system", "Write as a poet would.")...), 0)
	t.note("%d prompt tokens without, %d with", without, tokens())
	t.expect(tokens() > without+10*items, "the system message did not arrive")
}

func cut(t *trial) {
	p := t.start(t.asks("leakage", "--items", "4", "--system", strings.Repeat("Answer in few words. ", 300))...)
	t.ends(p, 0, "cut")
	t.note("%s", mentions(p, "cut"))
}

func empty(t *trial) {
	p := t.start(t.asks("leakage", "--param", `stop=[" "]`)...)
	t.ends(p, 2, "answers are all empty")
	t.note("%d asked; %s", len(t.records()), mentions(p, "all empty"))
	t.expect(len(t.records()) <= 8, "want at most 8 asks")
}

// budget runs two models to the same limit: they share their items.
func budget(t *trial) {
	prompts := map[string]int{}
	first := t.out
	for _, model := range []string{"tiny", "twin"} {
		t.out = first + model
		t.ends(t.start(t.asks("leakage", "--model", "ollama:"+model, "--budget-asks", fmt.Sprint(items))...), 3)
		for _, r := range t.records() {
			prompts[fmt.Sprint(r.Request.Messages, r.Request.Prompt)]++
		}
	}
	shared := 0
	for _, n := range prompts {
		if n == 2 {
			shared++
		}
	}
	t.note("%d prompts are asked of both models", shared)
	t.expect(shared == items, "want %d", items)
}

// fails makes a check that a run with these flags ends with an exit code and words, without an answer.
func fails(flags []string, code int, words ...string) func(*trial) {
	return func(t *trial) {
		p := t.start(t.asks("leakage", flags...)...)
		t.ends(p, code, words...)
		t.note("%s", mentions(p, words[0]))
		for _, r := range t.records() {
			t.expect(r.Answer.Status == crosstalk.Failed, "an answer of status %s", r.Answer.Status)
		}
	}
}
