package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

func suitesCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the embedded suites", Args: cobra.NoArgs,
		Example: "  crosstalk suites list",
		RunE: func(c *cobra.Command, _ []string) error {
			suites, err := suite.Embedded()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tINSTRUMENT\tLANGUAGE\tITEMS\tCONTROLS\tLICENSE")
			for _, s := range suites {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", s.Name, s.Instrument, s.Language, len(s.Items), s.Clusters(), s.License)
			}
			return w.Flush()
		},
	}
	show := &cobra.Command{
		Use: "show SUITE|FILE", Short: "Print a suite's items", Args: cobra.ExactArgs(1),
		Example: "  crosstalk suites show leakage-en\n  crosstalk suites show my-suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := suite.Load(args[0])
			if err != nil {
				return err
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s: %d items, %d controls", s.ID(), len(s.Items), s.Clusters())
			if s.License != "" {
				fmt.Fprintf(&b, ", %s", s.License)
			}
			b.WriteString("\n")
			if s.Description != "" {
				b.WriteString(s.Description + "\n")
			}
			for _, api := range []crosstalk.API{crosstalk.Chat, crosstalk.Completions} {
				if prefix := s.Prefix[api]; prefix != "" {
					fmt.Fprintf(&b, "before each %s prompt: %q\n", api, prefix)
				}
			}
			for _, i := range s.Items {
				b.WriteString("\n" + strings.TrimRight(i.ID+"  "+i.Labels["category"], " ") + "\n")
				fmt.Fprintf(&b, "  concept  %s\n  test     %s\n  control  %s\n", i.Pair.Concept, i.Pair.Test, i.Pair.Control)
				for _, l := range []struct {
					name  string
					texts []string
				}{{"remove", i.Pair.Remove}, {"leaks", i.Pair.Leaks}, {"neutral", i.Pair.Neutral}} {
					if len(l.texts) > 0 {
						fmt.Fprintf(&b, "  %-7s  %s\n", l.name, strings.Join(l.texts, " | "))
					}
				}
			}
			_, err = fmt.Fprint(c.OutOrStdout(), b.String())
			return err
		},
	}
	check := &cobra.Command{
		Use: "check SUITE|FILE...", Short: "Check suites for mistakes", Args: cobra.MinimumNArgs(1),
		Long: `Check suites: what cannot be read is an error (exit 2), what looks like a
mistake is listed.`,
		Example: "  crosstalk suites check my-suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			var b strings.Builder
			for _, name := range args {
				s, err := suite.Load(name)
				if err != nil {
					return err
				}
				remarks := suite.Check(s)
				for _, r := range remarks {
					fmt.Fprintf(&b, "%s: %s\n", name, r)
				}
				if len(remarks) == 0 {
					fmt.Fprintf(&b, "%s: %d items, %d controls, %s\n", name, len(s.Items), s.Clusters(), categories(s))
				}
			}
			_, err := fmt.Fprint(c.OutOrStdout(), b.String())
			return err
		},
	}
	return group("suites", "List, show and check suites", "List, show and check suites: the sets of items that are asked about.", list, show, check)
}

func categories(s *suite.Suite) string {
	var names []string
	for _, i := range s.Items {
		if c := i.Labels["category"]; c != "" && !slices.Contains(names, c) {
			names = append(names, c)
		}
	}
	if len(names) == 0 {
		return "no categories"
	}
	return fmt.Sprintf("%d categories: %s", len(names), strings.Join(names, ", "))
}
