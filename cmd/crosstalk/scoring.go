package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/report"

	"github.com/spf13/cobra"
)

// output are the flags of every command that prints estimates.
type output struct {
	format string
	quiet  bool
}

func (o *output) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.format, "format", report.Formats[0], strings.Join(report.Formats, ", "))
	config.Choices(c.Flags(), "format", report.Formats...)
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print the result and errors only")
}

// leakageScoring are the flags that say how answers become figures.
type leakageScoring struct {
	protocols    []string
	post         string
	round        int
	tie          float64
	similarities []string
	by           []string
}

func (s *leakageScoring) flags(c *cobra.Command) {
	var names []string
	for _, p := range leakage.Protocols {
		names = append(names, p.Name)
	}
	var posts []string
	for _, p := range leakage.Posts {
		posts = append(posts, string(p))
	}
	f := c.Flags()
	f.StringSliceVar(&s.protocols, "protocol", names[:1], "measuring rules, several side by side: "+strings.Join(names, ", "))
	config.Choices(f, "protocol", names...)
	f.StringVar(&s.post, "post", "", "what to cut off an answer, instead of the protocol's rule: "+strings.Join(posts, ", "))
	config.Choices(f, "post", posts...)
	f.IntVar(&s.round, "round", leakage.Exact, "round similarities to so many decimals (-1: do not), instead of the protocol's rule")
	f.Float64Var(&s.tie, "tie", 0, "similarities that differ by no more are a tie")
	f.StringSliceVar(&s.similarities, "similarity", []string{"gloss"}, "what compares concept and answer: "+similarityUsage()+"; models are fetched with models pull")
	f.StringSliceVar(&s.by, "by", []string{"category"}, "group figures by columns of the suite or the recorded data")
}

// rules resolves the protocols and the options that override them.
func (s *leakageScoring) rules(c *cobra.Command) (list []leakage.Protocol, err error) {
	if s.by, err = cleanColumns(s.by); err != nil {
		return nil, err
	}
	return protocolsNamed(s.protocols, func(name string) (leakage.Protocol, error) { return s.rulesOf(c, name) })
}

func (s *leakageScoring) rulesOf(c *cobra.Command, name string) (leakage.Protocol, error) {
	p, err := leakage.ProtocolNamed(name)
	if err != nil {
		return p, err
	}
	if s.post != "" {
		if p.Post, err = leakage.ParsePost(s.post); err != nil {
			return p, err
		}
	}
	if c.Flags().Changed("round") {
		if s.round < leakage.Exact || s.round > 15 {
			return p, fmt.Errorf("--round is %d; expected -1 to 15", s.round)
		}
		p.Round = s.round
	}
	if c.Flags().Changed("tie") {
		if !(s.tie >= 0) || math.IsInf(s.tie, 0) {
			return p, fmt.Errorf("--tie is %g; expected 0 or more", s.tie)
		}
		p.Tie = s.tie
	}
	return p, nil
}

// protocolsNamed resolves the value of --protocol, each name by one.
func protocolsNamed[P any](names []string, one func(name string) (P, error)) (list []P, err error) {
	for i, name := range names {
		p, err := one(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("--protocol names %s twice", name)
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--protocol names nothing")
	}
	return list, nil
}

// cleanColumns reads the value of --by.
func cleanColumns(by []string) ([]string, error) {
	clean := []string{}
	for _, column := range by {
		if column = strings.TrimSpace(column); column == "" {
			return nil, fmt.Errorf("--by has an empty column name; expected names such as category,language")
		}
		if !slices.Contains(clean, column) {
			clean = append(clean, column)
		}
	}
	return clean, nil
}

// columns are those that observations can be grouped by.
type columns map[string]bool

func (known columns) add(labels map[string]string) {
	for c := range labels {
		known[c] = true
	}
}

// check refuses a column asked for that nothing has; the default may be
// missing.
func (known columns) check(c *cobra.Command, by []string) error {
	for _, column := range by {
		if !known[column] && c.Flags().Changed("by") {
			return fmt.Errorf("--by: %w", known.unknown(column))
		}
	}
	return nil
}

func (known columns) unknown(column string) error {
	return fmt.Errorf("there is no column %q: choose of %s", column, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}
