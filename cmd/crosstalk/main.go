// Crosstalk measures what bleeds through in language models: meaning that leaks from a prompt into an unrelated answer,
// one language breaking into another, and answers that change with the form of a question.
//
// Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 a gate failed or a check found something,
// 2 bad usage or input, 3 incomplete (requests failed, a limit was reached, a review is needed, or most answers were
// not checked), 4 a gate is inconclusive, 130 interrupted.
package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/internal/nearest"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

const (
	exitGate         = 1
	exitUsage        = 2
	exitIncomplete   = 3
	exitInconclusive = 4
	exitInterrupted  = 130
)

// exitError ends the program with an exit code. Its message may be empty if everything has been printed already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// revision is the commit and its day, set in release builds (tools/build/release).
var revision string

func execute(args []string, stdout, stderr io.Writer) int {
	log.SetOutput(io.Discard) // net/http logs what servers do there; what matters is in errors
	root := rootCommand()
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		completeBelow(root)
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	code := exitUsage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
	}
	if message := err.Error(); message != "" {
		fmt.Fprintf(stderr, "crosstalk: %s\n", visible.Message(message))
	}
	if errors.As(err, new(*usageError)) {
		fmt.Fprintf(stderr, "See '%s --help'.\n", command.CommandPath())
	}
	return code
}

// usageError is an invalid command line, as opposed to invalid input.
type usageError struct{ error }

// Unwrap returns the error.
func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// reportUsage turns errors in the flags and arguments of a command and its subcommands into usage errors.
func reportUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &usageError{explainFlag(c, err)} })
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, list []string) error {
			if err := wasRemoved(c, list); err != nil {
				return &usageError{err}
			}
			if args(c, list) != nil {
				return &usageError{wrongArguments(c, list)}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		reportUsage(sub)
	}
}

func rootCommand() *cobra.Command {
	root := command("crosstalk", cobra.ArbitraryArgs, chooseCommand)
	root.Version, root.SilenceUsage, root.SilenceErrors = crosstalk.Version, true, true
	if revision != "" {
		root.Version += " (" + revision + ")"
	}
	root.SuggestionsMinimumDistance = 2
	runs := ordered.Map(instruments(), instrument.run)
	asking := ordered.Map(runs, func(r runCommand) *cobra.Command { return r.Command })
	scoring := ordered.Map(instruments(), instrument.score)
	root.SetVersionTemplate("crosstalk {{.Version}}\n")
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Measure", []*cobra.Command{group("run", asking...), group("score", scoring...),
			powerCommand()}},
		{"Read and compare", []*cobra.Command{
			reportCommand(), tableCommand(), compareCommand(), gateCommand(), acceptCommand(runs), serveCommand(),
			exportCommand()}},
		{"Ask people", []*cobra.Command{annotateCommand(), agreementCommand()}},
		{"Check single answers", []*cobra.Command{checkCommand(), guardCommand()}},
		{"Use many machines", []*cobra.Command{
			group("submit", submitSlurmCommand(), submitKubernetesCommand()), mergeCommand(), statusCommand()}},
		{"Set up", []*cobra.Command{suitesCommand(), modelsCommand(), initCommand(), completionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
		}
		root.AddCommand(group.commands...)
	}
	root.AddCommand(&cobra.Command{Use: "version", Hidden: true, Args: cobra.NoArgs, // for users who type it as a command
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "crosstalk %s\n", root.Version)
			return err
		}})
	configure(root)
	addHelp()
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	show := help.Run
	help.Run, help.RunE = nil, func(c *cobra.Command, args []string) error {
		if of, rest, _ := root.Find(args); len(rest) > 0 && of.HasSubCommands() {
			return chooseCommand(of, rest)
		}
		show(c, args)
		return nil
	}
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.DisableDefaultCmd = true // there is a command for each shell
	reportUsage(root)
	return root
}

// collect sets the garbage collector's target percentage, unless GOGC is set or the runs have at most 64 MB of
// observations together: then saving memory is not worth the time.
func collect(percent int, runs ...string) {
	size := int64(0)
	for _, path := range runs {
		if info, err := os.Stat(filepath.Join(path, "observations.jsonl")); err == nil {
			size += info.Size()
		}
	}
	if os.Getenv("GOGC") == "" && (len(runs) == 0 || size > 64<<20) {
		debug.SetGCPercent(percent)
	}
}

func group(name string, commands ...*cobra.Command) *cobra.Command {
	c := command(name, cobra.ArbitraryArgs, chooseCommand)
	c.AddCommand(commands...)
	var examples []string // one of each kind
	for _, sub := range commands {
		if example, _, _ := strings.Cut(sub.Example, "\n"); example != "" {
			examples = append(examples, example)
		}
	}
	c.Example = strings.Join(examples, "\n")
	return c
}

// chooseCommand runs if no subcommand of c was named.
func chooseCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	message := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		message += "; did you mean " + strings.Join(like, " or ") + "?"
	} else {
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		message += "; choose one of: " + strings.Join(names, ", ")
	}
	return &usageError{errors.New(message)}
}

// explainFlag explains an error in a flag, and suggests the flag that may have been meant. For a flag of a removed
// command, it explains only the command.
func explainFlag(c *cobra.Command, err error) error {
	if err := wasRemoved(c, c.Flags().Args()); err != nil {
		return err
	}
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		flag := "--" + unknown.GetSpecifiedName()
		if instead := cmp.Or(insteadOf(c.Name()+" "+flag), insteadOf(flag)); instead != "" {
			return fmt.Errorf("--%s was removed: %s", unknown.GetSpecifiedName(), instead)
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if c.Name() == "accept" {
			if of := runWith(c.Root(), unknown.GetSpecifiedName()); of != nil {
				return fmt.Errorf("--%s is a flag of '%s': write it last, after --, as in 'crosstalk accept ... -- --%[1]s'",
					unknown.GetSpecifiedName(), of.CommandPath())
			}
		}
		if near := nearest.Of(unknown.GetSpecifiedName(), names); near != "" {
			return fmt.Errorf("unknown flag: --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		switch {
		case f.Value.Type() == "bool":
			return fmt.Errorf("--%s takes no value, found %q", f.Name, invalid.GetValue())
		case errors.As(err, new(*strconv.NumError)):
			return fmt.Errorf("--%s is %q; expected %s", f.Name, invalid.GetValue(), config.Expected(f))
		}
	}
	return err
}

// runWith returns the first run command with this flag, nil if there is none.
func runWith(root *cobra.Command, flag string) *cobra.Command {
	group, _, _ := root.Find([]string{"run"})
	for _, c := range group.Commands() {
		if c.Flags().Lookup(flag) != nil {
			return c
		}
	}
	return nil
}

// wrongArguments returns an error that states which arguments a command expects.
func wrongArguments(c *cobra.Command, args []string) error {
	expected := strings.TrimSuffix(c.UseLine(), " [flags]")
	found := "no argument"
	switch n := len(args); {
	case c.Use == c.Name(): // it accepts no arguments
		return fmt.Errorf("unexpected %q: '%s' takes flags only", args[0], c.CommandPath())
	case n == 1:
		found = "one argument"
	case n > 1:
		found = fmt.Sprintf("%d arguments", n)
	}
	return fmt.Errorf("expected '%s', found %s", expected, found)
}

// removed lists the commands and flags of earlier versions, one a line: the name, and what to use instead. A flag that
// another command still has follows the name of the command that lost it.
//
//go:embed removed.txt
var removed string

// insteadOf returns what replaces a command or a flag, "" if it was not removed.
func insteadOf(name string) string {
	for line := range strings.Lines(removed) {
		if old, instead, _ := strings.Cut(strings.TrimSpace(line), ": "); old == name {
			return instead
		}
	}
	return ""
}

// wasRemoved returns an error with the replacement of the command that the first one or two arguments of c name, nil if
// it was not removed.
func wasRemoved(c *cobra.Command, args []string) error {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	for n := min(2, len(args)); n > 0; n-- {
		name := strings.TrimSpace(path + " " + strings.Join(args[:n], " "))
		if instead := insteadOf(name); instead != "" {
			return fmt.Errorf("%q was removed: %s", name, instead)
		}
	}
	return nil
}

// descriptions describes the commands, each by a heading with its path, its usage, a line for lists, and a text that
// ends with Examples:.
//
//go:embed commands.txt
var descriptions string

// command returns the command with a path, as descriptions describes it.
func command(path string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	_, text, found := strings.Cut(descriptions, "\n# "+path+"\n")
	if !found {
		panic("commands.txt does not describe " + path)
	}
	text, _, _ = strings.Cut(text, "\n# ")
	use, text, _ := strings.Cut(text, "\n")
	short, text, _ := strings.Cut(text, "\n")
	long, example, _ := strings.Cut(text, "\nExamples:\n")
	return &cobra.Command{Use: use, Short: short, Long: strings.TrimSpace(long), Example: strings.TrimRight(example, "\n"),
		Args: args, RunE: run}
}

const helpWidth = 80

// Groups of flags of run and score.
const (
	often    = "Often used"
	models   = "Model"
	asked    = "What is asked"
	sampling = "Sampling"
	limits   = "Limits and cost"
	scoring  = "Scoring"
	output   = "Output"
)

// usageTemplate is cobra's template, with commands and flags in groups.
//
//go:embed usage.tmpl
var usageTemplate string

// flagGroups lists the groups in the order of help; "" has the flags of all commands.
var flagGroups = []string{often, models, asked, sampling, limits, scoring, output, ""}

// addHelp runs once, because cobra's functions belong to all commands of the process.
var addHelp = sync.OnceFunc(func() {
	cobra.AddTemplateFuncs(template.FuncMap{"flagHelp": flagHelp, "commandGroups": commandGroups})
})

// commandGroups returns the groups of a command's subcommands, or one without a name.
func commandGroups(c *cobra.Command) []*cobra.Group {
	if groups := c.Groups(); len(groups) > 0 {
		return groups
	}
	return []*cobra.Group{{Title: "Commands"}}
}

// flagHelp describes a command's flags, in groups for run and score.
func flagHelp(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = c.Flags().SortFlags
	for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
		flags.SortFlags = c.Flags().SortFlags
		flags.VisitAll(func(f *pflag.Flag) {
			of := *f // with its kind in plain words, and its default as typed
			if kind, standard := config.Described(f); kind != "bool" {
				of.Value, of.DefValue = value{f.Value, kind}, standard
			}
			all.AddFlag(&of)
		})
	}
	rare := ""
	if keys := strings.Join(keysOf(c), ", "); keys != "" {
		rare = "\n\nRarely needed (docs/config.md):\n      " +
			strings.Join(visible.Wrap(keys, helpWidth-6), "\n      ")
	}
	if parent := c.Parent(); parent == nil || parent.Name() != "run" && parent.Name() != "score" {
		return strings.TrimRight("Flags:\n"+all.FlagUsagesWrapped(helpWidth), "\n") + rare
	}
	var parts []string
	for _, group := range flagGroups {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		all.VisitAll(func(f *pflag.Flag) {
			if config.GroupOf(f) == group {
				set.AddFlag(f)
			}
		})
		if set.HasAvailableFlags() {
			parts = append(parts, cmp.Or(group, "Other")+":\n"+set.FlagUsagesWrapped(helpWidth))
		}
	}
	return strings.TrimRight(strings.Join(parts, "\n"), "\n") + rare
}

// keysOf returns the flags of a command that help only names.
func keysOf(c *cobra.Command) (keys []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if config.Rare(f) {
			keys = append(keys, "--"+f.Name)
		}
	})
	return keys
}

// value is a flag's value with another name for its type.
type value struct {
	pflag.Value
	kind string
}

func (v value) Type() string { return v.kind }
