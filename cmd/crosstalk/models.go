package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"crosstalk/datasets"
	"crosstalk/hub"
	"crosstalk/internal/config"
	"crosstalk/internal/fetch"
	"crosstalk/internal/visible"
	"crosstalk/measure/langid/embedded"
	"crosstalk/model"
	"crosstalk/study"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

func modelsCommand() *cobra.Command {
	return group("models", "List, fetch and check models",
		`List the providers of language models; list, fetch and check the models that
compare texts (--similarity) or identify languages (--lid).`,
		modelsListCommand(), modelsPullCommand(), modelsCheckCommand())
}

func modelsListCommand() *cobra.Command {
	var provider providerFlags
	c := &cobra.Command{
		Use: "list [PROVIDER:[PART] | IDENTIFIER]", Short: "List providers, a server's models, models for --similarity and --lid, or languages",
		Args: cobra.MaximumNArgs(1),
		Long: `Without an argument, list the providers of language models (--model
provider:name), with the environment variable of the API key; the default models
for --similarity, with the commit in the cache; and the models for --lid.

With a provider, ask its server which models it has, and print their names as
--model takes them, one per line. PART selects the names that contain it.

With an identifier (embedded, lid.176, lid.176.ftz or a file), print the codes of
the languages that it knows.`,
		Example: `  crosstalk models list
  crosstalk models list openai:
  crosstalk models list openrouter:qwen
  crosstalk models list compatible: --base-url http://localhost:8000/v1
  crosstalk models list embedded`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && study.IsIdentifier(args[0]) {
				return listLanguages(c.OutOrStdout(), args[0])
			}
			if len(args) > 0 {
				return provider.list(c.Context(), c.OutOrStdout(), args[0])
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "PROVIDER\tKEY VARIABLE\tSET\tBASE URL\tLOCAL")
			for _, p := range model.Presets() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.KeyVar, yes(os.Getenv(p.KeyVar) != ""), cmp.Or(p.BaseURL, "(--base-url)"), yes(p.Local))
			}
			fmt.Fprintln(w, "\nSIMILARITY\tUSED FOR\tMODEL\tIN THE CACHE")
			for _, m := range similarities.KnownModels() {
				commit, err := m.InCache()
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Kind, m.For, m.Name, commit)
			}
			fmt.Fprintln(w, "\nIDENTIFIER\tSIZE\tLICENSE\tON THIS MACHINE")
			fmt.Fprintf(w, "%s\t-\t-\tembedded\n", embedded.Identifier().Name())
			for _, s := range datasets.All(datasets.Model) {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, fetch.Size(s.Size()), s.License, whetherPulled(s))
			}
			return w.Flush()
		},
	}
	provider.add(c)
	return c
}

// listLanguages prints the languages of an identifier, in lines of at most 80
// characters.
func listLanguages(w io.Writer, name string) error {
	identifier, err := study.OpenIdentifier(name)
	if err != nil {
		return err
	}
	labels := slices.Sorted(slices.Values(identifier.Labels()))
	_, err = fmt.Fprintf(w, "%s knows %d languages:\n  %s\n", identifier.Name(), len(labels),
		strings.Join(visible.Wrap(strings.Join(labels, " "), 78), "\n  "))
	return err
}

// whetherPulled is yes or no, for a column of a table.
func whetherPulled(s datasets.Source) string {
	if _, err := s.Find(); err != nil {
		return "no"
	}
	return "yes"
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

func modelsPullCommand() *cobra.Command {
	var revision string
	c := &cobra.Command{
		Use:   "pull MODEL",
		Short: "Fetch a model for --similarity or --lid",
		Long: `Fetch a model from the Hugging Face Hub into the cache that its libraries share,
and print its folder; or fetch one of fastText's language identification models,
lid.176 and lid.176.ftz, and print its file. Files in the cache are not fetched
again. Interrupted downloads resume. Every file is checked against its checksum.
Weights must be safetensors or pytorch_model.bin, which is fetched only where there
are no safetensors. It is read as tensors; nothing in it is executed.

For the hub: HF_HOME or HF_HUB_CACHE sets the cache, HF_TOKEN grants access to
gated or private models, HF_ENDPOINT sets another hub, HF_HUB_OFFLINE=1 disables
downloads. For lid.176: CROSSTALK_CACHE sets the cache, CROSSTALK_MIRROR the
address of a mirror.`,
		Example: `  crosstalk models pull bertscore
  crosstalk models pull lid.176
  crosstalk models pull bertscore:bert-base-multilingual-cased
  crosstalk models pull sbert:sentence-transformers/all-MiniLM-L6-v2
  crosstalk models pull efederici/sentence-bert-base --revision main`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if s, ok := study.PublishedIdentifier(args[0]); ok {
				return pullIdentifier(c, s, revision)
			}
			if study.NamesIdentifier(args[0]) {
				names := namesOf(datasets.All(datasets.Model), func(s datasets.Source) string { return s.Name })
				return fmt.Errorf("cannot fetch %s; choose one of: %s (embedded needs no file)", args[0], strings.Join(names, ", "))
			}
			m, err := similarities.ParseModel(args[0])
			if err != nil {
				return err
			}
			if revision != "" {
				if m.Revision != "" && m.Revision != revision {
					return fmt.Errorf("%s and --revision %s: expected one revision", m, revision)
				}
				m.Revision = revision
			}
			dir, err := download(c, func(ctx context.Context, show fetch.Progress) (dir string, err error) {
				dir, _, err = hub.Pull(ctx, m.Name, m.Revision, show)
				return dir, err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), dir)
			return err
		},
	}
	config.Declare(c, "", []config.Flag{{Name: "revision", To: &revision, Reach: config.Nothing,
		Help: "a branch, tag or commit, like MODEL@REVISION (default main)"}})
	addQuiet(c, "print only the folder or file, and errors")
	return c
}

// pullIdentifier fetches a language identifier and prints its file.
func pullIdentifier(c *cobra.Command, s datasets.Source, revision string) error {
	if revision != "" {
		return fmt.Errorf("%s has no revisions: remove --revision", s.Name)
	}
	dir, err := pullSource(c, s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), filepath.Join(dir, s.Files[0].Name))
	return err
}
