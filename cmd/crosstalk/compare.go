package main

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk/compare"
	"crosstalk/internal/config"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/study"
	"crosstalk/view"

	"github.com/spf13/cobra"
)

// compareFlags choose the conditions to compare, and how.
type compareFlags struct {
	by        []string
	measures  []string
	reference string
	across    []string
	level     float64
	seed      uint64
}

func (o *compareFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.by, "by", nil,
		"also compare groups, by columns of the suite or the recorded data (default: totals only)")
	f.StringSliceVar(&o.measures, "measure", nil, "compare only these measures (default: all)")
	f.StringVar(&o.reference, "reference", "",
		"the condition to compare with, as COLUMN=VALUE,... (default: the first run or the first condition)")
	f.StringSliceVar(&o.across, "across", nil, "compare even if these signature fields differ (all: any field)")
	f.Float64Var(&o.level, "level", 0.95, "confidence level of intervals; tests use 1 - level")
	config.Harmless(f, "by", "measure", "reference", "across")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the permutation tests")
}

// options validates the flags.
func (o *compareFlags) options(c *cobra.Command) (compare.Options, error) {
	options := compare.Options{Groups: c.Flags().Changed("by"), Measures: o.measures, Across: o.across, Level: o.level, Seed: o.seed}
	if !(o.level > 0 && o.level < 1) {
		return options, fmt.Errorf("--level is %g; expected a number between 0 and 1, such as 0.95", o.level)
	}
	var err error
	if options.Reference, err = parseColumns("reference", o.reference); err != nil {
		return options, err
	}
	if options.Groups {
		o.by, err = study.ParseBy(o.by)
	}
	return options, err
}

// parseColumns reads COLUMN=VALUE,... as the value of a flag.
func parseColumns(flag, text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	columns := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		column, value, ok := strings.Cut(part, "=")
		if column = strings.TrimSpace(column); !ok || column == "" {
			return nil, fmt.Errorf("--%s has %q; expected COLUMN=VALUE, such as temperature=0", flag, part)
		}
		columns[column] = strings.TrimSpace(value)
	}
	return columns, nil
}

// open reads the figures of runs, grouped by the columns of --by. Their
// observations are read when they are compared.
func (o *compareFlags) open(c *cobra.Command, paths []string, groups bool) ([]compare.Run, error) {
	var by []string // nil: as they were measured
	if groups {
		by = o.by
	}
	names := compare.Names(paths)
	runs := make([]compare.Run, len(paths))
	for i, path := range paths {
		estimates, err := figures(path, by)
		if err != nil {
			return nil, err
		}
		manifest, err := study.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		runs[i] = compare.Run{Name: names[i], Estimates: estimates, Observations: run.ReadObservations(path), Settings: study.Settings(manifest)}
	}
	return runs, nil
}

// openTable reads the figures that a table needs, with the observations as its view
// has them.
func (o *compareFlags) openTable(paths []string, v view.View, t *tableFlags) ([]compare.Run, error) {
	figures := t.figures(v, o.by, nil)
	figures.Cross = slices.DeleteFunc(figures.Cross, func(column string) bool {
		return column == compare.AgainstColumn || column == compare.RunColumn
	})
	names := compare.Names(paths)
	runs := make([]compare.Run, len(paths))
	for i, path := range paths {
		estimates, observations, err := figures.Compare(path)
		if err != nil {
			return nil, err
		}
		manifest, err := study.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		runs[i] = compare.Run{Name: names[i], Estimates: estimates, Observations: observations, Settings: study.Settings(manifest)}
	}
	return runs, nil
}

// table compares the figures of a table, and lays the differences out.
func (o *compareFlags) table(c *cobra.Command, paths []string, t *tableFlags, options compare.Options, format string) error {
	if t.spread != "" && !report.ForPeople(format) {
		return fmt.Errorf("--spread is of tables for people: --format %s has every difference", format)
	}
	if options.Groups && t.laidOut() {
		return fmt.Errorf("--by and --rows or --columns cannot be combined: rows and columns say what figures are grouped by")
	}
	v, err := t.view()
	if err != nil {
		return err
	}
	runs, err := o.openTable(paths, v, t)
	if err != nil {
		return err
	}
	options.Groups = options.Groups || t.laidOut()
	result, err := compare.Runs(runs, options)
	if err != nil {
		return err
	}
	if !t.laidOut() {
		if result.Names, err = t.namesOf(paths); err != nil {
			return err
		}
		return compare.Write(c.OutOrStdout(), format, result)
	}
	layout, err := t.layout(v, paths)
	if err != nil {
		return err
	}
	layout.Compete = nil // a difference is no better than another
	return compare.WritePivot(c.OutOrStdout(), format, result, layout, t.spread)
}

func compareCommand() *cobra.Command {
	var out outputFlags
	var o compareFlags
	var table tableFlags
	var allPairs, unpaired bool
	var pairs []string
	c := &cobra.Command{
		Use:   "compare RUN...",
		Short: "Compare the conditions of a run, or several runs",
		Long: `Compare the conditions of a run, or several runs: each with the first, or with
the closest match to --reference. Figures are compared on the items that both
conditions have a value for: the difference with its interval, a p-value that is
adjusted for the number of comparisons, and the difference that such data would
have found. ~ stands where no difference is shown.

Figures of different signatures (another suite, similarity, rule, version, or
settings that a model did not take) are not compared; the field that differs is
named, and --across lets it. A warning names the settings that differ between
runs.

--rows and --columns lay the differences out in one table, as in 'crosstalk
report'; against means the references. --pool temperature compares over all
temperatures together, --only and --group compare some values.`,
		Example: `  crosstalk compare runs/before runs/after
  crosstalk compare runs/sweep --reference temperature=0 --by category
  crosstalk compare runs/a runs/b --measure lpr,wpr --by language
  crosstalk compare runs/sweep --measure lpr --rows language \
      --columns temperature`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, paths []string) error {
			if err := report.CheckFormat(out.format); err != nil {
				return err
			}
			options, err := o.options(c)
			if err != nil {
				return err
			}
			options.AllPairs, options.Unpaired, options.Pairs = allPairs, unpaired, pairs
			if allPairs && o.reference != "" {
				return fmt.Errorf("--all-pairs and --reference cannot be combined: --all-pairs compares every two conditions")
			}
			if len(pairs) > 0 && (allPairs || o.reference != "") {
				return fmt.Errorf("--pair cannot be combined with --all-pairs or --reference: it says what is compared")
			}
			if table.wanted(c) || slices.Contains(o.by, view.SampleColumn) {
				return o.table(c, paths, &table, options, out.format)
			}
			runs, err := o.open(c, paths, options.Groups)
			if err != nil {
				return err
			}
			result, err := compare.Runs(runs, options)
			if err != nil {
				return err
			}
			if result.Names, err = study.Names(paths...); err != nil {
				return err
			}
			return compare.Write(c.OutOrStdout(), out.format, result)
		},
	}
	o.add(c)
	c.Flags().BoolVar(&allPairs, "all-pairs", false, "compare every two conditions")
	c.Flags().StringArrayVar(&pairs, "pair", nil, "compare conditions that differ in one value: NEW=OLD, such as openai:chat=openai:base")
	config.Harmless(c.Flags(), "pair")
	c.Flags().BoolVar(&unpaired, "unpaired", false, "compare figures with few items in common as independent samples")
	table.add(c)
	out.add(c)
	c.Flags().SortFlags = false
	return c
}
