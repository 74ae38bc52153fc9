package config

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

type flags struct {
	model   []string
	params  []string
	samples []int
	rate    float64
	wait    time.Duration
	format  string
	dry     bool
	rpm     int
}

// executed runs a command with flags of every type and returns what it found in them.
func executed(args ...string) (f flags, err error) {
	f = flags{model: []string{"stand-in"}, wait: time.Minute, format: "table"}
	c := &cobra.Command{Use: "ask", SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, _ []string) error {
		gone := func(name string) string { return map[string]string{"--tie": "the protocol decides"}[name] }
		if err := Load(c, gone); err != nil {
			return err
		}
		return Check(c.Flags())
	}}
	c.Flags().String(FileFlag, "", "")
	Declare(c, "", []Flag{
		{Name: "model,m", To: &f.model}, {Name: "param", To: &f.params, Whole: true},
		{Name: "samples", To: &f.samples, Positive: true}, {Name: "rate", To: &f.rate}, {Name: "wait", To: &f.wait},
		{Name: "format", To: &f.format, Choices: []string{"table", "json"}}, {Name: "dry-run", To: &f.dry},
		{Name: "rpm", To: &f.rpm, Rare: true},
	})
	c.SetArgs(args)
	c.SetOut(io.Discard)
	return f, c.Execute()
}

func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"":                                    "[stand-in] [] [] 0 1m0s table false 0",
		"# only a remark\n":                   "[stand-in] [] [] 0 1m0s table false 0",
		"model: a,b\nsamples: 3":              "[a b] [] [3] 0 1m0s table false 0",
		"model: [\"a,b\", c]\nsamples: [1,2]": "[a,b c] [] [1 2] 0 1m0s table false 0",
		"param: a=1,b=2\nrate: 1e-1":          "[stand-in] [a=1,b=2] [] 0.1 1m0s table false 0",
		"wait: 90s\ndry-run: true\nrpm: 60":   "[stand-in] [] [] 0 1m30s table true 60",
		"format: json\nparam: |\n  x: y\n":    "[stand-in] [x: y\n] [] 0 1m0s json false 0",

		"- model":              "f.yaml:1: expected keys with values, as in samples: 3",
		"5":                    "f.yaml:1: expected keys with values, as in samples: 3",
		"\nmodle: a":           "f.yaml:2: modle: 'ask' has no such flag; did you mean model?",
		"help: true":           "f.yaml:1: help: 'ask' has no such flag",
		"config: g.yaml":       "f.yaml:1: config: 'ask' has no such flag",
		"tie: 0":               "f.yaml:1: tie: was removed: the protocol decides",
		"m: a":                 "f.yaml:1: m: 'ask' has no such flag",
		"samples: many":        `f.yaml:1: samples: expected a whole number, or a list, found "many"`,
		"samples: [1, 2.5]":    `f.yaml:1: samples: expected a whole number, or a list, found ["1" "2.5"]`,
		"samples: 0":           "samples is 0; expected a number above 0",
		"rate: [1]":            "f.yaml:1: rate: expected a number, found a list",
		"rate: {a: 1}":         "f.yaml:1: rate: expected a number, found a map",
		"model: [a, [b]]":      "f.yaml:1: model: expected text in the list, found a list",
		"model:":               "f.yaml:1: model: expected text, or a list, found nothing",
		"wait: 3":              `f.yaml:1: wait: expected a duration such as 90s or 2m, found "3"`,
		"dry-run: maybe":       `f.yaml:1: dry-run: expected true or false, found "maybe"`,
		"format: csv":          `unknown format "csv"; choose one of: table, json`,
		"model: a\nmodel: b":   `f.yaml:2: duplicate key "model" (first used in line 1)`,
		"model: &a b":          "f.yaml:1: anchors and aliases are not supported: write the value out",
		"model: a\n---\nm: b":  "f.yaml:2: a second document begins here; expected one set of keys per file",
		"modle: a\nrate: fast": "f.yaml:1: modle: 'ask' has no such flag; did you mean model?\nf.yaml:2: rate: expected a number, found \"fast\"",
	} {
		if err := os.WriteFile("f.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := executed("--config", "f.yaml")
		got := f.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// The command line wins, without a look at the value in the file; no file is read unless one is named.
func TestPrecedence(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("f.yaml", []byte("model: [a, b]\nrate: fast\ndry-run: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--config f.yaml --rate 1 --model c":       "[c] [] [] 1 1m0s table true 0",
		"--rate 1 --dry-run=false --config f.yaml": "[a b] [] [] 1 1m0s table false 0",
		"--config=":                 "[stand-in] [] [] 0 1m0s table false 0",
		"--config f.yaml --config=": "[stand-in] [] [] 0 1m0s table false 0",
		"--config g.yaml":           "open g.yaml: no such file or directory",
		"--config .":                "read .: is a directory",
		"--rpm 60":                  "[stand-in] [] [] 0 1m0s table false 60",
	} {
		f, err := executed(strings.Fields(args)...)
		got := f.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func (f flags) String() string {
	return strings.TrimSuffix(fmt.Sprintln(f.model, f.params, f.samples, f.rate, f.wait, f.format, f.dry, f.rpm), "\n")
}
