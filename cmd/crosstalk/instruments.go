package main

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

// instrument is the commands of an instrument, and how suites of it are shown.
type instrument struct {
	name       string
	run, score func() *cobra.Command
	calibrate  func(c *cobra.Command) func() calibrate.Settings // adds flags, and returns what reads them
	columns    []string                                         // beside an item's id
	show       func(b *strings.Builder, s *suite.Suite, i crosstalk.Item)
	requests   func(p crosstalk.PromptConfig, s *suite.Suite, i crosstalk.Item) []named
	describe   func(s *suite.Suite) string // behind the number of items
}

// instruments are all. It is a function, since their commands use it.
func instruments() []instrument {
	return []instrument{
		{"leakage", runLeakageCommand, scoreLeakageCommand, calibrateLeakage,
			[]string{"category"}, showPair, pairRequests, describePairs},
		{"confusion", runConfusionCommand, scoreConfusionCommand, calibrateConfusion,
			[]string{"task", "source", "language"}, showPrompt, promptRequests, describePrompts},
		{"consistency", runConsistencyCommand, scoreConsistencyCommand, calibrateConsistency,
			[]string{"task", "category"}, showInput, inputRequests, describeTasks},
	}
}

// instrumentOf is the instrument of a suite.
func instrumentOf(s *suite.Suite) instrument {
	all := instruments()
	return all[slices.IndexFunc(all, func(in instrument) bool { return in.name == s.Instrument })]
}

// each returns a command of each instrument.
func each(command func(instrument) *cobra.Command) (commands []*cobra.Command) {
	for _, in := range instruments() {
		commands = append(commands, command(in))
	}
	return commands
}
