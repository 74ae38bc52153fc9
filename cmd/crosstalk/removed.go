package main

import (
	_ "embed"
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

// removedCommand is the words of the command that the first argument of c named, if that
// was removed, and what replaces it.
func removedCommand(c *cobra.Command, args []string) (path, instead string) {
	if len(args) == 0 {
		return "", ""
	}
	_, path, _ = strings.Cut(c.CommandPath()+" "+args[0], " ")
	return path, insteadOf(path)
}
