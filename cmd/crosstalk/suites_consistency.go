package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/suite"
)

// describeTasks lists a suite's tasks with their numbers of items.
func describeTasks(s *suite.Suite) string {
	var parts []string
	for _, t := range s.Tasks {
		n := 0
		for _, i := range s.Items.All() {
			if i.Input.Task == t.Name {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%s %d", t.Name, n))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d tasks: %s", len(parts), strings.Join(parts, ", "))
}

// showTasks prints the instructions of a suite's tasks in each language.
func showTasks(b *strings.Builder, s *suite.Suite) {
	for _, t := range s.Tasks {
		fmt.Fprintf(b, "\ntask %s: ", t.Name)
		if len(t.Classes) > 0 {
			fmt.Fprintf(b, "classes %s\n", strings.Join(t.Classes, ", "))
		} else {
			b.WriteString("free answers\n")
		}
		fmt.Fprintf(b, "  layout  %s\n", t.Layout)
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
}

// showInput prints an item's input in each language.
func showInput(b *strings.Builder, s *suite.Suite, item crosstalk.Item) {
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
