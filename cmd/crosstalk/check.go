package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"crosstalk/guard"
	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var language string
	var checker guard.Checker
	c := command("check", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
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
		err := checker.CheckLines(c.OutOrStdout(), in, name)
		if errors.As(err, new(*guard.UncheckedError)) {
			return &exitError{exitIncomplete, err}
		}
		return err
	})
	config.Declare(c, "", []config.Flag{
		{Name: "language", To: &language, Reach: config.Nothing,
			Help: "read one plain text, which should be in this `language`"},
		{Name: "strict", To: &checker.Strict, Help: "take no excuses: every span makes an answer wrong"},
	})
	return c
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
