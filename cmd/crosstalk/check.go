package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"crosstalk"
	"crosstalk/check"
	"crosstalk/guard"
	"crosstalk/guard/server"
	"crosstalk/internal/config"
	"crosstalk/internal/interrupt"
	"crosstalk/recorded"
	"crosstalk/study"
	"crosstalk/web"

	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var o check.Options
	var threshold string
	var pairs []string
	c := command("check", cobra.ArbitraryArgs, func(c *cobra.Command, paths []string) error {
		var err error
		if o.Checker.Threshold, err = readThreshold(threshold); err != nil {
			return err
		}
		if o.Columns, err = recorded.ParseColumns(pairs); err != nil {
			return err
		}
		o.Note = func(text string) { fmt.Fprintln(notes(c), text) }
		if len(paths) == 0 && o.Language != "" && o.Language != guard.User {
			return o.Text(c.OutOrStdout(), c.InOrStdin())
		}
		result, err := o.Run(c.OutOrStdout(), c.InOrStdin(), paths)
		switch {
		case err != nil:
			return err
		case 2*result.Unchecked > result.Answers:
			return &exitError{exitIncomplete, fmt.Errorf("most answers were not checked: the language is not known for %d of %d",
				result.Unchecked, result.Answers)}
		case result.Findings > 0:
			return &exitError{exitGate, errors.New("")}
		}
		return nil
	})
	config.Declare(c, "", []config.Flag{
		{Name: "language", To: &o.Language,
			Help: "the `language` of answers and files that do not name one, or user: the user's language in a chat"},
		{Name: "threshold", To: &threshold,
			Help: "an answer is wrong if a span has at least this " + thresholdHelp},
		{Name: "column", To: &pairs,
			Help: "columns of logs that have other names, as in completion=reply,language=locale"},
		{Name: "baseline", To: &o.Baseline,
			Help: "a file of findings that are accepted, as --format jsonl writes them"},
		{Name: "format", To: &o.Format, Choices: check.Formats,
			Help: "text, jsonl, github or sarif (default: a line of JSON for each answer, text for files)"},
	})
	addQuiet(c, "print only findings and errors")
	return c
}

const thresholdHelp = "`risk`: observe (0.1), warn (0.5), block (0.95) or a probability (default: warn)"

func readThreshold(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	x, err := crosstalk.ParseThreshold(text)
	if err != nil {
		return 0, crosstalk.BadOption("threshold", ": %w", err)
	}
	return x, nil
}

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
		if err := o.Checker.CheckLanguage(o.Language); err != nil {
			return err
		}
		ctx, stop := untilSignal(c.Context())
		defer stop()
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(80 << 20) // soft limit of the garbage collector
		}
		return server.Serve(ctx, c.ErrOrStderr(), addr, o)
	})
	addAddress(c, &addr, "127.0.0.1:8030", &o.Hosts)
	config.Declare(c, "", []config.Flag{
		{Name: "language", To: &o.Language,
			Help: "the language of records that name none: a tag such as ko, or user: the language of the user's message " +
				"(default: refuse them)"},
		{Name: "block", To: &o.Block, Help: "tell callers to stop answers in another language, or with words of one"},
		{Name: "log-verdicts", To: &o.LogVerdicts, Rare: true,
			Help: "append each verdict, without the text, to this file as a line of JSON; at 64 MiB it becomes FILE.1"},
		{Name: "threshold", To: &threshold,
			Help: "an answer is wrong if a part has at least this " + thresholdHelp},
		{Name: "lid", To: &lid,
			Help: "a fastText language identification model, for lines in languages without a model of words " +
				"(default: a small embedded one)"},
	})
	return c
}

func serveCommand() *cobra.Command {
	var addr string
	var hosts []string
	c := command("serve", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		dir := "runs" // it need not exist yet
		if len(args) > 0 {
			dir = args[0]
			if err := web.CheckDir(dir, true); err != nil {
				return err
			}
		}
		ctx, stop := untilSignal(c.Context())
		defer stop()
		return web.Serve(ctx, c.ErrOrStderr(), dir, addr, hosts)
	})
	addAddress(c, &addr, "127.0.0.1:8020", &hosts)
	return c
}

func addAddress(c *cobra.Command, addr *string, standard string, hosts *[]string) {
	*addr = standard
	config.Declare(c, "", []config.Flag{
		{Name: "addr", To: addr, Help: "address and port to listen on; port 0 is any free port"},
		{Name: "host", To: hosts,
			Help: "host names to accept besides localhost and IP addresses"},
	})
}

// untilSignal returns a context that ends with the first interrupt. The second one kills the process, whatever it waits
// for: a slow client, or a file that cannot be read. No data is lost: indexes are made anew.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	return interrupt.Context(ctx, func() { os.Exit(exitInterrupted) })
}
