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

	"crosstalk/datasets"
	"crosstalk/internal/fetch"

	"github.com/spf13/cobra"
)

func suitesPullCommand() *cobra.Command {
	var names []string
	for _, s := range datasets.All(datasets.Suite) {
		names = append(names, s.Name)
	}
	var quiet bool
	c := &cobra.Command{
		Use: "pull NAME", Short: "Fetch a published data set", Args: cobra.ExactArgs(1),
		Long: `Fetch a data set that others published, and print its folder. The licence, the
authors and the address are shown first. What was begun goes on where it
stopped; every file is checked against its checksum. One of:
` + strings.Join(names, ", ") + `.

CROSSTALK_CACHE says where the cache is (default: crosstalk in the user's cache
folder), CROSSTALK_MIRROR an address that has copies, by host and path, and is
asked instead.`,
		Example: "  crosstalk suites pull lcb\n  crosstalk suites pull paws-x",
		RunE: func(c *cobra.Command, args []string) error {
			s, ok := datasets.Named(datasets.Suite, args[0])
			if !ok {
				return fmt.Errorf("there is no data set %q: choose one of %s", args[0], strings.Join(names, ", "))
			}
			dir, err := pullSource(c, s, quiet)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), dir)
			return err
		},
	}
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print the folder and errors only")
	return c
}

// pullSource fetches what is missing of a source and returns its folder.
func pullSource(c *cobra.Command, s datasets.Source, quiet bool) (dir string, err error) {
	if dir, err := s.Find(); err == nil {
		return dir, nil
	}
	if !quiet {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\nlicence: %s\ncite: %s\nfrom: %s (%s), see %s\n",
			s.Name, s.What, cmp.Or(s.Terms, s.License), s.Cite, s.Files[0].URLs[0], size(s.Size()), s.Home)
	}
	return download(c, quiet, s.Pull)
}

// download shows how far a download is and lets an interrupt end it; what
// arrived stays.
func download(c *cobra.Command, quiet bool, pull func(context.Context, fetch.Progress) (dir string, err error)) (dir string, err error) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	show := newPullProgress(c.ErrOrStderr(), quiet)
	dir, err = pull(ctx, show.file)
	show.line.Clear()
	if err != nil && ctx.Err() != nil {
		return "", &exitError{exitInterrupted, errors.New("interrupted: what arrived is kept; run the same command again to resume")}
	}
	return dir, err
}
