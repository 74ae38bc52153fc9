package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"crosstalk/internal/golden"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// kinds is a tree with flags of all kinds, in groups of commands that share some.
func kinds() *cobra.Command {
	seed, none := new(int64(7)), (*int64)(nil)
	run := func(*cobra.Command, []string) error { return nil }
	all := &cobra.Command{Use: "all", Short: "Take all kinds", RunE: run}
	Declare(all, "Values", []Flag{
		{Name: "text,t", To: new(string), Help: "any\n  words", Values: "runs", Reach: Nothing},
		{Name: "list", To: &[]string{"a", "b"}, Help: "several texts", Reach: Path},
		{Name: "whole", To: &[]string{"a,b"}, Help: "whole texts", Whole: true, Reach: Address},
		{Name: "shown", To: new([]string), Help: "a list", Shown: []string{"x", "yes"}, Reach: Program.If("^exec:")},
		{Name: "switch", To: new(bool), Help: "on or off"},
		{Name: "on", To: new(true), Help: "on at first"},
		{Name: "int", To: new(3), Help: "a number", Positive: true},
		{Name: "ints", To: &[]int{0, 5}, Help: "numbers"},
		{Name: "seed", To: new(uint64), Help: "a seed"},
		{Name: "optional", To: &seed, Help: "a number, or none"},
		{Name: "none", To: &none, Help: "a number, or none"},
		{Name: "float", To: new(0.50), Help: "a ratio"},
		{Name: "floats", To: &[]float64{0.25, 1e-7}, Help: "ratios"},
		{Name: "wait", To: new(90 * time.Second), Help: "how long", Positive: true},
		{Name: "never", To: new(time.Duration), Help: "how long"},
		{Name: "one", To: new("b"), Help: "a or b", Choices: []string{"a", "b"}},
		{Name: "only", To: new(string), Help: "x", Choices: []string{"x"}},
		{Name: "many", To: &[]string{"a"}, Help: "a, b or c", Choices: []string{"a", "b", "c"}},
		{Name: "key", To: new(string), Help: "a key", Reach: Credential},
	})
	few := &cobra.Command{Use: "few", Short: "Take few", RunE: run}
	Declare(few, "", []Flag{
		{Name: "text", To: new(string), Help: "other words", Reach: Nothing}, {Name: "int", To: new(int), Help: "a number"},
		{Name: "seed", To: new(uint64(1)), Help: "a seed"}, {Name: "list", To: &[]string{"a", "b"}, Help: "several texts", Reach: Path},
	})
	last := &cobra.Command{Use: "last", Short: "Take the last", RunE: run}
	Declare(last, "", []Flag{{Name: "seed", To: new(uint64), Help: "a seed"}, {Name: "int", To: new(int), Help: "a number"}})
	group, other := &cobra.Command{Use: "group", Short: "Two commands"}, &cobra.Command{Use: "other", Short: "One command"}
	group.AddCommand(all, few)
	other.AddCommand(last)
	again := &cobra.Command{Use: "last", Short: "Take the last", RunE: run}
	Declare(again, "", []Flag{{Name: "seed", To: new(uint64), Help: "a seed"}})
	secret := &cobra.Command{Use: "secret", Hidden: true}
	secret.AddCommand(again)
	root := &cobra.Command{Use: "app", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(group, other, secret)
	root.PersistentFlags().String(FileFlag, "", "the file")
	root.PersistentFlags().Bool("quiet", false, "say less")
	return root
}

// What help, completion, the schema and the template say of flags of all kinds, and what comes of files that were found
// or named. Read what differs and write it with -update.
func TestSheet(t *testing.T) {
	var b strings.Builder
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := kinds()
	all, _, _ := root.Find([]string{"group", "all"})
	all.Flags().VisitAll(func(f *pflag.Flag) {
		kind, standard := Described(f)
		fmt.Fprintf(&b, "--%s: %s, default %q; expected %s; of %q, completed by %q, choices %q\n", f.Name, kind, standard, Expected(f),
			GroupOf(f), ValuesOf(f), ChoicesOf(f))
	})
	fmt.Fprintf(&b, "\n%s\n%s\n", Schema(root, "title", "about"), Template(root, []string{"int", "many", "seed", "list"}))
	t.Chdir(t.TempDir())
	for _, c := range []struct{ trust, args, text string }{
		{"", "group all", "int: 5\ngroup:\n  text: x\n  all:\n    list: [a, 'b,c']\n    ints: 0x10\n    optional: -4\n    one: a\n    wait: 3m\n"},
		{"", "group all --int 6", "int: 5\nmany: [a, c]\nfloats: [1, 2.50]\n"},
		{"", "group all", "key: KEY\nwhole: [http://x, y]\nlist: [/etc, ok, ..]\nshown: ['exec:x', exec]\n"},
		{"1", "group all", "key: KEY\nwhole: http://x\n"},
		{"0", "group all", "key: KEY\n"},
		{"perhaps", "group all", "key: KEY\n"},
		{"", "group all --config app.yaml", "key: KEY\n"},
		{"", "group all --config=", "key: KEY\n"},
		{"", "group few", "key: KEY\nint: 2\n"},
		{"", "group all", "int: 0\nwait: 0s\n"},
		{"", "group all", "optional: 99999999999999999999\nseed: -1\n"},
		{"", "other last", "seed: 18446744073709551615\n"},
		{"", "group all", "float: 1e999\nfloats: [1, 1e999]\nints: [0x10]\n"},
		{"", "secret last", "seed: 3\n"},
		{"", "secret last", "secret: {last: {seed: 3}}\n"},
		{"", "group all", "switch: 1\non: [true]\nonly: y\nmany: [a, x]\nlist: 'a,b'\n"},
		{"", "group all", "group:\n  al: {int: 1}\n  all: {int: {a: 1}, few: 1}\nlast: {seed: 1}\ngroup.all: {int: 1}\nseeed: 1\n"},
		{"", "group all", "text: " + strings.Repeat("x", 41) + "\none: " + strings.Repeat("ü", 41) + "\n" + strings.Repeat("k", 101) + ": 1\n"},
		{"", "group all --config missing.yaml", ""},
		{"", "group all", "DIRECTORY"},
		{"", "group all", "NOTHING"},
	} {
		os.RemoveAll("app.yaml")
		switch c.text {
		case "NOTHING":
		case "DIRECTORY":
			err = os.Mkdir("app.yaml", 0o777)
		default:
			err = os.WriteFile("app.yaml", []byte(c.text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(TrustVariable, c.trust)
		root, applied := kinds(), Applied{}
		root.PersistentPreRunE = func(c *cobra.Command, _ []string) (err error) {
			applied, err = Load(c, "app.yaml", removed)
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Changed {
					fmt.Fprintf(&b, "  --%s=%s\n", f.Name, f.Value)
				}
			})
			return err
		}
		root.SetArgs(strings.Fields(c.args))
		fmt.Fprintf(&b, "\n$ %s %s\n%s", c.trust, c.args, c.text)
		err := root.Execute()
		fmt.Fprintf(&b, "= %q, found %v, %v\n", applied, applied.Found, err)
	}
	for _, text := range []string{"7", "-7", "x", ""} {
		n := new(int64)
		o := optionalInt{&n}
		err := o.Set(text)
		fmt.Fprintln(&b, text, o, o.Type(), err)
	}
	fmt.Fprintln(&b, optionalInt{})
	t.Chdir(at)
	golden.Check(t, "testdata/sheet.txt", b.String())
}

// A flag of any other type is a mistake of who declares it.
func TestDeclareRefuses(t *testing.T) {
	defer func() {
		if got := recover(); got != "--x: no flag has a value of type *int8" {
			t.Error(got)
		}
	}()
	Declare(&cobra.Command{}, "", []Flag{{Name: "x", To: new(int8)}})
}
