package main

import (
	"os"
	"runtime/debug"

	"crosstalk/guard"
	"crosstalk/guard/server"
	"crosstalk/internal/config"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// mostMemory is the garbage collector's soft limit, unless GOMEMLIMIT sets another.
const mostMemory = 80 << 20

func guardCommand() *cobra.Command {
	var addr, lid string
	var threshold string
	var o server.Options
	c := command("guard", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		identifier, err := study.OpenIdentifier(lid)
		if err != nil {
			return err
		}
		o.Checker = guard.Checker{Identifier: identifier}
		if o.Checker.Threshold, err = readThreshold(threshold); err != nil {
			return err
		}
		if err := o.Check(); err != nil {
			return err
		}
		ctx, stop := untilSignal(c.Context())
		defer stop()
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(mostMemory)
		}
		return server.Serve(ctx, c.ErrOrStderr(), addr, o)
	})
	addAddress(c, &addr, "127.0.0.1:8030", &o.Hosts)
	config.Declare(c, "", []config.Flag{
		{Name: "language", To: &o.Language, Reach: config.Nothing,
			Help: "the language of records that name none: a tag such as ko, or user: that of the user's message " +
				"(default: refuse them)"},
		{Name: "block", To: &o.Block, Help: "tell callers to stop answers in another language, or with words of one"},
		{Name: "log-verdicts", To: &o.LogVerdicts, Reach: config.Path,
			Help: "append each verdict, without the text, to this file as a line of JSON; at 64 MiB it becomes FILE.1"},
		{Name: "threshold", To: &threshold, Reach: config.Nothing,
			Help: "an answer is wrong if a part has at least this " + thresholdHelp},
		{Name: "lid", To: &lid, Reach: config.Path,
			Help: "a fastText language identification model, for lines in languages without a model of words " +
				"(default: a small embedded one)"},
	})
	return c
}
