package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/datasets"
	"crosstalk/internal/config"
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
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Name, s.Instrument, languages(s), s.Items.Len(), clusters, s.License)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w, "\nTO PULL\tINSTRUMENT\tSIZE\tON THIS MACHINE\tLICENSE")
			for _, s := range datasets.All(datasets.Suite) {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Instrument, size(s.Size()), whetherPulled(s), s.License)
			}
			return w.Flush()
		},
	}
}

// languages lists a suite's languages, or counts them if there are many.
func languages(s *suite.Suite) string {
	switch l := s.Languages(); {
	case len(l) == 0:
		return "-"
	case len(l) <= 3:
		return strings.Join(l, ", ")
	default:
		return fmt.Sprintf("%d languages", len(l))
	}
}

func suitesShowCommand() *cobra.Command {
	var card bool
	var api string
	apis := []string{string(crosstalk.Chat), string(crosstalk.Completions), string(crosstalk.Responses)}
	c := &cobra.Command{
		Use: "show SUITE|FILE", Short: "Print a suite's items", Args: cobra.ExactArgs(1),
		Long: `Print a suite's items. If the instruction of a prompt can be in several places,
every version is printed; a star marks the default.

With --api, print exactly what is sent to such an API for each item, but for
what the protocol, --system, --prefix or --shots add.`,
		Example: "  crosstalk suites show leakage-en\n  crosstalk suites show leakage-en --card\n  crosstalk suites show confusion\n  crosstalk suites show my-suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			if api != "" && !slices.Contains(apis, api) {
				return crosstalk.BadOption("api", " is %q; expected one of: %s", api, strings.Join(apis, ", "))
			}
			s, err := suite.Load(args[0])
			if err != nil {
				return err
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s: %s", s.ID(), contents(s))
			if s.License != "" {
				fmt.Fprintf(&b, ", %s", s.License)
			}
			b.WriteString("\n")
			if s.Description != "" {
				b.WriteString(s.Description + "\n")
			}
			for _, of := range []crosstalk.API{crosstalk.Chat, crosstalk.Completions} {
				if prefix := s.Prefix[of]; prefix != "" && api == "" {
					fmt.Fprintf(&b, "before each %s prompt: %q\n", of, prefix)
				}
			}
			if card {
				if s.Card == nil {
					return fmt.Errorf("%s has no card", args[0])
				}
				for _, line := range s.Card.Lines() {
					fmt.Fprintf(&b, "\n%s\n%s\n", line[0], wrapped(line[1]))
				}
				_, err = fmt.Fprint(c.OutOrStdout(), b.String())
				return err
			}
			if api == "" {
				showTasks(&b, s)
			}
			in := instrumentOf(s)
			prompting := crosstalk.PromptConfig{API: crosstalk.API(api), Prefix: suite.PrefixOf(s.Prefix, crosstalk.API(api))}
			for _, i := range s.Items.All() {
				b.WriteString("\n" + i.ID)
				for _, column := range in.columns {
					if value := i.Labels[column]; value != "" {
						b.WriteString("  " + value)
					}
				}
				b.WriteString("\n")
				if api != "" {
					showRequests(&b, in.requests(prompting, s, i))
				} else {
					in.show(&b, s, i)
				}
			}
			_, err = fmt.Fprint(c.OutOrStdout(), b.String())
			return err
		},
	}
	c.Flags().StringVar(&api, "api", "", "print what is sent instead: chat, completions or responses")
	config.Choices(c.Flags(), "api", apis...)
	c.Flags().BoolVar(&card, "card", false, "print the suite's card instead: purpose, how it was written, weaknesses, reviewers")
	c.MarkFlagsMutuallyExclusive("api", "card")
	return c
}

// wrapped is a text in lines of at most 78 characters, indented by two.
func wrapped(text string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			b.WriteString("  ")
			width = 2
		case width+1+n > 80:
			b.WriteString("\n  ")
			width = 2
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}

// showText prints a named text, its lines indented below each other.
func showText(b *strings.Builder, mark string, width int, name, text string) {
	for i, line := range strings.Split(text, "\n") {
		switch {
		case text == "":
		case i == 0:
			fmt.Fprintf(b, "%-2s%-*s  %s\n", mark, width, name, line)
		case line == "":
			b.WriteString("\n")
		default:
			fmt.Fprintf(b, "%*s%s\n", 2+width+2, "", line)
		}
	}
}

// showPair prints the texts of a leakage item.
func showPair(b *strings.Builder, _ *suite.Suite, i crosstalk.Item) {
	p := i.Pair
	for _, m := range p.Before {
		showText(b, "", 10, m.Role, m.Content)
	}
	for _, l := range []struct{ name, text string }{{"concept", p.Concept}, {"sense", p.Sense}, {"test", p.Test}, {"control", p.Control},
		{"remove", strings.Join(p.Remove, " | ")}, {"leaks", strings.Join(p.Leaks, " | ")}, {"neutral", strings.Join(p.Neutral, " | ")}} {
		showText(b, "", 7, l.name, l.text)
	}
}

// describePairs counts the controls and lists the categories.
func describePairs(s *suite.Suite) string {
	var names []string
	for _, i := range s.Items.All() {
		if c := i.Labels["category"]; c != "" && !slices.Contains(names, c) {
			names = append(names, c)
		}
	}
	if len(names) == 0 {
		return ", no categories"
	}
	return fmt.Sprintf(", %d categories: %s", len(names), strings.Join(names, ", "))
}

// showPrompt prints the prompt of a confusion item; a star marks the default place
// of the instruction.
func showPrompt(b *strings.Builder, _ *suite.Suite, i crosstalk.Item) {
	p := i.Prompt
	for _, m := range p.Before {
		showText(b, "", 10, m.Role, m.Content)
	}
	if len(p.Placed) == 0 {
		showText(b, "", 6, "prompt", p.Text)
	}
	for _, place := range slices.Sorted(maps.Keys(p.Placed)) {
		mark := ""
		if p.Placed[place] == p.Text {
			mark = "*"
		}
		showText(b, mark, 10, place, p.Placed[place])
	}
}

func describePrompts(*suite.Suite) string { return "" }

func suitesCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check SUITE|FILE...", Short: "Check suites for mistakes", Args: cobra.MinimumNArgs(1),
		Long: `Check suites for likely mistakes and list them, with notes on what figures of the
suite cannot tell. For leakage: controls that mention the concept, in any
inflection; tests that end otherwise than their control; duplicates and near
duplicates; text in another language; concepts that cannot be scored; too few
leaks, neutral continuations or controls; unbalanced categories. For all: what
'crosstalk run' would refuse. No similarity is computed. A suite that cannot be read is an error (exit code 2).`,
		Example: "  crosstalk suites check my-suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			var b strings.Builder
			for _, name := range args {
				s, err := suite.Load(name)
				if err != nil {
					return err
				}
				remarks := suite.Check(s)
				if err := refused(c.Context(), name, s); err != nil {
					remarks = append(remarks, fmt.Sprintf("run %s refuses the suite as it is: %v", s.Instrument, err))
				}
				for _, r := range remarks {
					fmt.Fprintf(&b, "%s: %s\n", name, r)
				}
				if len(remarks) == 0 {
					fmt.Fprintf(&b, "%s: %s%s\n", name, contents(s), instrumentOf(s).describe(s))
				}
				for _, l := range suite.Limits(s) {
					fmt.Fprintf(&b, "%s: note: %s\n", name, l)
				}
			}
			_, err := fmt.Fprint(c.OutOrStdout(), b.String())
			return err
		},
	}
}

// refused is the error with which run refuses a suite before it asks anything,
// without other options.
func refused(ctx context.Context, name string, s *suite.Suite) error {
	var of *study.Study
	var err error
	sweep := study.Sweep{Models: []string{"ollama:any"}} // a reference model cannot answer all suites
	switch s.Instrument {
	case "leakage":
		of, err = study.Leakage{Sweep: sweep, Suite: name, CountOnly: true, Similarities: []string{"bertscore"}}.Open() // whatever its language
	case "confusion":
		of, err = study.Confusion{Sweep: sweep, Suite: name}.Open()
	default:
		of, err = study.Consistency{Sweep: sweep, Suite: name}.Open()
	}
	if err == nil {
		_, _, err = of.Count(ctx, nil)
	}
	return err
}

// contents counts a suite's items and clusters.
func contents(s *suite.Suite) string {
	text := fmt.Sprintf("%d items, %d %s", s.Items.Len(), s.Clusters(), s.ClusterNoun())
	if len(s.Languages()) > 0 {
		text += ", in " + languages(s)
	}
	return text
}
