package main

import (
	"cmp"
	"fmt"
	"io"

	"crosstalk/compare"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/study"
	"crosstalk/web"

	"github.com/spf13/cobra"
)

type compareFlags struct {
	by        []string
	measures  []string
	reference string
	across    []string
	level     float64
	seed      uint64
}

func (o *compareFlags) add(c *cobra.Command) {
	o.level, o.seed = 0.95, 1
	config.Declare(c, "", []config.Flag{
		{Name: "by", To: &o.by, Reach: config.Nothing,
			Help: "also compare groups, by columns of the suite or the recorded data (default: totals only)"},
		{Name: "measure", To: &o.measures, Values: "measures", Reach: config.Nothing,
			Help: "compare only these measures (default: all)"},
		{Name: "reference", To: &o.reference, Reach: config.Nothing,
			Help: "the condition to compare with, as COLUMN=VALUE,...; compare: all for every two conditions " +
				"(default: the first run or the first condition)"},
		{Name: "across", To: &o.across, Reach: config.Nothing,
			Help: "compare even if these signature fields differ (all: any field)"},
		{Name: "level", To: &o.level, Help: "confidence level of intervals; tests use 1 - level"},
		{Name: "seed", To: &o.seed, Help: "seed of the permutation tests"},
	})
}

func (o *compareFlags) apply(to *compare.Options) (err error) {
	to.Groups, to.Measures, to.Across, to.Level, to.Seed = o.by != nil, o.measures, o.across, o.level, o.seed
	if to.Reference, err = compare.ParseReference(o.reference); err != nil {
		return err
	}
	o.by, err = study.ParseBy(o.by)
	return cmp.Or(to.Check(), err)
}

func compareCommand() *cobra.Command {
	var out outputFlags
	var o compareFlags
	var table tableFlags
	var options compare.Options
	var html string
	c := command("compare", cobra.MinimumNArgs(1), func(c *cobra.Command, paths []string) error {
		collectLarge(30, paths) // of a million answers a quarter less memory, for a tenth more CPU time
		last := len(paths) - 1
		if html != "" && last > 1 {
			return usagef("--html is a page of two runs, found %d", last+1)
		}
		if options.AllPairs = o.reference == "all"; options.AllPairs {
			o.reference = ""
		}
		if err := o.apply(&options); err != nil {
			return err
		}
		if html != "" {
			err := atomicfile.Write(html, func(w io.Writer) error {
				return web.WriteComparison(c.Context(), w, paths[0], paths[last])
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(notes(c), "Page: %s\n", html)
		}
		return compare.WriteTable(c.OutOrStdout(), out.format, paths, &table.Table, o.by, options)
	})
	o.add(c)
	config.Declare(c, "", []config.Flag{
		{Name: "html", To: &html, Reach: config.Path,
			Help: "a file for the page that shows two runs side by side, with the answers that changed"},
		{Name: "adjust", To: &options.Adjust, Reach: config.Nothing,
			Help: "how p-values are adjusted: holm (no false difference), or bh (few of those found are false)"},
		{Name: "pair", To: &options.Pairs, Whole: true, Reach: config.Nothing,
			Help: "compare conditions that differ in one value: NEW=OLD, such as openai:chat=openai:base"},
		{Name: "unpaired", To: &options.Unpaired, Help: "compare figures with few items in common as independent samples"},
	})
	table.add(c)
	out.add(c)
	return c
}
