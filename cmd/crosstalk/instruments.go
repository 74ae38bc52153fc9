package main

import (
	"context"
	"slices"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"

	"github.com/spf13/cobra"
)

// instrument is the commands of an instrument, and what it sends for an item.
type instrument struct {
	name       string
	run, score func() *cobra.Command
	calibrate  func(context.Context, calibrate.Settings) ([]calibrate.Result, error)
	requests   func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest
}

// instruments are all. It is a function, since their commands use it.
func instruments() []instrument {
	return []instrument{
		{"leakage", runLeakageCommand, scoreLeakageCommand, calibrate.Leakage, leakage.Requests},
		{"confusion", runConfusionCommand, scoreConfusionCommand, calibrate.Confusion, confusion.Requests},
		{"consistency", runConsistencyCommand, scoreConsistencyCommand, calibrate.Consistency, consistency.Requests},
	}
}

// instrumentNamed is the instrument with this name.
func instrumentNamed(name string) instrument {
	all := instruments()
	return all[slices.IndexFunc(all, func(in instrument) bool { return in.name == name })]
}

// each returns a command of each instrument.
func each(command func(instrument) *cobra.Command) (commands []*cobra.Command) {
	for _, in := range instruments() {
		commands = append(commands, command(in))
	}
	return commands
}
