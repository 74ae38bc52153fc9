package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/config"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/"+schemaFile)

func TestPublishedSchema(t *testing.T) {
	file := filepath.Join("../../docs", schemaFile)
	var want, stderr bytes.Buffer
	if code := execute([]string{"init", "--schema"}, &want, &stderr); code != 0 {
		t.Fatal(&stderr)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/%s is not of these commands and flags: go test ./cmd/crosstalk -run TestPublishedSchema -update (%v)", schemaFile, err)
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
	if _, err := config.Parse("config.md", []byte(example), rootCommand()); err != nil || !found {
		t.Errorf("%v: %q", err, example)
	}
}

// tried is a flag with values, as the command line and as a file say it.
type tried struct {
	args []string
	yaml string
}

// try makes up values for a flag that are not its default.
func try(f *pflag.Flag) tried {
	if _, ok := f.Value.(config.Structured); ok {
		const entry = "[{name: ours, models: [ours-*]}]"
		if err := os.WriteFile("families.yaml", []byte(entry), 0o666); err != nil {
			panic(err)
		}
		return tried{[]string{"--" + f.Name + "=families.yaml"}, entry}
	}
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

// state is what a command finds in a flag.
type state struct {
	value string
	set   bool
}

// runStub executes a command that does nothing and returns what it would have
// found in a flag.
func runStub(t *testing.T, path []string, name string, args ...string) (found state) {
	t.Helper()
	root := rootCommand()
	c, _, err := root.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Args, c.PreRunE, c.PreRun = nil, nil, nil
	c.RunE = func(c *cobra.Command, _ []string) error {
		f := c.Flags().Lookup(name)
		found = state{fmt.Sprintf("%q", f.Value), f.Changed}
		if s, several := f.Value.(pflag.SliceValue); several {
			found.value = fmt.Sprintf("%q", s.GetSlice())
		}
		return nil
	}
	for f := range flagsOf(c) { // those that must be there are
		delete(f.Annotations, cobra.BashCompOneRequiredFlag)
	}
	root.SetArgs(slices.Concat(path, args))
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
		first := true // the first flag is tried further up, too
		for f := range flagsOf(c) {
			if f.Hidden || f.Name == config.Flag {
				continue
			}
			g := try(f)
			want, unset := runStub(t, path, f.Name, g.args...), runStub(t, path, f.Name)
			if want.value == unset.value || !want.set {
				t.Errorf("%s %s changes nothing", c.CommandPath(), g.args)
			}
			least := len(path)
			if first {
				least, first = 0, false
			}
			for depth := least; depth <= len(path); depth++ {
				text := nested(path[:depth], f.Name+": "+g.yaml)
				if err := os.WriteFile("f.yaml", []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				if got := runStub(t, path, f.Name, "--config", "f.yaml"); got != want {
					t.Errorf("%s with\n%s\n--%s is %v; want %v", c.CommandPath(), text, f.Name, got, want)
				}
				tried++
			}
		}
	}
	walk(rootCommand(), nil)
	if tried < 150 {
		t.Errorf("%d settings were tried; expected some hundreds", tried)
	}
}

// nested puts a line under the names of commands.
func nested(path []string, line string) string {
	text := ""
	for i, name := range path {
		text += strings.Repeat("  ", i) + name + ":\n"
	}
	return text + strings.Repeat("  ", len(path)) + line + "\n"
}

// The file that init writes suits the schema and the commands, and every
// command finds its defaults.
func TestNewConfig(t *testing.T) {
	if testing.Short() {
		t.Skip("makes one run of each kind")
	}
	t.Chdir(t.TempDir())
	text := newConfig(rootCommand())
	if err := os.WriteFile(standardConfig, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var values any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(configSchema(rootCommand())))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("s.json", schema); err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile("s.json").Validate(values); err != nil {
		t.Error(err)
	}
	set := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
		for f := range flagsOf(c) {
			got, want := runStub(t, path, f.Name), runStub(t, path, f.Name, "--config=")
			if got.set {
				set++
			}
			if got.value != want.value && f.Name != config.Flag {
				t.Errorf("%s --%s is %s, without the file %s", c.CommandPath(), f.Name, got.value, want.value)
			}
		}
	}
	walk(rootCommand(), nil)
	if set == 0 {
		t.Error("the file sets nothing")
	}
}
