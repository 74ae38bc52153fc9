package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"crosstalk/internal/config"
	"crosstalk/internal/fetch"
	"crosstalk/internal/hub"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/measure/langid/embedded"
	"crosstalk/model"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite/datasets"

	"github.com/spf13/cobra"
)

func modelsCommand() *cobra.Command {
	var m modelsFlags
	c := command("models", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
		switch {
		case len(args) == 0 && m.check:
			return usagef("expected the name of a model beside --check")
		case len(args) == 0:
			return cmp.Or(listModels(w), w.Flush())
		case m.check:
			return cmp.Or(m.checkModel(c.Context(), w, args[0]), w.Flush())
		case study.IsIdentifier(args[0]):
			return listLanguages(c.OutOrStdout(), args[0])
		}
		ctx, cancel := context.WithTimeout(c.Context(), m.timeout)
		defer cancel()
		names, err := model.List(ctx, args[0], m.options)
		for _, name := range names {
			fmt.Fprintln(w, visible.Line(name))
		}
		return cmp.Or(err, w.Flush())
	})
	m.timeout = 2 * time.Minute
	config.Declare(c, "", []config.Flag{
		{Name: "check", To: &m.check, Reach: config.Expense.If("true"), Help: "find out what the model takes, or try it"},
		{Name: "base-url", To: &m.options.BaseURL, Reach: config.Address,
			Help: "URL of the API (default: the provider's)"},
		{Name: "api", To: (*string)(&m.options.API), Choices: apis,
			Help: "--check: chat, completions or responses (default: the provider's)"},
		{Name: "key-var", To: &m.options.KeyVar, Reach: config.Credential,
			Help: "environment variable that contains the API key (default: the provider's)"},
		{Name: "header", To: &m.options.Header, Whole: true, Reach: config.Credential,
			Help: "header to send with every request, NAME=VALUE or NAME=$VARIABLE"},
		{Name: "families", To: &m.families, Reach: config.Path,
			Help: "--check: a YAML file of what models take and refuse, before the built-in table (docs/models.md)"},
		{Name: "timeout", To: &m.timeout, Help: "maximum time to wait for the server"},
	})
	c.AddCommand(modelsPullCommand())
	return c
}

// modelsFlags say where a provider's models are and how they are reached.
type modelsFlags struct {
	options  model.Options
	timeout  time.Duration
	check    bool
	families string
}

func listModels(w io.Writer) error {
	fmt.Fprintln(w, "PROVIDER\tKEY VARIABLE\tSET\tBASE URL\tLOCAL")
	for _, p := range model.Presets() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.KeyVar, yes(os.Getenv(p.KeyVar) != ""),
			cmp.Or(p.BaseURL, "(--base-url)"), yes(p.Local))
	}
	fmt.Fprintln(w, "\nSIMILARITY\tUSED FOR\tMODEL\tIN THE CACHE")
	for _, m := range similarities.KnownModels() {
		commit, err := m.InCache()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Kind, m.For, m.Name, commit)
	}
	fmt.Fprintln(w, "\nIDENTIFIER\tSIZE\tLICENSE\tON THIS MACHINE")
	fmt.Fprintf(w, "%s\t-\t-\tembedded\n", embedded.Identifier().Name())
	for _, s := range datasets.All(datasets.Model) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, fetch.Size(s.Size()), s.License, whetherPulled(s))
	}
	return nil
}

// checkModel finds out what a language model takes, or tries a model for --similarity or --lid.
func (m *modelsFlags) checkModel(ctx context.Context, w io.Writer, name string) error {
	var rows [][2]string
	var err error
	provider, _, found := strings.Cut(name, ":")
	isProvider := func(p model.Preset) bool { return p.Name == strings.ToLower(provider) }
	if found && slices.ContainsFunc(model.Presets(), isProvider) {
		if m.options.Families, err = model.ReadFamilies(m.families); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, m.timeout)
		defer cancel()
		checked, failed := model.Check(ctx, name, m.options)
		if failed != nil {
			return failed
		}
		rows = checked.Rows()
	} else if study.NamesIdentifier(name) {
		rows, err = study.CheckIdentifier(name)
	} else {
		rows, err = similarities.Check(ctx, name)
	}
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	return err
}

// listLanguages prints the languages of an identifier, in lines of at most 80 characters.
func listLanguages(w io.Writer, name string) error {
	identifier, err := study.OpenIdentifier(name)
	if err != nil {
		return err
	}
	labels := slices.Sorted(slices.Values(identifier.Labels()))
	_, err = fmt.Fprintf(w, "%s knows %d languages:\n  %s\n", identifier.Name(), len(labels),
		strings.Join(visible.Wrap(strings.Join(labels, " "), 78), "\n  "))
	return err
}

// whetherPulled is yes or no, for a column of a table.
func whetherPulled(s datasets.Source) string {
	if _, err := s.Find(); err != nil {
		return "no"
	}
	return "yes"
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

func modelsPullCommand() *cobra.Command {
	c := command("models pull", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		path, err := pullModel(c, args[0])
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), path)
		}
		return err
	})
	addQuiet(c, "print only the folder or file, and errors")
	return c
}

// pullModel fetches a model and returns its folder or file.
func pullModel(c *cobra.Command, name string) (path string, err error) {
	if s, ok := study.PublishedIdentifier(name); ok {
		dir, err := pullSource(c, s)
		return filepath.Join(dir, s.Files[0].Name), err
	}
	if study.NamesIdentifier(name) {
		names := ordered.Distinct(datasets.All(datasets.Model), func(s datasets.Source) string { return s.Name })
		return "", fmt.Errorf("cannot fetch %s; choose one of: %s (embedded needs no file)", name, strings.Join(names, ", "))
	}
	m, err := similarities.ParseModel(name)
	if err != nil {
		return "", err
	}
	return download(c, func(ctx context.Context, show fetch.Progress) (dir string, err error) {
		dir, _, err = hub.Pull(ctx, m.Name, m.Revision, show)
		return dir, err
	})
}
