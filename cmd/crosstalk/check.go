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
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check whether answers are in the language they should be in",
		Long: `Check whether answers are in the language that they should be in, and say which
parts are not. No model is asked.

Reads JSON Lines from a file or from standard input, and writes one line of JSON
for each: {"id":"1","text":"...","language":"ko"} becomes {"id":"1","verdict":
"wrong","language":"en","p":0.99,...} with the parts in another language (spans)
and the parts that were not judged (masked), as bytes of the text. The verdict
is right, wrong or cannot_tell; judged says whether words were looked at, their
script, or only lines. The language is a tag such as ko, pt-BR or zh-Hant, or
user: then it is that of the field prompt, or of the user in messages, and if
that cannot be told, as of "ok", neither can the verdict. If that is so of most
lines, the exit code is 3.

A span with an excuse does not make an answer wrong: it may be a name, a loan
word, an explanation (gloss), a quotation, or it is doubtful. With --strict,
nothing is excused.

With --language, read one plain text instead, and print it with the parts in
another language marked.`,
		Example: `  crosstalk check answers.jsonl
  crosstalk check < answers.jsonl > verdicts.jsonl
  crosstalk check --language ko answer.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
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
		},
	}
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
