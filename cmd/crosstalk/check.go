package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"crosstalk/guard"
	"crosstalk/internal/config"
	"crosstalk/internal/plainfile"
	"crosstalk/internal/visible"

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
is right, wrong or cannot_tell. The language is a tag such as ko, pt-BR or
zh-Hant, or user: then it is that of the field prompt, or of the last message
of the user in messages.

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
				f, err := plainfile.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in, name = f, args[0]
			}
			if language != "" {
				return checkText(c.OutOrStdout(), in, name, language, checker)
			}
			return checkLines(c.OutOrStdout(), in, name, checker)
		},
	}
	c.Flags().StringVar(&language, "language", "", "read one plain text, which should be in this `language`")
	c.Flags().BoolVar(&checker.Strict, "strict", false, "take no excuses: every span makes an answer wrong")
	c.Flags().SortFlags = false
	config.Harmless(c.Flags(), "language")
	return c
}

// longestText is the longest text, or line of JSON, that is checked, in bytes.
const longestText = 16 << 20

func checkLines(w io.Writer, r io.Reader, name string, checker guard.Checker) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestText)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	n := 0
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		request, err := guard.ParseRequest(lines.Bytes(), "")
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		response, err := request.Check(checker)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err := out.Encode(response); err != nil {
			return err
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return fmt.Errorf("%s:%d: longer than %d MB", name, n+1, longestText>>20)
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func checkText(w io.Writer, r io.Reader, name, language string, checker guard.Checker) error {
	data, err := io.ReadAll(io.LimitReader(r, longestText+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > longestText {
		return fmt.Errorf("%s: longer than %d MB", name, longestText>>20)
	}
	text := string(data)
	j, err := checker.Check(text, language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, marked(text, j)+"\n"+summary(j)+"\n")
	return err
}

// marked returns a text with its foreign parts in brackets that name their language. It cannot control a terminal.
func marked(text string, j guard.Judgement) string {
	var b strings.Builder
	at := 0
	for _, s := range j.Spans {
		if s.Excuse != "" {
			continue
		}
		b.WriteString(visible.Text(text[at:s.Start]))
		fmt.Fprintf(&b, "[%s: %s]", s.Language, visible.Text(text[s.Start:s.End]))
		at = s.End
	}
	b.WriteString(visible.Text(text[at:]))
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// summary is the verdict in a line.
func summary(j guard.Judgement) string {
	switch j.Verdict {
	case guard.CannotTell:
		return "cannot tell: too little to judge by"
	case guard.Right:
		return fmt.Sprintf("right (p %.2f)", j.P)
	}
	lines, words := 0, 0
	for _, s := range j.Spans {
		switch {
		case s.Excuse != "":
		case s.Kind == guard.Line:
			lines++
		default:
			words++
		}
	}
	var parts []string
	if lines > 0 {
		parts = append(parts, fmt.Sprintf("lines: %d", lines))
	}
	if words > 0 {
		parts = append(parts, fmt.Sprintf("runs of words: %d", words))
	}
	return fmt.Sprintf("wrong (p %.2f); in another language: %s", j.P, strings.Join(parts, ", "))
}
