package main

import (
	"slices"
	"testing"

	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

// Whoever adds a flag that takes any text says what a file that was only found
// may do with it.
func TestEveryFlagHasReach(t *testing.T) {
	marked := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Name() != "init" && sub.Name() != "help" && sub.Name() != "completion" {
				walk(sub)
			}
		}
		c.InheritedFlags()
		for f := range flagsOf(c) {
			if slices.Contains([]string{"help", "version", config.Flag}, f.Name) || f.Hidden {
				continue
			}
			marked++
			if !config.Marked(f) {
				t.Errorf("%s --%s: say where it is defined what its values reach: config.Sensitive(flags, %[2]q, ...) or config.Path(flags, %[2]q) "+
					"for programs, addresses, credentials and files, else config.Harmless(flags, %[2]q); exactly one of them", c.CommandPath(), f.Name)
			}
		}
	}
	walk(rootCommand())
	if marked < 100 {
		t.Errorf("only %d flags were found", marked)
	}
}
