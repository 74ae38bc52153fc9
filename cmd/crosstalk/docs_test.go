package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// manual returns the texts of the README and of all pages of docs, by path.
func manual(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, file := range append(files, "../../README.md", "../../CHANGELOG.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages[file] = string(text)
	}
	return pages
}

// mentions counts the commands that the manual mentions: lines of blocks and
// code within lines that begin with the program's name. It is there to check
// commandsIn, which has to find them all.
func mentions(text string) (n int) {
	block := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			block = !block
		} else if block {
			n += len(first.FindAllString(line, -1))
		} else {
			n += len(inline.FindAllString(line, -1))
		}
	}
	return n
}

var (
	first  = regexp.MustCompile(`^\s*(\$ |go run (-v )?\./cmd/)?crosstalk [a-z]`)
	inline = regexp.MustCompile("`(\\$ |go run \\./cmd/)?crosstalk [a-z]")
)

// Every command that the manual shows is one that the program takes.
func TestManualCommands(t *testing.T) {
	commands := 0
	for file, text := range manual(t) {
		found := commandsIn(text)
		commands += len(found)
		if n := mentions(text); len(found) != n {
			t.Errorf("%s mentions %d commands, and %d were found in it: %q", file, n, len(found), found)
		}
		for _, command := range found {
			c, rest, err := rootCommand().Find(words(command)[1:])
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil && c.HasSubCommands() && c.Use == c.Name() && len(c.Flags().Args()) > 0 && c.Flags().Args()[0] != "" {
				t.Errorf("%s: %s: %s takes no %s", file, command, c.CommandPath(), c.Flags().Args()[0])
			}
			if err == nil && c.Args != nil {
				err = c.Args(c, c.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", file, command, err)
			}
		}
	}
	t.Logf("%d commands", commands)
	if commands < 85 {
		t.Errorf("the manual shows only %d commands", commands)
	}
}

// commandsIn returns the commands in code, which stands between back quotes, a
// line of it at a time, without remarks and what their output is piped into.
func commandsIn(text string) (commands []string) {
	for i, code := range strings.Split(strings.ReplaceAll(text, "```", "`"), "`") {
		if i%2 == 0 {
			continue
		}
		for line := range strings.Lines(code) {
			line = strings.TrimPrefix(strings.TrimPrefix(strings.Replace(strings.TrimSpace(line), "run -v", "run", 1), "$ "), "go run ./cmd/")
			for _, end := range []string{"#", "  ", " | ", " > "} {
				line, _, _ = strings.Cut(line, end)
			}
			if args := words(line); len(args) > 1 && args[0] == "crosstalk" && strings.ToLower(args[1]) == args[1] {
				commands = append(commands, line)
			}
		}
	}
	return commands
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

// example is a command with its output: a paragraph that ends in "`crosstalk
// ...` prints:", or "prints, among other rows:", and a block.
var example = regexp.MustCompile("`(crosstalk [^`]+)`\\s+prints(, among other rows)?:\n\n```[a-z]*\n((?s:.*?))```\n")

// What the manual says a command prints is what it prints: all of it, or lines
// of it in this order. The commands run where there is nothing but their own
// run directories.
func TestManualExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("checks documents")
	}
	examples := 0
	for file, text := range manual(t) {
		for _, m := range example.FindAllStringSubmatch(text, -1) {
			command, some, want := m[1], m[2] != "", m[3]
			examples++
			t.Run(command, func(t *testing.T) {
				t.Chdir(t.TempDir())
				var stdout, stderr bytes.Buffer
				if code := execute(append(words(command)[1:], "--quiet"), &stdout, &stderr); code != 0 && code != exitIncomplete {
					t.Fatalf("%s: exit code %d\n%s", file, code, &stderr)
				}
				rest := stdout.String()
				if !some && rest != want {
					t.Fatalf("%s says:\n%s\nit prints:\n%s", file, want, rest)
				}
				for line := range strings.Lines(want) {
					_, after, found := strings.Cut("\n"+rest, "\n"+line)
					if !found {
						t.Fatalf("%s says:\n%s\nit prints no line\n%s, or not in this place; it prints:\n%s", file, want, line, &stdout)
					}
					rest = after
				}
			})
		}
	}
	if examples == 0 {
		t.Error("the manual shows no command with its output")
	}
}
