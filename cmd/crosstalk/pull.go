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
	show := newPullProgress(c.ErrOrStderr(), quiet)
	err = interruptible(c.Context(), func(ctx context.Context) error {
		dir, err = s.Pull(ctx, show.file)
		show.end()
		return err
	})
	return dir, err
}

// interruptible lets an interrupt end a download, of which the part stays.
func interruptible(ctx context.Context, pull func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := pull(ctx)
	if err != nil && ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: what arrived is kept; run the same command again to resume")}
	}
	return err
}
