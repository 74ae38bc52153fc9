package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"crosstalk/internal/fetch"
	"crosstalk/internal/ordered"
	"crosstalk/suite/datasets"

	"github.com/spf13/cobra"
)

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
