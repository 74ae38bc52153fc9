package config

import (
	"os"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

func TestReachOf(t *testing.T) {
	inDir(t, map[string]string{"file": ""})
	for link, to := range map[string]string{"up": "..", "dangling": "../missing", "absolute": os.TempDir(), "near": "file"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	flags := pflag.NewFlagSet("", pflag.PanicOnError)
	for _, name := range []string{"out", "program", "address", "free"} {
		flags.String(name, "", "")
	}
	Path(flags, "out")
	Sensitive(flags, "program", Program, `^\s*exec:`)
	PathIn(flags, "program", `^\s*folder:(.*?)(?:>=.*)?$`)
	Sensitive(flags, "address", Address)
	Harmless(flags, "free")
	for _, c := range []struct {
		flag, value string
		want        Reach
	}{
		{"out", "", ""}, {"out", "-", ""}, {"out", "none", ""}, {"out", "a/b", ""}, {"out", "./a", ""}, {"out", "a..b", ""}, {"out", "near", ""},
		{"out", "file/below", ""}, {"out", ".github/x", ""}, {"out", "sub/a~", ""},
		{"out", "/etc/passwd", place}, {"out", "..", place}, {"out", "a/../b", place}, {"out", "~/x", place}, {"out", "~root", place},
		{"out", "up", place}, {"out", "up/x", place}, {"out", "dangling", place}, {"out", "absolute/x", place}, {"out", "a\n/../../x", place},
		{"out", ".git/hooks", gitData}, {"out", "sub/.GIT/config", gitData},
		{"program", "gloss", ""}, {"program", "exec:x", Program}, {"program", " exec:x", Program}, {"program", "executive", ""},
		{"program", "folder:org/name@main", ""}, {"program", "folder:up", place}, {"program", "folder:up>=0.5", place}, {"program", "/abs", ""},
		{"address", "", Address}, {"address", "localhost", Address},
		{"free", "exec:/x", ""},
	} {
		if got := reachOf(flags.Lookup(c.flag), c.value); got != c.want {
			t.Errorf("%s %q: %q; want %q", c.flag, c.value, got, c.want)
		}
	}
}

func TestMarked(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.PanicOnError)
	flags.Int("number", 0, "")
	flags.String("text", "", "")
	flags.String("format", "", "")
	flags.StringSlice("list", nil, "")
	flags.String("both", "", "")
	Choices(flags, "format", "a", "b")
	Path(flags, "list", "both")
	Harmless(flags, "both")
	for name, want := range map[string]bool{"number": true, "text": false, "format": true, "list": true, "both": false} {
		if Marked(flags.Lookup(name)) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// A value that is not one of the choices is refused, alone and in a list; a default
// that means none of them is not.
func TestCheckChoices(t *testing.T) {
	for _, c := range []struct {
		set  []string // name, value, ...
		want string
	}{
		{nil, ""},
		{[]string{"format", "b", "log-level", "low,high"}, ""},
		{[]string{"format", ""}, ""},
		{[]string{"format", "c"}, `unknown format "c"; choose one of: a, b`},
		{[]string{"log-level", "low,hihg"}, `unknown log level "hihg"; did you mean high? choose one of: low, high`},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.String("format", "", "")
		flags.StringSlice("log-level", []string{"low"}, "")
		flags.String("text", "", "")
		Choices(flags, "format", "a", "b")
		Choices(flags, "log-level", "low", "high")
		for pair := range slices.Chunk(c.set, 2) {
			if err := flags.Set(pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := CheckChoices(flags); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %q; want %q", c.set, got, c.want)
		}
	}
}
