package main

import (
	"fmt"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/internal/statusline"
	"crosstalk/recorded"
	"crosstalk/report"
	"crosstalk/run/watch"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// score is the command that scores recorded answers.
func (in instrument) score() *cobra.Command {
	s, f := &scoreFlags{}, in.flags()
	c := command("score "+in.name, cobra.MinimumNArgs(1), func(c *cobra.Command, files []string) error {
		err := s.score(c, func() (*study.Study, error) { return f.recorded(s, files) })
		if err == nil {
			f.note(notes(c))
		}
		return err
	})
	s.add(c)
	f.addScore(c)
	f.add(c)
	return c
}

// scoreFlags are the flags of every command that scores recorded answers.
type scoreFlags struct {
	answerFlags
	model   string
	out     string
	shard   shardFlag
	pairs   []string
	columns map[string]string // of pairs
	pattern string
	name    *recorded.FileName // of pattern
}

func (s *scoreFlags) add(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{
		{Name: "model,m", To: &s.model, Reach: config.Nothing,
			Help: "name of the model in rows without one (default: the file's name)"},
		{Name: "column", To: &s.pairs, Reach: config.Nothing,
			Help: "columns that have other names in the file, as in completion=reply,language=locale; " +
				"choices.0.text is a place in nested JSON"},
		{Name: "file-name", To: &s.pattern, Reach: config.Nothing,
			Help: "columns in the names of files, such as {dataset}_prompts_{model}, for rows without them"},
		{Name: "out", To: &s.out, Reach: config.Path, Help: "a run directory to write observations and figures to"},
	})
	s.shard.add(c)
	s.answerFlags.add(c)
}

// score opens a study of recorded answers, scores them, and reports.
func (s *scoreFlags) score(c *cobra.Command, open func() (*study.Study, error)) error {
	err := s.check()
	if err != nil {
		return err
	}
	if s.columns, err = recorded.ParseColumns(s.pairs); err != nil {
		return err
	}
	if s.name, err = recorded.ParseFileName(s.pattern); err != nil {
		return fmt.Errorf("--file-name: %w", err)
	}
	of, err := open()
	if err != nil {
		return err
	}
	if s.shard.text != "" && s.out == "" {
		return crosstalk.BadOption("shard", " needs --out: what the shards find is merged there")
	}
	if _, err := s.shard.take(c, of, &ask.Options{}); err != nil {
		return err
	}
	s.follow(of)
	stop := func() {}
	if statusline.IsTerminal(notes(c)) {
		of.Observe, stop = watch.ShowScored(notes(c), of.Observe)
	}
	var result study.Result
	if s.out == "" {
		result, err = of.Score(c.Context())
	} else {
		result, err = of.Run(c.Context(), s.out, ask.Options{})
	}
	stop()
	if err != nil {
		return err
	}
	if err := s.print(c, of, result); err != nil {
		return err
	}
	for _, note := range of.Remarks() {
		fmt.Fprintln(notes(c), note)
	}
	switch {
	case s.out != "":
		sayNext(notes(c), s.out)
	case s.format == report.Formats[0]:
		fmt.Fprintln(notes(c), "To read every answer, add --out DIRECTORY; crosstalk serve and crosstalk report show it.")
	}
	if !of.Shard().IsZero() {
		return nil
	}
	return withCode(study.Unchecked(of.Instrument, result.Estimates))
}
