package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"crosstalk/internal/config"
	"crosstalk/internal/plainfile"
	"crosstalk/web/access"
	"crosstalk/web/annotate"

	"github.com/spf13/cobra"
)

type annotateFlags struct {
	annotate.Options
	addr, guideline string
}

func annotateCommand() *cobra.Command {
	var a annotateFlags
	c := &cobra.Command{
		Use:   "annotate RUN",
		Short: "Ask people about a run's answers in a web browser",
		Long: `Ask people about the answers of a run in a web browser, one question at a time.
The address to open is printed on stderr. Each answer is in RUN/labels.jsonl
before the next question shows: whoever closes the browser goes on later.

  leakage       which of two texts is more related to the word X
  confusion     is the answer in the right language, and which words are not
  lines         the same of a line
  consistency   do two answers mean the same
  reading       what does the answer say
  codes         why do two answers differ
  instructions  is the rewritten instruction right (also before the run is finished)

Questions are blind: pages name no model, setting or item. The order, and which
text is A, are drawn for each annotator from --seed and a secret of the run.

By default, only this machine has access, and annotators give their names. With
--annotator, each one needs the token in the address that is printed for them; it
stays the same when the command is run again. Any other --addr needs --annotator.

--sample N asks about N of the answers, as many from each value of the columns in
--by; --only asks about some answers only. Then use 'crosstalk agreement', and
'crosstalk report --corrected'.`,
		Example: `  crosstalk annotate RUN
  crosstalk annotate RUN --sample 200 --by category,finding
  crosstalk annotate RUN --question lines --sample 60 --only doubtful
  crosstalk annotate RUN --addr :8021 --annotator ann,bob     for others, with tokens`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return a.serve(ctx, c.ErrOrStderr(), args[0])
		},
	}
	f := c.Flags()
	f.StringSliceVar(&a.Questions, "question", nil, "what to ask (default: all that the run has)")
	addSample(f, &a.Sample)
	f.StringVar(&a.guideline, "guideline", "", "a text file to show in place of the guidelines of the questions")
	f.StringVar(&a.addr, "addr", "127.0.0.1:8021", "address and port to listen on; port 0 is any free port")
	f.StringSliceVar(&a.Annotators, "annotator", nil, "names of annotators who get a token each (default: whoever comes gives a name)")
	f.StringSliceVar(&a.Hosts, "host", nil, "host names to accept besides localhost and IP addresses")
	config.Path(f, "guideline")
	config.Harmless(f, "question")
	for _, name := range []string{"addr", "annotator", "host"} {
		config.Sensitive(f, name, config.Access)
	}
	f.SortFlags = false
	return c
}

// maxGuideline is the maximum size of a guideline in bytes.
const maxGuideline = 1 << 20

// serve asks about the run until ctx ends.
func (a *annotateFlags) serve(ctx context.Context, stderr io.Writer, path string) error {
	if err := a.Sample.Check(); err != nil {
		return err
	}
	for i, name := range a.Annotators {
		a.Annotators[i] = strings.TrimSpace(name)
		if err := annotate.CheckName(a.Annotators[i]); err != nil {
			return fmt.Errorf("--annotator %q: %w", name, err)
		}
		if slices.Contains(a.Annotators[:i], a.Annotators[i]) {
			return fmt.Errorf("--annotator: duplicate name %s", a.Annotators[i])
		}
	}
	if a.guideline != "" {
		text, err := plainfile.Read(a.guideline, maxGuideline)
		if err != nil {
			return err
		}
		for paragraph := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n") {
			if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
				a.Guide = append(a.Guide, paragraph)
			}
		}
	}
	at, err := access.Listen(a.addr, a.Hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	if !at.Loopback() && len(a.Annotators) == 0 {
		return &usageError{errors.New("--addr " + a.addr + " lets others connect; name those who may with --annotator")}
	}
	a.Hosts = at.Hosts
	server, err := annotate.New(path, a.Options)
	if err != nil {
		return err
	}
	for _, reason := range server.LeftOut {
		fmt.Fprintf(stderr, "Not asked: %v\n", reason)
	}
	if len(a.Annotators) == 0 {
		fmt.Fprintf(stderr, "%s: %s\n", server.Count(), at.URL)
	}
	for _, name := range a.Annotators {
		fmt.Fprintf(stderr, "%s for %s: %s?token=%s\n", server.Count(), name, at.URL, server.Token(name))
	}
	if !at.Loopback() {
		fmt.Fprintln(stderr, "Whoever has such an address can answer under that name. The connection is not encrypted.")
	}
	return at.Serve(ctx, server)
}
