package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/internal/fetch"
	"crosstalk/internal/hub"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/measure/langid/embedded"
	"crosstalk/model"
	"crosstalk/report"
	"crosstalk/report/suites"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite"
	"crosstalk/suite/datasets"

	"github.com/spf13/cobra"
)

func modelsCommand() *cobra.Command {
	var m modelsFlags
	c := command("models", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		w := c.OutOrStdout()
		switch {
		case len(args) == 0 && m.check:
			return usagef("expected the name of a model beside --check")
		case len(args) == 0:
			return listModels(w)
		case m.check:
			return m.checkModel(c.Context(), w, args[0])
		case study.IsIdentifier(args[0]):
			identifier, err := study.OpenIdentifier(args[0])
			if err != nil {
				return err
			}
			labels := slices.Sorted(slices.Values(identifier.Labels()))
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s knows %d languages:\n  %s\n", identifier.Name(), len(labels),
				strings.Join(visible.Wrap(strings.Join(labels, " "), 78), "\n  "))
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), m.timeout)
		defer cancel()
		names, err := model.List(ctx, args[0], m.options)
		for _, name := range names {
			fmt.Fprintln(w, report.Line(name))
		}
		return err
	})
	m.timeout = 2 * time.Minute
	config.Declare(c, "", []config.Flag{
		{Name: "check", To: &m.check,
			Help: "find out which settings the model accepts, or try it"},
		{Name: "base-url", To: &m.options.BaseURL,
			Help: "URL of the API (default: the provider's)"},
		{Name: "api", To: (*string)(&m.options.API), Choices: apis,
			Help: "--check: chat, completions or responses (default: the provider's)"},
		{Name: "key-var", To: &m.options.KeyVar,
			Help: "environment variable that contains the API key (default: the provider's)"},
		{Name: "header", To: &m.options.Header, Whole: true,
			Help: "header to send with every request, NAME=VALUE or NAME=$VARIABLE"},
		{Name: "families", To: &m.families, Rare: true,
			Help: "--check: a YAML file of what models take and refuse, before the built-in table (docs/models.md)"},
		{Name: "timeout", To: &m.timeout, Rare: true, Help: "maximum time to wait for the server"},
	})
	c.AddCommand(modelsPullCommand())
	return c
}

type modelsFlags struct {
	options  model.Options
	timeout  time.Duration
	check    bool
	families string
}

func listModels(w io.Writer) error {
	providers := [][]string{{"PROVIDER", "KEY VARIABLE", "SET", "BASE URL", "LOCAL"}}
	for _, p := range model.Presets() {
		providers = append(providers, []string{p.Name, p.KeyVar, yes(os.Getenv(p.KeyVar) != ""),
			cmp.Or(p.BaseURL, "(--base-url)"), yes(p.Local)})
	}
	known := [][]string{{"SIMILARITY", "USED FOR", "MODEL", "IN THE CACHE"}}
	for _, m := range similarities.KnownModels() {
		commit, err := m.InCache()
		if err != nil {
			return err
		}
		known = append(known, []string{m.Kind, m.For, m.Name, commit})
	}
	identifiers := [][]string{{"IDENTIFIER", "SIZE", "LICENSE", "ON THIS MACHINE"},
		{embedded.Identifier().Name(), "-", "-", "embedded"}}
	for _, s := range datasets.All(datasets.Model) {
		identifiers = append(identifiers, []string{s.Name, fetch.Size(s.Size()), s.License, whetherPulled(s)})
	}
	return writeLists(w, providers, known, identifiers)
}

// writeLists writes tables of words, an empty line between two.
func writeLists(w io.Writer, lists ...[][]string) error {
	for i, rows := range lists {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := report.WriteRows(w, rows, len(rows[0])); err != nil {
			return err
		}
	}
	return nil
}

// checkModel finds out what a language model accepts, or tries a model for --similarity or --lid.
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
	lines := ordered.Map(rows, func(row [2]string) []string { return row[:] })
	return cmp.Or(report.WriteRows(w, lines, 2), err)
}

// whetherPulled returns yes or no, for a column of a table.
func whetherPulled(s datasets.Source) string {
	_, err := s.Find()
	return map[bool]string{true: "yes", false: "no"}[err == nil]
}

func yes(is bool) string { return map[bool]string{true: "yes", false: "-"}[is] }

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

func suitesCommand() *cobra.Command {
	var check bool
	var api string
	c := command("suites", cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
		w := c.OutOrStdout()
		switch {
		case check && len(args) > 0:
			var b strings.Builder // buffered: print nothing if one of the suites cannot be read
			for _, name := range args {
				s, mistakes, err := study.CheckSuite(c.Context(), name)
				if err != nil {
					return err
				}
				suites.WriteCheck(&b, name, s, mistakes)
			}
			_, err := io.WriteString(w, b.String())
			return err
		case len(args) > 1:
			return usagef("expected one suite; only --check reads several")
		case len(args) == 0 && (check || api != ""):
			return usagef("expected the name of a suite, or a file")
		case len(args) == 0:
			return listSuites(w)
		}
		s, err := suite.Load(args[0])
		switch {
		case err != nil:
			return err
		case api != "":
			all := instruments()
			i := slices.IndexFunc(all, func(in instrument) bool { return in.name == s.Instrument })
			return suites.WriteRequests(w, s, crosstalk.API(api), all[i].requests)
		}
		return suites.Write(w, s)
	})
	config.Declare(c, "", []config.Flag{
		{Name: "api", To: &api, Choices: apis, Help: "print what is sent instead: chat, completions or responses"},
		{Name: "check", To: &check, Help: "list likely mistakes of suites instead"},
	})
	c.MarkFlagsMutuallyExclusive("api", "check")
	c.AddCommand(suitesPullCommand())
	return c
}

func listSuites(stdout io.Writer) error {
	embedded, err := suite.Embedded()
	if err != nil {
		return err
	}
	own := [][]string{{"NAME", "INSTRUMENT", "LANGUAGE", "ITEMS", "CLUSTERS", "LICENSE"}}
	for _, s := range embedded {
		own = append(own, []string{s.Name, s.Instrument, suites.Languages(s), strconv.Itoa(s.Items.Len()),
			fmt.Sprintf("%d %s", s.Clusters(), s.ClusterNoun()), s.License})
	}
	pulled := [][]string{{"TO PULL", "INSTRUMENT", "SIZE", "ON THIS MACHINE", "LICENSE"}}
	for _, s := range datasets.All(datasets.Suite) {
		pulled = append(pulled, []string{s.Name, s.Instrument, fetch.Size(s.Size()), whetherPulled(s), s.License})
	}
	return writeLists(stdout, own, pulled)
}

func suitesPullCommand() *cobra.Command {
	nameOf := func(s datasets.Source) string { return s.Name }
	names := strings.Join(ordered.Distinct(datasets.All(datasets.Suite), nameOf), ", ")
	c := command("suites pull", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		s, ok := datasets.Named(datasets.Suite, args[0])
		if !ok {
			return fmt.Errorf("unknown data set %q; choose one of: %s", args[0], names)
		}
		dir, err := pullSource(c, s)
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), dir)
		}
		return err
	})
	c.Long = strings.ReplaceAll(c.Long, "{names}", names)
	addQuiet(c, "print only the folder and errors")
	return c
}

// pullSource fetches the missing files of a source and returns its folder.
func pullSource(c *cobra.Command, s datasets.Source) (dir string, err error) {
	if dir, err := s.Find(); err == nil {
		return dir, nil
	}
	fmt.Fprintf(notes(c), "%s: %s\nlicence: %s\ncite: %s\nfrom: %s (%s), see %s\n",
		s.Name, s.What, cmp.Or(s.Terms, s.License), s.Cite, s.Files[0].URLs[0], fetch.Size(s.Size()), s.Home)
	return download(c, s.Pull)
}

// download shows the progress of a download. An interrupt ends it and keeps what has arrived.
func download(c *cobra.Command, pull func(context.Context, fetch.Progress) (string, error)) (dir string, err error) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	show, done := fetch.Show(notes(c))
	dir, err = pull(ctx, show)
	done()
	if err != nil && ctx.Err() != nil {
		return "", &exitError{exitInterrupted, errors.New("interrupted; run the same command again to resume")}
	}
	return dir, err
}
