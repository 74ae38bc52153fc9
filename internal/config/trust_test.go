package config

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestReachOf(t *testing.T) {
	inDir(t, map[string]string{"file": ""})
	for link, to := range map[string]string{"up": "..", "dangling": "../missing", "absolute": os.TempDir(), "near": "file"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	c := &cobra.Command{}
	Declare(c, "", []Flag{
		{Name: "out", To: new(string), Reach: Path},
		{Name: "program", To: new(string), Reach: slices.Concat(Program.If(`^\s*exec:`), Path.If(`^\s*folder:(.*?)(?:>=.*)?$`))},
		{Name: "address", To: new(string), Reach: Address},
		{Name: "free", To: new(string), Reach: Nothing},
	})
	flags, program, address := c.Flags(), Program[0], Address[0]
	for _, c := range []struct {
		flag, value string
		want        string
	}{
		{"out", "", ""}, {"out", "-", ""}, {"out", "none", ""}, {"out", "a/b", ""}, {"out", "./a", ""}, {"out", "a..b", ""}, {"out", "near", ""},
		{"out", "file/below", ""}, {"out", ".github/x", ""}, {"out", "sub/a~", ""},
		{"out", "/etc/passwd", place}, {"out", "..", place}, {"out", "a/../b", place}, {"out", "~/x", place}, {"out", "~root", place},
		{"out", "up", place}, {"out", "up/x", place}, {"out", "dangling", place}, {"out", "absolute/x", place}, {"out", "a\n/../../x", place},
		{"out", ".git/hooks", gitData}, {"out", "sub/.GIT/config", gitData},
		{"program", "gloss", ""}, {"program", "exec:x", program}, {"program", " exec:x", program}, {"program", "executive", ""},
		{"program", "folder:org/name@main", ""}, {"program", "folder:up", place}, {"program", "folder:up>=0.5", place}, {"program", "/abs", ""},
		{"address", "", address}, {"address", "localhost", address},
		{"free", "exec:/x", ""},
	} {
		if got := reachOf(flags.Lookup(c.flag), c.value); got != c.want {
			t.Errorf("%s %q: %q; want %q", c.flag, c.value, got, c.want)
		}
	}
}

// What is known of a flag's reach is on the flag.
func TestMarked(t *testing.T) {
	c := &cobra.Command{}
	Declare(c, "", []Flag{
		{Name: "number", To: new(int)},
		{Name: "text", To: new(string)},
		{Name: "format", To: new(string), Choices: []string{"a", "b"}},
		{Name: "list", To: new([]string), Reach: Path},
		{Name: "free", To: new([]string), Reach: Nothing},
	})
	flags := c.Flags()
	for name, want := range map[string]bool{"number": false, "text": false, "format": false, "list": true, "free": true} {
		if (flags.Lookup(name).Annotations[reachAnnotation] != nil) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// A 0 is refused where it would mean the default. A value that is not one of the choices is refused, alone and in a
// list; a default
// that means none of them is not.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		set  []string // name, value, ...
		want string
	}{
		{nil, ""},
		{[]string{"format", "b", "log-level", "low,high"}, ""},
		{[]string{"format", ""}, ""},
		{[]string{"samples", "0"}, "samples is 0; expected a number above 0"},
		{[]string{"wait", "0s"}, "wait is 0s; expected a duration above 0, such as 2m"},
		{[]string{"samples", "1", "wait", "1s"}, ""},
		{[]string{"format", "c"}, `unknown format "c"; choose one of: a, b`},
		{[]string{"log-level", "low,hihg"}, `unknown log level "hihg"; did you mean high? choose one of: low, high`},
	} {
		command := &cobra.Command{}
		Declare(command, "", []Flag{
			{Name: "format", To: new(string), Choices: []string{"a", "b"}},
			{Name: "log-level", To: &[]string{"low"}, Choices: []string{"low", "high"}},
			{Name: "text", To: new(string)},
			{Name: "samples", To: new(int), Positive: true},
			{Name: "wait", To: new(time.Duration), Positive: true},
		})
		flags := command.Flags()
		for pair := range slices.Chunk(c.set, 2) {
			if err := flags.Set(pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if err := Check(flags); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %q; want %q", c.set, got, c.want)
		}
	}
}
