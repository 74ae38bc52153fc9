package main

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"crosstalk/internal/config"
	"crosstalk/internal/nearest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// explainFlag says what is wrong with a flag, and which one may have been meant. A flag
// of a removed command needs no other explanation than the command.
func explainFlag(c *cobra.Command, err error) error {
	if err := wasRemoved(c, c.Flags().Args()); err != nil {
		return err
	}
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		if instead := insteadOf("--" + unknown.GetSpecifiedName()); instead != "" {
			return fmt.Errorf("--%s was removed: %s", unknown.GetSpecifiedName(), instead)
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := nearest.Of(unknown.GetSpecifiedName(), names); near != "" {
			return fmt.Errorf("unknown flag: --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		switch {
		case f.Value.Type() == "bool":
			return fmt.Errorf("--%s takes no value, found %q", f.Name, invalid.GetValue())
		case errors.As(err, new(*strconv.NumError)):
			return fmt.Errorf("--%s is %q; expected %s", f.Name, invalid.GetValue(), config.Expected(f))
		}
	}
	return err
}

// wrongArguments says what a command expects beside its flags.
func wrongArguments(c *cobra.Command, args []string) error {
	expected := strings.TrimSuffix(c.UseLine(), " [flags]")
	found := "no argument"
	switch n := len(args); {
	case c.Use == c.Name(): // no arguments
		return fmt.Errorf("unexpected %q: '%s' takes flags only", args[0], c.CommandPath())
	case n == 1:
		found = "one argument"
	case n > 1:
		found = fmt.Sprintf("%d arguments", n)
	}
	return fmt.Errorf("expected '%s', found %s", expected, found)
}

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
