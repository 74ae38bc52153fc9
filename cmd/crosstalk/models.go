package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"crosstalk/hub"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/model"

	"github.com/spf13/cobra"
)

func modelsCommand() *cobra.Command {
	return group("models", "List, fetch and check models",
		`List the models that can be asked; list, fetch and check those that compare texts.`,
		modelsListCommand(), modelsPullCommand(), modelsCheckCommand())
}

func modelsListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List providers, and models for --similarity", Args: cobra.NoArgs,
		Long: `List the providers whose models can be asked (--model provider:name), with the
environment variable that holds the API key, and the models for --similarity
that are known by default, with the commit that is in the cache.`,
		RunE: func(c *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "PROVIDER\tKEY VARIABLE\tSET\tBASE URL\tLOCAL")
			for _, p := range model.Presets() {
				url := p.BaseURL
				if url == "" {
					url = "(--base-url)"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.KeyVar, yes(os.Getenv(p.KeyVar) != ""), url, yes(p.Local))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w, "\nSIMILARITY\tUSED FOR\tMODEL\tIN THE CACHE")
			fmt.Fprintf(w, "gloss\ten, by default\tgloss@%d\tembedded\n", gloss.Version)
			for _, m := range []struct{ kind, use, name string }{
				{"bertscore", "en", bertscore.ModelFor("en")},
				{"bertscore", "zh", bertscore.ModelFor("zh")},
				{"bertscore", "other languages", bertscore.ModelFor("")},
				{"sbert", "en, Smilga 2025", defaultSBERT},
				{"sbert", "en, Gonen et al. 2024", "efederici/sentence-bert-base"},
			} {
				known, err := parseHubModel(m.kind, m.name)
				if err != nil {
					return err
				}
				_, commit, err := known.find()
				if errors.As(err, new(*hub.MissingError)) {
					commit, err = "no", nil
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.kind, m.use, known.name, commit)
			}
			return w.Flush()
		},
	}
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

func modelsPullCommand() *cobra.Command {
	var revision string
	var quiet bool
	c := &cobra.Command{
		Use:   "pull MODEL",
		Short: "Fetch a model for --similarity",
		Long: `Fetch a model from the Hugging Face Hub into the cache that its own libraries
use, and print its folder. What is there already is not fetched again; what was
begun goes on where it stopped. Every file is checked against its checksum.

HF_HOME or HF_HUB_CACHE say where the cache is, HF_TOKEN opens models that are
gated or private, HF_ENDPOINT names another hub, HF_HUB_OFFLINE=1 forbids to
fetch. Weights are read as safetensors only.`,
		Example: `  crosstalk models pull bertscore
  crosstalk models pull bertscore:bert-base-multilingual-cased
  crosstalk models pull sbert:sentence-transformers/all-MiniLM-L6-v2
  crosstalk models pull efederici/sentence-bert-base --revision main`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := parseModelArgument(args[0])
			if err != nil {
				return err
			}
			if revision != "" {
				if m.revision != "" && m.revision != revision {
					return fmt.Errorf("%s and --revision %s: name one revision", m, revision)
				}
				m.revision = revision
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			show := newPullProgress(c.ErrOrStderr(), quiet)
			dir, _, err := hub.Pull(ctx, m.name, m.revision, show.file)
			show.end()
			switch {
			case err != nil && ctx.Err() != nil:
				return &exitError{exitInterrupted, errors.New("interrupted: what arrived is kept; the same command goes on from there")}
			case err != nil:
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), dir)
			return err
		},
	}
	c.Flags().StringVar(&revision, "revision", "", "a branch, tag or commit (default main; MODEL@REVISION is the same)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print the folder and errors only")
	return c
}

// parseModelArgument reads KIND, KIND:MODEL or MODEL.
func parseModelArgument(arg string) (hubModel, error) {
	kind, name, colon := strings.Cut(arg, ":")
	switch {
	case kind == "bertscore" && name == "":
		name = bertscore.ModelFor("en")
	case kind == "sbert" && name == "":
		name = defaultSBERT
	case kind == "bertscore" || kind == "sbert":
	case colon && !hub.IsPath(arg):
		return hubModel{}, fmt.Errorf("%q: expected bertscore:MODEL, sbert:MODEL or a model's name at the Hugging Face Hub", arg)
	default:
		kind, name = "", arg
	}
	return parseHubModel(kind, name)
}

// pullProgress shows on stderr how far files are: one line that is rewritten
// on a terminal, a plain line now and then elsewhere.
type pullProgress struct {
	w        io.Writer
	terminal bool
	name     string
	first    int64 // bytes that were there before
	started  time.Time
	shown    time.Time
}

func newPullProgress(w io.Writer, quiet bool) *pullProgress {
	if quiet {
		w = io.Discard
	}
	return &pullProgress{w: w, terminal: isTerminal(w)}
}

func (p *pullProgress) file(name string, done, total int64) {
	now := time.Now()
	if name != p.name {
		p.name, p.first, p.started, p.shown = name, done, now, now
		if !p.terminal {
			fmt.Fprintf(p.w, "%s, %s\n", name, size(total))
		}
		return
	}
	every := 10 * time.Second
	if p.terminal {
		every = 200 * time.Millisecond
	}
	if now.Sub(p.shown) < every {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%s, %s of %s", name, size(done), size(total))
	if rate := float64(done-p.first) / now.Sub(p.started).Seconds(); rate > 0 {
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		line += fmt.Sprintf(", %s/s, %v left", size(int64(rate)), left.Round(time.Second))
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(p.w, line)
	}
}

func (p *pullProgress) end() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func size(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
