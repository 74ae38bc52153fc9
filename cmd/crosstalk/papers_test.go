package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
	"crosstalk/internal/testing/multisense"
	"crosstalk/internal/testing/shared"
)

const papersPage = "../../docs/validation/papers.md"

// Every command of docs/validation/papers.md runs, in its order, and prints the table below it.
// Models that are not here are asked in a dry run. -full -update writes the tables.
func TestPapers(t *testing.T) {
	long(t)
	t.Parallel()
	dir := t.TempDir()
	writePapersData(t, dir)
	page, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	commands, tables, printed, last := 0, 0, "", ""
	text := block.ReplaceAllStringFunc(string(page), func(found string) string {
		m := block.FindStringSubmatch(found)
		if m[1] == "" {
			for line := range strings.Lines(m[2]) {
				commands++
				last = strings.TrimSpace(line)
				printed = papersCommand(t, dir, last)
			}
			return found
		}
		tables++
		if got := tableOf(printed); got != m[2] && !*golden.Update {
			t.Errorf("%s prints\n%s\n%s says\n%s", last, got, papersPage, m[2])
		}
		return "```text\n" + tableOf(printed) + "```"
	})
	if commands < 50 || tables < 10 {
		t.Errorf("%d commands and %d tables", commands, tables)
	}
	comparePublished(t, dir)
	if *golden.Update && !t.Failed() {
		if err := os.WriteFile(papersPage, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var block = regexp.MustCompile("(?s)```(text)?\n(.*?)```")

// papersFile matches the arguments that are names of files and folders.
var papersFile = regexp.MustCompile(`^runs/|^(words|figures)$|^[a-z0-9_.-]+\.(csv|gz|yaml|jsonl|ftz|zip|xlsx|txt|html)$`)

// papersCommand runs a command in a folder and returns what it prints.
func papersCommand(t *testing.T, dir, line string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	args := words(line)
	if args[0] != "crosstalk" {
		t.Fatalf("%q is no command of crosstalk", line)
	}
	args = args[1:]
	if args[0] == "run" && !strings.Contains(line, "reference:") && strings.Contains(line, "--model") {
		args = append(args, "--dry-run", "--base-url", "http://localhost:1/v1")
	}
	if args[0] == "annotate" && slices.Contains(args, "--import") {
		fillSheet(t, filepath.Join(dir, args[3]))
	}
	for i, arg := range args { // the folder of the test is that of all packages' tests
		if papersFile.MatchString(arg) {
			args[i] = filepath.Join(dir, arg)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := execute(args, &stdout, &stderr); code != 0 {
		t.Errorf("%s: exit code %d\n%s", line, code, &stderr)
	}
	return stdout.String()
}

// tableOf is the first table that was printed, without its notes.
func tableOf(printed string) string {
	table, _, _ := strings.Cut(printed, "\n  n: ")
	table, _, _ = strings.Cut(table, "\n  signature: ")
	table, _, _ = strings.Cut(table, "\n  ~: ")
	return strings.Trim(table, "\n") + "\n"
}

// fillSheet answers the questions of a sheet, in turn with each label.
func fillSheet(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	label := slices.Index(rows[0], "label")
	for i, row := range rows[1:] {
		row[label] = []string{"A", "B", "neither", "A"}[i%4]
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// writePapersData writes the recorded data under the names of the page.
func writePapersData(t *testing.T, dir string) {
	t.Helper()
	write := func(name string, b []byte, err error) {
		t.Helper()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, answers, _ := multisense.Read(t).Write(t, dir)
	rows, err := os.ReadFile(answers)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(rows)
	z.Close()
	write("paws-x.csv.gz", packed.Bytes(), err)
	for _, file := range []string{"lcb/words", "lcb/test_sets.zip", "lid/lid.176.ftz", "leakage/gonen2024_prompts.txt",
		"leakage/color_prompts_qwen_05_instr.xlsx", "leakage/color_prompts_qwen_3_instr.xlsx",
		"leakage/initial_prompts_qwen_05_instr.xlsx", "leakage/initial_prompts_qwen_3_instr.xlsx",
		"lcb/outputs/command-r-base.csv.gz", "lcb/outputs/command-r-plus.csv.gz", "lcb/outputs/gpt-3.5-turbo.csv.gz",
		"lcb/outputs/llama-3-instruct.csv.gz"} {
		b, err := os.ReadFile(shared.File(t, file))
		write(filepath.Base(file), b, err)
	}
}
