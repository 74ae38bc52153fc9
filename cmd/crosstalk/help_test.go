package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Help of run and score fits 80 columns, and every flag is in a group, those that a
// beginner needs in the first.
func TestHelpOfRunAndScore(t *testing.T) {
	for _, in := range instruments() {
		for _, command := range []string{"run", "score"} {
			root := rootCommand()
			var stdout bytes.Buffer
			root.SetOut(&stdout)
			root.SetArgs([]string{command, in.name, "--help"})
			if err := root.Execute(); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(stdout.String()) {
				if len([]rune(strings.TrimSuffix(line, "\n"))) > helpWidth {
					t.Errorf("%s %s --help: more than %d columns: %s", command, in.name, helpWidth, line)
				}
			}
			c, _, err := root.Find([]string{command, in.name})
			if err != nil {
				t.Fatal(err)
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if group := config.GroupOf(f); !slices.Contains(flagGroups, group) || group == "" && f.Name != "help" &&
					f.Name != config.FileFlag {
					t.Errorf("%s %s: --%s is in group %q of help", command, in.name, f.Name, group)
				}
				if config.Rare(f) == strings.Contains(stdout.String(), " --"+f.Name+" ") {
					t.Errorf("%s %s --help: no --%s, or one for files", command, in.name, f.Name)
				}
			})
			if !strings.Contains(stdout.String(), "\n\n"+often+":\n  -m, --model ") {
				t.Errorf("%s %s --help begins with other flags:\n%s", command, in.name, &stdout)
			}
		}
	}
}

// Every command is in a group of the help.
func TestCommandGroups(t *testing.T) {
	for _, c := range rootCommand().Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}

// Descriptions are of commands that exist, and only once.
func TestDescriptions(t *testing.T) {
	seen := map[string]bool{"crosstalk": true}
	for line := range strings.Lines(descriptions) {
		path, heading := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !heading || path == "crosstalk" {
			continue
		}
		c, rest, err := rootCommand().Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || c.CommandPath() != "crosstalk "+path || seen[path] {
			t.Errorf("%s is no command, or is there twice", path)
		}
		seen[path] = true
		if !strings.HasPrefix(c.Use, c.Name()) || c.Short == "" || c.Example == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: usage %q, short %q, example %q", path, c.Use, c.Short, c.Example)
		}
	}
}

// There are not more commands and flags than one can know.
func TestBreadth(t *testing.T) {
	commands, flags, onRun := 0, map[string]bool{}, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				commands++
				walk(sub)
			}
		}
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		c.InheritedFlags()
		for f := range flagsOf(c) {
			if config.Rare(f) || slices.Contains([]string{"help", "version", config.FileFlag}, f.Name) {
				continue // of all commands
			}
			flags[f.Name] = true
			if c.CommandPath() == "crosstalk run confusion" {
				onRun++
			}
		}
	}
	walk(rootCommand())
	t.Logf("%d commands, %d different flags, %d flags of run confusion", commands, len(flags), onRun)
	if commands > 31 || len(flags) > 90 || onRun > 40 {
		t.Errorf("%d commands, %d different flags, %d flags of run confusion; expected at most 31, 90 and 40", commands, len(flags), onRun)
	}
}
