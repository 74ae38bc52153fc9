package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/internal/fetch"
	"crosstalk/report/suites"
	"crosstalk/study"
	"crosstalk/suite"
	"crosstalk/suite/datasets"

	"github.com/spf13/cobra"
)

func suitesCommand() *cobra.Command {
	var check bool
	var api string
	c := command("suites", cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
		w := c.OutOrStdout()
		switch {
		case check && len(args) > 0:
			var b strings.Builder // nothing is printed if one of the suites cannot be read
			for _, name := range args {
				if err := study.CheckSuite(c.Context(), &b, name); err != nil {
					return err
				}
			}
			_, err := io.WriteString(w, b.String())
			return err
		case len(args) > 1:
			return usagef("expected one suite; only --check reads several")
		case len(args) == 0 && (check || api != ""):
			return usagef("expected the name of a suite, or a file")
		case len(args) == 0:
			return listSuites(w)
		}
		s, err := suite.Load(args[0])
		switch {
		case err != nil:
			return err
		case api != "":
			return suites.WriteRequests(w, s, crosstalk.API(api), instrumentNamed(s.Instrument).requests)
		}
		return suites.Write(w, s)
	})
	config.Declare(c, "", []config.Flag{
		{Name: "api", To: &api, Choices: apis, Help: "print what is sent instead: chat, completions or responses"},
		{Name: "check", To: &check, Help: "list likely mistakes of suites instead"},
	})
	c.MarkFlagsMutuallyExclusive("api", "check")
	c.AddCommand(suitesPullCommand())
	return c
}

func listSuites(stdout io.Writer) error {
	embedded, err := suite.Embedded()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tINSTRUMENT\tLANGUAGE\tITEMS\tCLUSTERS\tLICENSE")
	for _, s := range embedded {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d %s\t%s\n",
			s.Name, s.Instrument, suites.Languages(s), s.Items.Len(), s.Clusters(), s.ClusterNoun(), s.License)
	}
	fmt.Fprintln(w, "\nTO PULL\tINSTRUMENT\tSIZE\tON THIS MACHINE\tLICENSE")
	for _, s := range datasets.All(datasets.Suite) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Instrument, fetch.Size(s.Size()), whetherPulled(s), s.License)
	}
	return w.Flush()
}
