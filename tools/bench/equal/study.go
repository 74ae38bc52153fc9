//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/multisense"
	"crosstalk/tools/internal/bench"
)

// A study is a run that both programs make.
type study struct {
	args  []string // but for --out
	timed bool     // its cost is compared, too
}

// name is the command line with the files' names alone.
func (s study) name() string {
	words := make([]string, len(s.args))
	for i, a := range s.args {
		words[i] = a
		switch {
		case a == "":
			words[i] = `""`
		case filepath.IsAbs(a):
			words[i] = filepath.Base(a)
		}
	}
	return strings.Join(words, " ")
}

// run makes the run in the folder out, or without --out if that is empty. In dir there is no crosstalk.yaml.
func (s study) run(program, dir, out string) (bench.Cost, error) {
	c := exec.Command(program, s.args...)
	if out != "" {
		c.Args = append(c.Args, "--out", out)
	}
	var complaint bytes.Buffer
	c.Dir, c.Stderr = dir, &complaint
	cost, err := bench.Run(c)
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		err = fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return cost, err
}

// studies lists all runs that the reference data allow, and those of reference models, each with a few groupings. It
// writes the files that they need into dir.
func studies(shared, dir string) ([]study, error) {
	shared, err := filepath.Abs(shared)
	if err != nil {
		return nil, err
	}
	file := func(name string) string {
		path := filepath.Join(shared, "data", name)
		if _, missing := os.Stat(path); missing != nil && err == nil {
			err = fmt.Errorf("the reference data are not complete (-shared names their folder): %w", missing)
		}
		return path
	}
	var all []study
	add := func(timed bool, args ...string) { all = append(all, study{args, timed}) }

	leakage := []string{"crosstalk-1", "gonen-2024", "smilga-2025"}
	for _, name := range []string{"color_prompts_qwen_05_instr.xlsx", "color_prompts_qwen_3_instr.xlsx",
		"initial_prompts_qwen_05_instr.xlsx", "initial_prompts_qwen_3_instr.xlsx", "smilga_generations.jsonl"} {
		for _, protocol := range leakage {
			add(protocol == "smilga-2025" && name == "smilga_generations.jsonl",
				"score", "leakage", file("leakage/"+name), "--protocol", protocol, "--similarity", "gloss")
		}
	}
	for _, by := range []string{"", "concept", "category,template_id"} {
		add(false, "score", "leakage", file("leakage/smilga_generations.jsonl"),
			"--protocol", strings.Join(leakage, ","), "--by", by)
	}

	confusion := []string{"crosstalk-1", "lcb-paper", "lcb-script"}
	identifier, words := file("lid/lid.176.ftz"), file("lcb/words")
	for _, model := range []string{"command-r-base", "command-r-plus", "gpt-3.5-turbo", "llama-3-instruct"} {
		answers := file("lcb/outputs/" + model + ".csv.gz")
		for _, protocol := range confusion {
			add(false, "score", "confusion", answers, "--protocol", protocol)
			papers := []string{"score", "confusion", answers, "--protocol", protocol, "--lid", identifier}
			if protocol != "crosstalk-1" { // its judgement of words needs no list
				papers = append(papers, "--words", words)
			}
			add(protocol == "lcb-script", papers...)
		}
		for _, by := range []string{"", "language", "task,source"} {
			add(false, "score", "confusion", answers, "--protocol", strings.Join(confusion, ","), "--by", by)
		}
	}

	if err != nil {
		return nil, err
	}

	task, answers, texts, err := pawsX(shared, dir)
	if err != nil {
		return nil, err
	}
	for _, protocol := range []string{"crosstalk-1", "ohmer-2023"} {
		add(false, "score", "consistency", answers, "--task", task, "--protocol", protocol)
		add(protocol == "ohmer-2023", "score", "consistency", answers, "--task", task, "--texts", texts,
			"--protocol", protocol, "--by", "class")
	}

	for _, by := range []string{"category", "", "category,language"} {
		add(false, "run", "leakage", "--protocol", strings.Join(leakage, ","), "--by", by)
	}
	for _, by := range []string{"language,source", "", "task,position"} {
		add(false, "run", "confusion", "--protocol", strings.Join(confusion, ","), "--by", by)
	}
	for _, by := range []string{"", "class"} {
		add(false, "run", "consistency", "--protocol", "crosstalk-1,ohmer-2023", "--by", by)
	}
	return all, nil
}

// pawsX writes PAWS-X as crosstalk reads recorded answers.
func pawsX(shared, dir string) (task, answers, texts string, err error) {
	if err := os.Setenv("CROSSTALK_SHARED", shared); err != nil {
		return "", "", "", err
	}
	err = asTest(func(t testing.TB) { task, answers, texts = multisense.Read(t).Write(t, dir) })
	return task, answers, texts, err
}
