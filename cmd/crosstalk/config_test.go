package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/config"
	"crosstalk/internal/testing/golden"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The manual lists the flags that help only names, as they are declared; -update writes the list.
func TestManualKeys(t *testing.T) {
	const page = "../../docs/config.md"
	commands, about := map[string][]string{}, map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		for f := range flagsOf(c) {
			if config.Rare(f) {
				_, help := pflag.UnquoteUsage(f)
				if _, standard := config.Described(f); standard != "" && standard != "false" {
					help += " (default " + standard + ")"
				}
				commands[f.Name] = append(commands[f.Name], "`"+strings.TrimPrefix(c.CommandPath(), "crosstalk ")+"`")
				about[f.Name] = strings.NewReplacer("|", "\\|", "--check: ", "").Replace(help)
			}
		}
	}
	walk(rootCommand())
	table := "| flag | of | |\n| --- | --- | --- |\n"
	for _, key := range slices.Sorted(maps.Keys(commands)) {
		table += fmt.Sprintf("| `--%s` | %s | %s |\n", key, strings.Join(commands[key], ", "), about[key])
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "names those of a command.\n\n")
	_, after, ends := strings.Cut(rest, "## Shells\n")
	if !found || !ends {
		t.Fatal("no list of keys in " + page)
	}
	golden.Check(t, page, before+"names those of a command.\n\n"+table+"\n## Shells\n"+after)
}

// tried is a flag with values, as written on the command line and in a file.
type tried struct {
	args []string
	yaml string
}

// try makes up values for a flag that are not its default.
func try(f *pflag.Flag) tried {
	values := map[string][]string{
		"bool": {fmt.Sprint(f.DefValue == "false")}, "duration": {"93s"}, "string": {"some text"}, "stringArray": {"a, b", "c"}, "stringSlice": {"some text", "c"},
		"float64": {"0.75"}, "float64Slice": {"0.25", "0.75"}, "int": {"93"}, "intSlice": {"93", "7"}, "int64": {"93"}, "uint": {"93"}, "uint64": {"93"}, "durationSlice": {"93s", "2m"}, "boolSlice": {"true", "false"},
	}[f.Value.Type()]
	if values == nil {
		values = []string{"some text"} // of a type of our own
	}
	if choices := config.ChoicesOf(f); choices != nil {
		values = slices.Clone(choices[len(choices)-1:])
		if _, several := f.Value.(pflag.SliceValue); several {
			values = slices.Clone(choices[max(0, len(choices)-2):])
		}
	}
	var g tried
	for _, v := range values {
		g.args = append(g.args, "--"+f.Name+"="+v)
		if strings.ContainsAny(v, ", ") {
			v = `"` + v + `"`
		}
		g.yaml += ", " + v
	}
	g.yaml = g.yaml[2:]
	if len(values) > 1 {
		g.yaml = "[" + g.yaml + "]"
	}
	return g
}

// state is a flag's state when its command runs.
type state struct {
	value string
	set   bool
}

// runStub executes a command that does nothing and returns what it would have
// found in its flags.
func runStub(t *testing.T, path []string, args ...string) map[string]state {
	t.Helper()
	root := rootCommand()
	c, _, err := root.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Args, c.PreRunE, c.PreRun = nil, nil, nil
	found := map[string]state{}
	c.RunE = func(c *cobra.Command, _ []string) error {
		for f := range flagsOf(c) {
			value := fmt.Sprintf("%q", f.Value)
			if s, several := f.Value.(pflag.SliceValue); several {
				value = fmt.Sprintf("%q", s.GetSlice())
			}
			found[f.Name] = state{value, f.Changed}
		}
		return nil
	}
	for f := range flagsOf(c) { // whether flags are required, or exclude each other, is not the question
		maps.DeleteFunc(f.Annotations, func(key string, _ []string) bool { return strings.HasPrefix(key, "cobra_annotation_") })
	}
	root.SetArgs(append(append([]string{}, path...), args...)) // not nil, which is the arguments of the test
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	if err := root.Execute(); err != nil {
		t.Errorf("%s %s: %v", strings.Join(path, " "), args, err)
	}
	return found
}

func flagsOf(c *cobra.Command) func(func(*pflag.Flag) bool) {
	return func(yield func(*pflag.Flag) bool) {
		more := true
		c.Flags().VisitAll(func(f *pflag.Flag) { more = more && yield(f) })
	}
}

// A file can set every flag of every command, which is then as if the command line had set it.
func TestEveryFlagByFile(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every flag")
	}
	t.Chdir(t.TempDir())
	count := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
		c.InheritedFlags()
		var args, lines []string
		for f := range flagsOf(c) {
			g := try(f)
			if f.Name != config.FileFlag {
				args, lines = append(args, g.args...), append(lines, f.Name+": "+g.yaml)
			}
		}
		count += len(lines)
		if err := os.WriteFile("f.yaml", []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		want, got := runStub(t, path, args...), runStub(t, path, "--config", "f.yaml")
		delete(got, config.FileFlag)
		for name, got := range got {
			if got != want[name] {
				t.Errorf("%s: %s in a file is %v; want %v", c.CommandPath(), name, got, want[name])
			}
		}
	}
	walk(rootCommand(), nil)
	if count < 150 {
		t.Errorf("%d settings were tried; expected some hundreds", count)
	}
}
