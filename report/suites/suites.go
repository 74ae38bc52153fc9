// Package suites describes suites and their requests as text, for people.
package suites

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/suite"
)

// columns are the labels that follow the id of an instrument's items.
var columns = map[string][]string{
	"leakage":     {"category"},
	"confusion":   {"task", "source", "language"},
	"consistency": {"task", "category"},
}

// Summary counts a suite's items and clusters and names its languages, in one line: "61 items, 12 controls, in en".
func Summary(s *suite.Suite) string {
	text := fmt.Sprintf("%d items, %d %s", s.Items.Len(), s.Clusters(), s.ClusterNoun())
	if len(s.Languages()) > 0 {
		text += ", in " + Languages(s)
	}
	return text
}

// Details returns the text after a Summary: the number of categories or tasks and their names, or nothing.
func Details(s *suite.Suite) string {
	var names []string
	n := map[string]int{}
	for _, i := range s.Items.All() {
		if c := i.Labels["category"]; c != "" && !slices.Contains(names, c) {
			names = append(names, c)
		}
		n[i.Labels["task"]]++
	}
	switch {
	case s.Instrument == "leakage" && names == nil:
		return ", no categories"
	case s.Instrument == "leakage":
		return fmt.Sprintf(", %d categories: %s", len(names), strings.Join(names, ", "))
	case len(s.Tasks) == 0:
		return ""
	}
	tasks := ordered.Map(s.Tasks, func(t crosstalk.Task) string { return fmt.Sprintf("%s %d", t.Name, n[t.Name]) })
	return fmt.Sprintf(", %d tasks: %s", len(tasks), strings.Join(tasks, ", "))
}

// Languages names up to three languages of a suite, or else counts them; "-" if there are none.
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

//go:embed suites.txt
var layout string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"summary": Summary, "entry": entryOf, "text": text, "parts": parts, "join": strings.Join,
		"wrap":   func(text string) string { return strings.Join(visible.Wrap(text, 78), "\n  ") },
		"indent": func(text string) string { return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 19)) },
	}).Parse(layout))
})

// Write writes a suite, its card, tasks and texts, for people. A star marks a text's default version.
func Write(w io.Writer, s *suite.Suite) error { return write(w, "suite", s) }

// WriteRequests writes the requests to an API for each item, for people. requests belongs to the suite's instrument.
func WriteRequests(w io.Writer, s *suite.Suite, api crosstalk.API,
	requests func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest) error {
	p := crosstalk.PromptConfig{API: api, Prefix: suite.PrefixOf(s.Prefix, api)}
	return write(w, "requests", struct {
		*suite.Suite
		Requests func(crosstalk.Item) []crosstalk.NamedRequest
	}{s, func(i crosstalk.Item) []crosstalk.NamedRequest { return requests(p, s.Tasks, i) }})
}

// WriteCheck writes likely mistakes in a suite, or a summary if there are none. Then it writes what the suite's figures
// cannot tell. Each line begins with the name.
func WriteCheck(w io.Writer, name string, s *suite.Suite, mistakes []string) {
	for _, m := range mistakes {
		fmt.Fprintf(w, "%s: %s\n", name, m)
	}
	if len(mistakes) == 0 {
		fmt.Fprintf(w, "%s: %s%s\n", name, Summary(s), Details(s))
	}
	for _, l := range suite.Limits(s) {
		fmt.Fprintf(w, "%s: note: %s\n", name, l)
	}
}

func write(w io.Writer, name string, data any) error {
	b := bufio.NewWriter(w)
	return errors.Join(templates().ExecuteTemplate(b, name, data), b.Flush())
}

// entry is an item with the values of its columns, and the field names of its input.
type entry struct {
	crosstalk.Item
	Columns, Fields []string
}

func entryOf(s *suite.Suite, i crosstalk.Item) entry {
	e := entry{Item: i}
	for _, column := range columns[s.Instrument] {
		if value := i.Labels[column]; value != "" {
			e.Columns = append(e.Columns, value)
		}
	}
	for _, t := range s.Tasks {
		if i.Input != nil && t.Name == i.Input.Task {
			e.Fields = t.Fields
		}
	}
	return e
}

func text(mark string, width int, name, text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		switch {
		case text == "":
		case i == 0:
			fmt.Fprintf(&b, "%-2s%-*s  %s\n", mark, width, name, line)
		case line == "":
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "%*s%s\n", 2+width+2, "", line)
		}
	}
	return b.String()
}

// parts returns the names of an instruction's parts, in the order of the layout.
func parts(layout string, of map[string]string) []string {
	return slices.SortedFunc(maps.Keys(of), func(x, y string) int {
		return strings.Index(layout, "{"+x+"}") - strings.Index(layout, "{"+y+"}")
	})
}
