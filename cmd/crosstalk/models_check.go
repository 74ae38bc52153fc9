package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"crosstalk/internal/config"
	"crosstalk/study"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

func modelsCheckCommand() *cobra.Command {
	var provider providerFlags
	c := &cobra.Command{
		Use:   "check MODEL",
		Short: "Ask a language model what it takes, or try one for --similarity or --lid",
		Long: `For provider:name, find out what a language model takes. This sends at most
three short requests (about 2,000 tokens each if the model thinks). It prints

  - whether the model takes a temperature, top-p beside a temperature and a
    system message, and the name of the parameter that limits its answers;
  - whether log probabilities come back;
  - whether it thinks, where its thoughts come back, and which levels of
    reasoning have an effect;
  - which model answered, by the server's own account;
  - the flags of a run that spell this out. Under the protocol crosstalk-1, a run
    does the same without them.

For a model of --similarity, load it and compare two sentences: print its
properties, the code that runs it, and the time it takes. Nothing is fetched. A
model without bertscore: or sbert: is used for sentence vectors. For embedded,
lid.176, lid.176.ftz and files ending in .bin or .ftz, identify the language of a
sentence.`,
		Example: `  crosstalk models check openai:gpt-4o-mini
  crosstalk models check compatible:my-model --base-url http://localhost:8000/v1
  crosstalk models check gloss
  crosstalk models check bertscore
  crosstalk models check bertscore:./my-model/L5
  crosstalk models check sbert:all-MiniLM-L6-v2
  crosstalk models check lid.176`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			name, rows := args[0], [][2]string(nil)
			if of, _, found := strings.Cut(name, ":"); found && isProvider(of) {
				rows, err = provider.check(c.Context(), name)
			} else if study.NamesIdentifier(name) {
				rows, err = study.CheckIdentifier(name)
			} else {
				rows, err = similarities.Check(c.Context(), name)
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, row := range rows {
				fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
			}
			return cmp.Or(err, w.Flush())
		},
	}
	provider.add(c)
	config.Declare(c, "", []config.Flag{
		{Name: "families", To: families{&provider.options.Families}, Reach: config.Nothing,
			Help: "a YAML file of what models take and refuse, before the built-in table (docs/models.md)"},
		{Name: "api", To: (*string)(&provider.options.API), Choices: apis,
			Help: "chat, completions or responses (default: the provider's)"},
	})
	return c
}
