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
			if slices.Contains([]string{"help", "version", config.FileFlag}, f.Name) || f.Hidden {
				continue
			}
			marked++
			if f.Annotations["config-reach"] == nil && config.Expected(f) == "text" {
				t.Errorf("%s --%s: say in its config.Flag what its values reach: config.Path, config.Program and others, or config.Nothing",
					c.CommandPath(), f.Name)
			}
		}
	}
	walk(rootCommand())
	if marked < 100 {
		t.Errorf("only %d flags were found", marked)
	}
}
