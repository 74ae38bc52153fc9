package main

import (
	"errors"
	"fmt"

	"crosstalk"
	"crosstalk/check"
	"crosstalk/guard"
	"crosstalk/internal/config"
	"crosstalk/recorded"

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
		{Name: "language", To: &o.Language, Reach: config.Nothing,
			Help: "the `language` of answers and files that do not say theirs, or user: that of the user in a chat"},
		{Name: "threshold", To: &threshold, Reach: config.Nothing,
			Help: "an answer is wrong if a span has at least this " + thresholdHelp},
		{Name: "column", To: &pairs, Reach: config.Nothing,
			Help: "columns of logs that have other names, as in completion=reply,language=locale"},
		{Name: "baseline", To: &o.Baseline, Reach: config.Path,
			Help: "a file of findings that are accepted, as --format jsonl writes them"},
		{Name: "format", To: &o.Format, Choices: check.Formats,
			Help: "text, jsonl, github or sarif (default: a line of JSON for each answer, text for files)"},
	})
	addQuiet(c, "print only findings and errors")
	return c
}

const thresholdHelp = "`risk`: observe (0.1), warn (0.5), block (0.95) or a probability (default: warn)"

// readThreshold reads the flag --threshold, 0 if it is not given.
func readThreshold(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	x, err := guard.ParseThreshold(text)
	if err != nil {
		return 0, crosstalk.BadOption("threshold", ": %w", err)
	}
	return x, nil
}
