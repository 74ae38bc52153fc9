// Package suites writes what suites are, and what is asked of them, for people.
package suites

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/suite"
)

// layout is how the items of an instrument are written.
type layout struct {
	columns []string // labels behind an item's id
	item    func(b *bufio.Writer, s *suite.Suite, i crosstalk.Item)
	details func(s *suite.Suite) string // Details; nil: none
}

var layouts = map[string]layout{
	"leakage":     {[]string{"category"}, writePair, categories},
	"confusion":   {[]string{"task", "source", "language"}, writePrompt, nil},
	"consistency": {[]string{"task", "category"}, writeInput, taskCounts},
}

// Summary counts a suite's items and clusters and names its languages, in a line: "61 items, 12 controls, in en".
func Summary(s *suite.Suite) string {
	text := fmt.Sprintf("%d items, %d %s", s.Items.Len(), s.Clusters(), s.ClusterNoun())
	if len(s.Languages()) > 0 {
		text += ", in " + Languages(s)
	}
	return text
}

// Details is what a Summary leaves out, to go behind it: the number of categories
// or tasks, and their names. It is "" if there are none.
func Details(s *suite.Suite) string {
	if details := layouts[s.Instrument].details; details != nil {
		return details(s)
	}
	return ""
}

// Languages names a suite's languages in a few words: it counts them if there are
// more than three, and is "-" without any.
func Languages(s *suite.Suite) string {
	switch l := s.Languages(); {
	case len(l) == 0:
		return "-"
	case len(l) <= 3:
		return strings.Join(l, ", ")
	default:
		return fmt.Sprintf("%d languages", len(l))
	}
}

// Write writes what a suite is, its card, its tasks and the texts of its items, for people. A
// star marks the default of a text that has several versions.
func Write(w io.Writer, s *suite.Suite) error {
	b := bufio.NewWriter(w)
	writeHead(b, s, true)
	if s.Card != nil {
		for _, line := range s.Card.Lines() {
			fmt.Fprintf(b, "\n%s\n  %s\n", line[0], strings.Join(visible.Wrap(line[1], 78), "\n  "))
		}
	}
	for _, t := range s.Tasks {
		writeTask(b, t)
	}
	for _, i := range s.Items.All() {
		writeItem(b, s, i)
		if write := layouts[s.Instrument].item; write != nil {
			write(b, s, i)
		}
	}
	return b.Flush()
}

// WriteRequests writes what a suite is and what is sent to an API for each item, for
// people: requests is the function Requests of its instrument.
func WriteRequests(w io.Writer, s *suite.Suite, api crosstalk.API,
	requests func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest) error {
	b := bufio.NewWriter(w)
	writeHead(b, s, false)
	p := crosstalk.PromptConfig{API: api, Prefix: suite.PrefixOf(s.Prefix, api)}
	for _, i := range s.Items.All() {
		writeItem(b, s, i)
		for _, r := range requests(p, s.Tasks, i) {
			fmt.Fprintf(b, "  %s\n", r.Name)
			if api == crosstalk.Completions {
				writeText(b, "", 11, "  prompt", r.Request.Prompt)
			}
			for _, m := range r.Request.Messages {
				writeText(b, "", 11, "  "+m.Role, m.Content)
			}
		}
	}
	return b.Flush()
}

func writeHead(b *bufio.Writer, s *suite.Suite, prefixes bool) {
	fmt.Fprintf(b, "%s: %s", s.ID(), Summary(s))
	if s.License != "" {
		fmt.Fprintf(b, ", %s", s.License)
	}
	b.WriteString("\n")
	if s.Description != "" {
		b.WriteString(s.Description + "\n")
	}
	for _, of := range []crosstalk.API{crosstalk.Chat, crosstalk.Completions} {
		if prefix := s.Prefix[of]; prefix != "" && prefixes {
			fmt.Fprintf(b, "before each %s prompt: %q\n", of, prefix)
		}
	}
}

// writeItem writes an item's id and the values of its columns.
func writeItem(b *bufio.Writer, s *suite.Suite, i crosstalk.Item) {
	b.WriteString("\n" + i.ID)
	for _, column := range layouts[s.Instrument].columns {
		if value := i.Labels[column]; value != "" {
			b.WriteString("  " + value)
		}
	}
	b.WriteString("\n")
}

// writeText writes a named text, its lines indented below each other.
func writeText(b *bufio.Writer, mark string, width int, name, text string) {
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

// writePair writes the texts of a leakage item.
func writePair(b *bufio.Writer, _ *suite.Suite, i crosstalk.Item) {
	p := i.Pair
	for _, m := range p.Before {
		writeText(b, "", 10, m.Role, m.Content)
	}
	for _, l := range []struct{ name, text string }{{"concept", p.Concept}, {"sense", p.Sense}, {"test", p.Test},
		{"control", p.Control},
		{"remove", strings.Join(p.Remove, " | ")}, {"leaks", strings.Join(p.Leaks, " | ")},
		{"neutral", strings.Join(p.Neutral, " | ")}} {
		writeText(b, "", 7, l.name, l.text)
	}
}

// categories lists the categories of pairs.
func categories(s *suite.Suite) string {
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

// writePrompt writes the prompt of a confusion item, with the instruction in each of its places.
func writePrompt(b *bufio.Writer, _ *suite.Suite, i crosstalk.Item) {
	p := i.Prompt
	for _, m := range p.Before {
		writeText(b, "", 10, m.Role, m.Content)
	}
	if len(p.Placed) == 0 {
		writeText(b, "", 6, "prompt", p.Text)
	}
	for _, place := range slices.Sorted(maps.Keys(p.Placed)) {
		mark := ""
		if p.Placed[place] == p.Text {
			mark = "*"
		}
		writeText(b, mark, 10, place, p.Placed[place])
	}
}

// taskCounts lists a suite's tasks with their numbers of items.
func taskCounts(s *suite.Suite) string {
	n := map[string]int{}
	for _, i := range s.Items.All() {
		n[i.Input.Task]++
	}
	var parts []string
	for _, t := range s.Tasks {
		parts = append(parts, fmt.Sprintf("%s %d", t.Name, n[t.Name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d tasks: %s", len(parts), strings.Join(parts, ", "))
}

// writeTask writes the instructions of a task in each language.
func writeTask(b *bufio.Writer, t crosstalk.Task) {
	classes := "free answers"
	if len(t.Classes) > 0 {
		classes = "classes " + strings.Join(t.Classes, ", ")
	}
	fmt.Fprintf(b, "\ntask %s: %s\n  layout  %s\n", t.Name, classes, t.Layout)
	for _, language := range slices.Sorted(maps.Keys(t.Instructions)) {
		i := t.Instructions[language]
		fmt.Fprintf(b, "  %s\n", language)
		parts := slices.SortedFunc(maps.Keys(i.Parts), func(x, y string) int {
			return strings.Index(t.Layout, "{"+x+"}") - strings.Index(t.Layout, "{"+y+"}")
		})
		for _, part := range parts {
			fmt.Fprintf(b, "    %-13s  %s\n", part, i.Parts[part])
		}
		words := make([]string, len(i.Words))
		for n, w := range i.Words {
			words[n] = w.Word + ": " + w.Class
		}
		if len(words) > 0 {
			fmt.Fprintf(b, "    %-13s  %s\n", "words", strings.Join(words, " | "))
		}
	}
}

// writeInput writes an item's input in each language.
func writeInput(b *bufio.Writer, s *suite.Suite, item crosstalk.Item) {
	t := s.Tasks[slices.IndexFunc(s.Tasks, func(t crosstalk.Task) bool { return t.Name == item.Input.Task })]
	for _, language := range slices.Sorted(maps.Keys(item.Input.Texts)) {
		fmt.Fprintf(b, "  %s", language)
		if gold := item.Input.Gold[language]; gold != "" {
			fmt.Fprintf(b, ": %s", gold)
		}
		b.WriteString("\n")
		for i, text := range item.Input.Texts[language] {
			fmt.Fprintf(b, "    %-13s  %s\n", t.Fields[i], strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 19)))
		}
	}
}
