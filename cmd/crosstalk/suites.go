package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/datasets"
	"crosstalk/internal/config"
	"crosstalk/internal/fetch"
	"crosstalk/study"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

func suitesCommand() *cobra.Command {
	return group("suites", "List, show, check, write and fetch suites",
		"List, show, check, write and fetch suites: the sets of items that models are asked.",
		suitesListCommand(), suitesShowCommand(), suitesCheckCommand(), suitesNewCommand(), suitesPullCommand())
}

func suitesListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the embedded suites and the data sets to fetch", Args: cobra.NoArgs,
		Example: "  crosstalk suites list",
		RunE: func(c *cobra.Command, _ []string) error {
			suites, err := suite.Embedded()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tINSTRUMENT\tLANGUAGE\tITEMS\tCLUSTERS\tLICENSE")
			for _, s := range suites {
				clusters := fmt.Sprintf("%d %s", s.Clusters(), s.ClusterNoun())
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Name, s.Instrument, s.LanguageList(), s.Items.Len(), clusters, s.License)
			}
			fmt.Fprintln(w, "\nTO PULL\tINSTRUMENT\tSIZE\tON THIS MACHINE\tLICENSE")
			for _, s := range datasets.All(datasets.Suite) {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Instrument, fetch.Size(s.Size()), whetherPulled(s), s.License)
			}
			return w.Flush()
		},
	}
}

func suitesShowCommand() *cobra.Command {
	var card bool
	var api string
	c := &cobra.Command{
		Use: "show SUITE|FILE", Short: "Print a suite's items", Args: cobra.ExactArgs(1),
		Long: `Print a suite's items. If the instruction of a prompt can be in several places,
every version is printed; a star marks the default.

With --api, print what is sent to such an API for each item, without what the
protocol, --system, --prefix or --shots add.`,
		Example: "  crosstalk suites show leakage-en\n  crosstalk suites show leakage-en --card\n  crosstalk suites show confusion\n  crosstalk suites show my-suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := suite.Load(args[0])
			if err != nil {
				return err
			}
			switch w := c.OutOrStdout(); {
			case card && s.Card == nil:
				return fmt.Errorf("%s has no card", args[0])
			case card:
				return s.WriteCard(w)
			case api != "":
				return s.WriteRequests(w, crosstalk.API(api), instrumentNamed(s.Instrument).requests)
			default:
				return s.Write(w)
			}
		},
	}
	config.Declare(c, "", []config.Flag{
		{Name: "api", To: &api, Choices: apis, Help: "print what is sent instead: chat, completions or responses"},
		{Name: "card", To: &card,
			Help: "print the suite's card instead: purpose, how it was written, weaknesses, reviewers"},
	})
	c.MarkFlagsMutuallyExclusive("api", "card")
	return c
}

func suitesCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check SUITE|FILE...", Short: "Check suites for mistakes", Args: cobra.MinimumNArgs(1),
		Long: `Check suites for likely mistakes and list them, with notes on what figures of the
suite cannot tell. For leakage: controls that mention the concept, in any
inflection; tests that do not end like their control; duplicates and near
duplicates; text in another language; concepts that cannot be scored; too few
leaks, neutral continuations or controls; unbalanced categories. For all: what
'crosstalk run' would refuse. No similarity is computed. A suite that cannot be
read is an error (exit code 2).`,
		Example: "  crosstalk suites check my-suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			var b strings.Builder
			for _, name := range args {
				if err := study.CheckSuite(c.Context(), &b, name); err != nil {
					return err
				}
			}
			_, err := fmt.Fprint(c.OutOrStdout(), b.String())
			return err
		},
	}
}
