package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// removed has a line for each command or flag of an earlier version: its name, and what to use instead.
//
//go:embed removed.txt
var removed string

// insteadOf tells what replaces a command or a flag, "" if it was not removed.
func insteadOf(name string) string {
	for line := range strings.Lines(removed) {
		if old, instead, _ := strings.Cut(strings.TrimSpace(line), ": "); old == name {
			return instead
		}
	}
	return ""
}

// wasRemoved is the error that tells what replaces the command that the first one or two
// arguments of c named, nil if none was removed.
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
