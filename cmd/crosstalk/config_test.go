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
	"crosstalk/internal/golden"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What docs has is what init writes; package config checks that the file suits the
// schema.
func TestPublishedSchema(t *testing.T) {
	root := rootCommand()
	for name, want := range map[string][]byte{schemaFile: configSchema(root), standardConfig: newConfig(root)} {
		golden.Check(t, "../../docs/"+name, string(want))
	}
}

// The manual's example is one that the commands take.
func TestManualConfig(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(example, "```")
	if _, err := config.Parse("config.md", []byte(example), rootCommand(), insteadOf); err != nil || !found {
		t.Errorf("%v: %q", err, example)
	}
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

// Every flag of every command can be set by a file, under the command, under
// its group and at the top, and is then as if the command line had set it.
func TestEveryFlagByFile(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every flag")
	}
	t.Chdir(t.TempDir())
	tried := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			if sub.Name() != "init" { // which writes the file
				walk(sub, append(slices.Clone(path), sub.Name()))
			}
		}
		c.InheritedFlags()
		var args, lines []string
		for f := range flagsOf(c) {
			if !f.Hidden && f.Name != config.FileFlag {
				g := try(f)
				args, lines = append(args, g.args...), append(lines, f.Name+": "+g.yaml)
			}
		}
		unset, want := runStub(t, path), runStub(t, path, args...)
		for f := range flagsOf(c) {
			if got := want[f.Name]; !f.Hidden && f.Name != config.FileFlag && (got.value == unset[f.Name].value || !got.set) {
				t.Errorf("%s --%s=%s changes nothing", c.CommandPath(), f.Name, got.value)
			}
		}
		for depth := 0; depth <= len(path); depth++ {
			text := nested(path[:depth], lines)
			if err := os.WriteFile("f.yaml", []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			got := runStub(t, path, "--config", "f.yaml")
			delete(got, config.FileFlag)
			for name, got := range got {
				if got != want[name] {
					t.Errorf("%s with\n%s\n--%s is %v; want %v", c.CommandPath(), text, name, got, want[name])
				}
			}
			tried += len(lines)
		}
	}
	walk(rootCommand(), nil)
	if tried < 150 {
		t.Errorf("%d settings were tried; expected some hundreds", tried)
	}
}

// nested puts lines under the names of commands.
func nested(path, lines []string) string {
	text, indent := "", ""
	for _, name := range path {
		text += indent + name + ":\n"
		indent += "  "
	}
	for _, line := range lines {
		text += indent + line + "\n"
	}
	return text
}

// The file that init writes suits the commands, and every command finds its
// defaults.
func TestNewConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(standardConfig, newConfig(rootCommand()), 0o666); err != nil {
		t.Fatal(err)
	}
	set := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
		without := runStub(t, path, "--config=")
		for name, got := range runStub(t, path) {
			if got.set {
				set++
			}
			if want := without[name].value; got.value != want && name != config.FileFlag {
				t.Errorf("%s --%s is %s, without the file %s", c.CommandPath(), name, got.value, want)
			}
		}
	}
	walk(rootCommand(), nil)
	if set == 0 {
		t.Error("the file sets nothing")
	}
}
