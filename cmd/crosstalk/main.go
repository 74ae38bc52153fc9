// Crosstalk measures what bleeds through in language models: meaning that leaks from a prompt into an unrelated answer,
// one language breaking into another, and answers that change with the form of a question.
//
// Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 a gate or a calibration failed, 2 bad usage
// or input, 3 incomplete (requests failed, a limit was reached, a review is needed, or most answers were not checked),
// 4 a gate is inconclusive, 130 interrupted.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"

	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitGate         = 1
	exitUsage        = 2
	exitIncomplete   = 3
	exitInconclusive = 4
	exitInterrupted  = 130
)

// exitError ends the program with a code. Its message may be empty if everything has been printed already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// revision is the commit and its day, in programs of a release (tools/build/release).
var revision string

func version() string {
	if revision == "" {
		return crosstalk.Version
	}
	return crosstalk.Version + " (" + revision + ")"
}

func execute(args []string, stdout, stderr io.Writer) int {
	log.SetOutput(io.Discard) // net/http logs there what servers do; what matters of it is in errors
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
	root.Version, root.SilenceUsage, root.SilenceErrors = version(), true, true
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("crosstalk {{.Version}}\n")
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Measure", []*cobra.Command{group("run", each(instrument.run)...), group("score", each(instrument.score)...),
			calibrateCommand(), powerCommand()}},
		{"Read and compare", []*cobra.Command{
			reportCommand(), compareCommand(), gateCommand(), acceptCommand(), serveCommand(), exportCommand()}},
		{"Ask people", []*cobra.Command{annotateCommand(),
			group("labels", labelsExportCommand(), labelsImportCommand()), agreementCommand()}},
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
	root.AddCommand(&cobra.Command{Use: "version", Hidden: true, Args: cobra.NoArgs, // for those who type it as a command
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "crosstalk %s\n", crosstalk.Version)
			return err
		}})
	configure(root)
	addHelp()
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.DisableDefaultCmd = true // it has a command for each shell
	reportUsage(root)
	return root
}

// collect sets the garbage collector's target percentage, unless GOGC is set.
func collect(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// collectLarge is collect where these runs together have over 64 MB of observations:
// with less, memory is not worth the time.
func collectLarge(percent int, runs []string) {
	var size int64
	for _, path := range runs {
		if info, err := os.Stat(filepath.Join(path, "observations.jsonl")); err == nil {
			size += info.Size()
		}
	}
	if size > 64<<20 {
		collect(percent)
	}
}

// group is a command that only has subcommands.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	c := command(name, cobra.ArbitraryArgs, chooseCommand)
	c.AddCommand(commands...)
	var examples []string // one of each
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
