package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/lazyregexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Template is a file for the commands under root that changes nothing: it contains every key once, in the outermost
// section whose commands all mean the same by it, commented out with its default, except for the names in live.
func Template(root *cobra.Command, live []string) []byte {
	t := &template{live: live, placed: map[string]bool{}}
	return []byte(strings.TrimLeft(t.section(sectionOf(root, ""), ""), "\n"))
}

type template struct {
	live   []string
	placed map[string]bool // written in an enclosing section
}

// line is a key with its explanation.
type line struct{ key, about string }

// section is the content under a command's name, without the keys that are further out.
func (t *template) section(s *section, indent string) string {
	var b strings.Builder
	var lines []line
	for _, name := range s.names() {
		uses := s.named(name)
		if t.placed[name] || !s.holds(uses) {
			continue
		}
		t.placed[name] = true
		defer delete(t.placed, name)
		l := t.line(uses)
		if of := s.commands(name); len(of) > 0 {
			l.about += " (" + strings.Join(of, ", ") + ")"
		}
		lines = append(lines, l)
	}
	width := 0
	for _, l := range lines {
		width = max(width, min(len(l.key), 32))
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "%s%-*s  # %s\n", indent, width, l.key, l.about)
	}
	for _, part := range s.parts {
		if text := t.section(part, indent+"  "); text != "" {
			fmt.Fprintf(&b, "\n%s# %s\n%s%s:\n%s", indent, part.about, indent, part.name, text)
		}
	}
	return b.String()
}

// holds reports whether the flags of a name belong to the section itself rather than to sections below it.
func (s *section) holds(uses []*pflag.Flag) bool {
	if s.part(uses[0].Name) != nil {
		return false
	}
	parts := 0
	for _, part := range s.parts {
		if len(part.named(uses[0].Name)) > 0 {
			parts++
		}
	}
	other := func(f *pflag.Flag) bool {
		return f.Usage != uses[0].Usage || kindOf(f).String() != kindOf(uses[0]).String()
	}
	return s.own(uses[0].Name) != nil || parts > 1 && !slices.ContainsFunc(uses, other)
}

// commands are those under a section with a flag of the name; a group if all of
// its commands have it; nil if all have it.
func (s *section) commands(name string) (list []string) {
	if s.lacks(name) == 0 {
		return nil
	}
	for _, part := range s.parts {
		switch {
		case len(part.named(name)) == 0:
		case part.lacks(name) == 0:
			list = append(list, strings.ReplaceAll(part.path, ".", " "))
		default:
			list = append(list, part.commands(name)...)
		}
	}
	return list
}

// lacks counts the commands with flags, but without one of the name.
func (s *section) lacks(name string) (n int) {
	s.walk(func(s *section) {
		if len(s.flags) > 0 && s.own(name) == nil {
			n++
		}
	})
	return n
}

// line shows the default; for a flag without one, or with several, it shows the kind of its values.
func (t *template) line(uses []*pflag.Flag) line {
	f := uses[0]
	k := kindOf(f)
	values := defaults(f)
	for _, other := range uses {
		if !slices.Equal(defaults(other), values) {
			values = nil
		}
	}
	usage := strings.Join(strings.Fields(f.Usage), " ")
	switch {
	case len(values) == 0 && k.choices != nil: // which usages list
		return line{"#" + f.Name + ":", usage}
	case len(values) == 0:
		return line{"#" + f.Name + ":", k.String() + ": " + usage}
	}
	texts := slices.Clone(values)
	for i, text := range texts {
		if k.base == "text" {
			texts[i] = quoted(text)
		}
	}
	text := texts[0]
	if len(texts) > 1 || k.split && strings.Contains(values[0], ",") {
		text = "[" + strings.Join(texts, ", ") + "]"
	}
	key := f.Name + ": " + text
	if !slices.Contains(t.live, f.Name) {
		key = "#" + key
	}
	return line{key, usage}
}

// simple text needs no quotes in YAML, even in a list.
var simple = lazyregexp.New(`^(\pL|\.{0,2}/)[\pL\pN/._?=&+-]*(:[\pL\pN/._?=&+-]+)*$`)

// quoted writes text for YAML.
func quoted(text string) string {
	reserved := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if simple().MatchString(text) && !slices.Contains(reserved, strings.ToLower(text)) {
		return text
	}
	b, _ := json.Marshal(text) // a JSON string is valid YAML
	return string(b)
}
