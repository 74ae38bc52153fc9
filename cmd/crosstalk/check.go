package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var language string
	var checker guard.Checker
	var threshold string
	c := command("check", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		var err error
		if checker.Threshold, err = readThreshold(threshold); err != nil {
			return err
		}
		in, name := c.InOrStdin(), "standard input"
		if len(args) > 0 {
			f, err := openText(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			in, name = f, args[0]
		}
		if language != "" {
			return checker.CheckText(c.OutOrStdout(), in, name, language)
		}
		err = checker.CheckLines(c.OutOrStdout(), in, name)
		if errors.As(err, new(*guard.UncheckedError)) {
			return &exitError{exitIncomplete, err}
		}
		return err
	})
	config.Declare(c, "", []config.Flag{
		{Name: "language", To: &language, Reach: config.Nothing,
			Help: "read one plain text, which should be in this `language`"},
		{Name: "threshold", To: &threshold, Reach: config.Nothing,
			Help: "an answer is wrong if a span has at least this " + thresholdHelp},
	})
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

// openText opens a file that the user names, which may be a link or a pipe: <(zcat answers.jsonl.gz).
func openText(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; without a name, standard input is read", path)
	} else if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s: is a directory; expected a file", path)
	}
	return f, nil
}
