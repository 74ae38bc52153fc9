package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that the manual shows is one that the program takes.
func TestManualCommands(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, file := range append(files, "../../README.md", "../../CHANGELOG.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// Code is what stands between back quotes, a line of it at a time.
		for i, code := range strings.Split(strings.ReplaceAll(string(text), "```", "`"), "`") {
			if i%2 == 0 {
				continue
			}
			for _, line := range strings.Split(code, "\n") {
				line = strings.TrimPrefix(strings.TrimPrefix(line, "go run ./cmd/"), "$ ")
				command, _, _ := strings.Cut(strings.Split(line, "#")[0], "  ") // what follows is a remark
				args := words(command)
				if len(args) < 2 || args[0] != "crosstalk" || strings.HasPrefix(args[1], "RUN") || strings.Contains(line, "|") {
					continue
				}
				commands++
				c, rest, err := rootCommand().Find(args[1:])
				if err == nil {
					err = c.ParseFlags(rest)
				}
				if err == nil && c.HasSubCommands() && len(c.Flags().Args()) > 0 && c.Flags().Args()[0] != "" {
					t.Errorf("%s: %s: %s takes no %s", file, line, c.CommandPath(), c.Flags().Args()[0])
				}
				if err == nil && c.Args != nil {
					err = c.Args(c, c.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: %s: %v", file, line, err)
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands found", commands)
	}
}

// words splits a command line at white space that is not between single quotes.
func words(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
