//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"crosstalk/tools/internal/bench"
)

// contender is a program to measure. run asks all prompts of the server at url
// and may write into scratch, an empty folder.
type contender struct {
	name string
	run  func(url, scratch string) (usage, error)
	runs []usage
}

const crosstalkCommand = "crosstalk run leakage --suite {suite} --model openai:test --base-url {url}/v1 --concurrency {concurrency} --out {out}"

// newCrosstalk builds the program; missing says why it cannot be measured.
func newCrosstalk(b *setting, command string) (c *contender, missing string) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil, "-crosstalk is empty"
	}
	if words[0] == "crosstalk" {
		program, err := bench.Program(b.dir)
		if err != nil {
			return nil, err.Error()
		}
		words[0] = program
	}
	return &contender{name: "crosstalk", run: func(url, scratch string) (usage, error) {
		fill := strings.NewReplacer("{suite}", b.path("bench.yaml"), "{url}", url,
			"{concurrency}", fmt.Sprint(b.concurrency), "{out}", filepath.Join(scratch, "run"))
		args := make([]string, len(words))
		for i, w := range words {
			args[i] = fill.Replace(w)
		}
		return execute(scratch, []string{"OPENAI_API_KEY=test"}, args...)
	}}, ""
}

// newPromptfoo gives two contenders: stored keeps answers in promptfoo's
// SQLite file, as it does by default and as crosstalk's journal does; unstored
// writes them to a JSON Lines file at the end instead. Its cache, log files and
// calls home are off, as far as it has switches for them.
func newPromptfoo(b *setting, path string) (stored, unstored *contender, missing string) {
	const how = "; npm install promptfoo@0.121.20 in an empty folder and name it with -promptfoo"
	if path == "" {
		return nil, nil, "no -promptfoo given" + how
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, err.Error()
	}
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err.Error() + how
	} else if info.IsDir() {
		path = filepath.Join(path, "node_modules", ".bin", "promptfoo")
	}
	if _, err := exec.LookPath(path); err != nil {
		return nil, nil, err.Error() + how
	}
	with := func(name string, flags ...string) *contender {
		return &contender{name: name, run: func(url, scratch string) (usage, error) {
			config := filepath.Join(scratch, "promptfooconfig.json")
			if err := os.WriteFile(config, promptfooConfig(b.items, url, b.concurrency), 0o644); err != nil {
				return usage{}, err
			}
			args := []string{path, "eval", "-c", config, "-j", fmt.Sprint(b.concurrency), "--no-cache", "--no-table", "--no-share", "--no-progress-bar"}
			return execute(scratch, []string{
				"PROMPTFOO_CONFIG_DIR=" + filepath.Join(scratch, "promptfoo"),
				"PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1", "PROMPTFOO_DISABLE_REMOTE_GENERATION=1",
				"PROMPTFOO_DISABLE_SHARING=1", "PROMPTFOO_CACHE_ENABLED=false",
				"PROMPTFOO_DISABLE_DEBUG_LOG=1", "PROMPTFOO_DISABLE_ERROR_LOG=1",
				"PROMPTFOO_DISABLE_ADAPTIVE_SCHEDULER=1", // asks at the given concurrency from the start
			}, append(args, flags...)...)
		}}
	}
	return with("promptfoo"), with("promptfoo --no-write", "--no-write", "-o", "answers.jsonl"), ""
}

// execute runs a command to its end.
func execute(dir string, env []string, args ...string) (usage, error) {
	var output bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &output, &output
	cmd.Env = append(os.Environ(), env...)
	cost, err := bench.Run(cmd)
	if err != nil {
		out := output.String()
		return usage{}, fmt.Errorf("%w\n%s", err, out[max(0, len(out)-2000):])
	}
	return usage{Cost: cost}, nil
}
