package main

import (
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
	calibrate  func(calibrateFlags) calibrate.Settings
	requests   func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest
}

// instruments are all. It is a function, since their commands use it.
func instruments() []instrument {
	return []instrument{
		{"leakage", runLeakageCommand, scoreLeakageCommand, calibrateLeakage, leakage.Requests},
		{"confusion", runConfusionCommand, scoreConfusionCommand, calibrateConfusion, confusion.Requests},
		{"consistency", runConsistencyCommand, scoreConsistencyCommand, calibrateConsistency, consistency.Requests},
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
