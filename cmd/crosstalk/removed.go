package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// removed has a line for each command or flag of an earlier version: its name, and what to
// use instead.
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

// wasRemoved is the error that tells what replaces the command that the first argument
// of c named, nil if none was removed.
func wasRemoved(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, path, _ := strings.Cut(c.CommandPath()+" "+args[0], " ")
	if instead := insteadOf(path); instead != "" {
		return fmt.Errorf("%q was removed: %s", path, instead)
	}
	return nil
}
