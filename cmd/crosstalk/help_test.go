package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/config"

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
				if groupOf(f.Name) == "" {
					t.Errorf("%s %s: --%s is in no group of help", command, in.name, f.Name)
				}
				if !strings.Contains(stdout.String(), " --"+f.Name) {
					t.Errorf("%s %s --help: no --%s", command, in.name, f.Name)
				}
			})
			if !strings.Contains(stdout.String(), "\n\n"+flagGroups[0].title+":\n  -m, --model ") {
				t.Errorf("%s %s --help begins with other flags:\n%s", command, in.name, &stdout)
			}
		}
	}
}

// Every group has flags, and no flag is in two.
func TestFlagGroups(t *testing.T) {
	known := map[string]bool{config.Flag: true, "help": true}
	for _, in := range instruments() {
		in.run().Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		in.score().Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	seen := map[string]bool{}
	for _, group := range flagGroups {
		for _, name := range group.names {
			if !known[name] || seen[name] {
				t.Errorf("--%s of %s is unknown or in two groups", name, group.title)
			}
			seen[name] = true
		}
	}
}

// groupOf is the title of a flag's group; "" if it has none.
func groupOf(name string) string {
	for _, group := range flagGroups {
		if slices.Contains(group.names, name) {
			return group.title
		}
	}
	return ""
}

// Every command is in a group of the help.
func TestCommandGroups(t *testing.T) {
	for _, c := range rootCommand().Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}
