package main

import (
	"context"
	"io"
	"slices"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/model/reference"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// instrument is what the commands of an instrument need.
type instrument struct {
	name           string
	flags          func() instrumentFlags
	standIn, suite string // what is asked unless flags say so: a reference model, and a suite
	calibrate      func(context.Context, calibrate.Settings) ([]calibrate.Result, error)
	requests       func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest
}

// instrumentFlags are the flags of an instrument, and the studies that they describe.
type instrumentFlags interface {
	add(c *cobra.Command)      // how answers are scored
	addRun(c *cobra.Command)   // what is asked
	addScore(c *cobra.Command) // what was recorded

	study(r *runFlags) (*study.Study, error)
	recorded(s *scoreFlags, files []string) (*study.Study, error)
	note(w io.Writer) // after the figures
}

// plainFlags are the flags of an instrument that has only flags for scoring.
type plainFlags struct{}

func (plainFlags) addRun(*cobra.Command)   {}
func (plainFlags) addScore(*cobra.Command) {}
func (plainFlags) note(io.Writer)          {}

// instruments are all. It is a function, since their commands use it.
func instruments() []instrument {
	return []instrument{
		{"leakage", func() instrumentFlags { return &leakageFlags{} }, reference.DefaultLeaky, "leakage-en",
			calibrate.Leakage, leakage.Requests},
		{"confusion", func() instrumentFlags { return &confusionFlags{} }, reference.DefaultConfused, "confusion",
			calibrate.Confusion, confusion.Requests},
		{"consistency", func() instrumentFlags { return &consistencyFlags{} }, reference.DefaultInconsistent, "consistency",
			calibrate.Consistency, consistency.Requests},
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
