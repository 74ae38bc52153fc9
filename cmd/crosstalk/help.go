package main

import (
	"cmp"
	_ "embed"
	"strings"
	"sync"
	"text/template"

	"crosstalk/internal/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// descriptions describe the commands: for each a heading with its path, its usage, a line for
// lists, and a text that Examples: ends.
//
//go:embed commands.txt
var descriptions string

// command is the command with a path, as descriptions describe it.
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

// helpWidth is the width of help in columns.
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

// flagGroups are the groups in the order of help; "" is the flags of all commands.
var flagGroups = []string{often, models, asked, sampling, limits, scoring, output, ""}

// usageTemplate is cobra's, with commands and flags in groups.
//
//go:embed usage.tmpl
var usageTemplate string

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
			of := *f // with its kind in plain words, and a default as it is typed
			if kind, standard := config.Described(f); kind != "bool" {
				of.Value, of.DefValue = value{f.Value, kind}, standard
			}
			all.AddFlag(&of)
		})
	}
	if parent := c.Parent(); parent == nil || parent.Name() != "run" && parent.Name() != "score" {
		return strings.TrimRight("Flags:\n"+all.FlagUsagesWrapped(helpWidth), "\n")
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
	return strings.TrimRight(strings.Join(parts, "\n"), "\n")
}

// value is the value of a flag with another name of its type.
type value struct {
	pflag.Value
	kind string
}

// Type implements pflag.Value.
func (v value) Type() string { return v.kind }
