package suite

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
)

// writePair writes the texts of a leakage item.
func writePair(b *bufio.Writer, _ *Suite, i crosstalk.Item) {
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
func categories(s *Suite) string {
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

// writePrompt writes the prompt of a confusion item, with the instruction in each of
// its places.
func writePrompt(b *bufio.Writer, _ *Suite, i crosstalk.Item) {
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
func taskCounts(s *Suite) string {
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
func writeInput(b *bufio.Writer, s *Suite, item crosstalk.Item) {
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
