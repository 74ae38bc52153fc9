// Package config reads flags from a file. The file is YAML with a section for each command and a key for each flag:
//
//	format: json               # for all commands that have the flag
//	run:
//	  model: ollama:llama3.2   # for all commands of the group
//	  leakage:
//	    temperature: [0, 0.5]
//
// The valid keys follow from a tree of cobra commands: nothing in this package depends on a particular command or flag.
package config

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// None is the annotation of a command that files cannot set.
const None = "config-none"

// section is a command, with everything that can appear under its name in a file.
type section struct {
	name, path string // "leakage", "run.leakage"; the path is "" at the top
	about      string
	flags      []*pflag.Flag // the command's own that a file can set
	parts      []*section
}

// sectionOf returns the section of a command, with those of the commands below it; path is "" at the top. It skips
// hidden commands and flags, help, version and the flag that selects the file.
func sectionOf(c *cobra.Command, path string) *section {
	s := &section{name: c.Name(), path: path, about: c.Short, flags: flagsOf(c)}
	for _, part := range c.Commands() {
		if configurable(part) {
			s.parts = append(s.parts, sectionOf(part, join(path, part.Name())))
		}
	}
	return s
}

func configurable(c *cobra.Command) bool {
	_, none := c.Annotations[None]
	return !c.Hidden && !none && c.Name() != "help" && (!c.HasParent() || configurable(c.Parent()))
}

// flagsOf are the flags of a command that a file can set, in order.
func flagsOf(c *cobra.Command) (list []*pflag.Flag) {
	if !configurable(c) {
		return nil
	}
	c.InheritedFlags() // adds them to the command's own flags
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" && !slices.Contains([]string{"help", "version", FileFlag}, f.Name) {
			list = append(list, f)
		}
	})
	return list
}

// names returns the names of the flags of the section's command and of those below it, without duplicates.
func (s *section) names() (list []string) {
	s.walk(func(s *section) {
		for _, f := range s.flags {
			if !slices.Contains(list, f.Name) {
				list = append(list, f.Name)
			}
		}
	})
	return list
}

// named returns the flags with a name, of the section's command and of those below it.
func (s *section) named(name string) (list []*pflag.Flag) {
	s.walk(func(s *section) {
		if f := s.own(name); f != nil {
			list = append(list, f)
		}
	})
	return list
}

// own is the command's own flag with a name, nil if there is none.
func (s *section) own(name string) *pflag.Flag {
	for _, f := range s.flags {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// part returns the section with a name, nil if there is none.
func (s *section) part(name string) *section {
	for _, part := range s.parts {
		if part.name == name {
			return part
		}
	}
	return nil
}

// walk visits the section and those below it.
func (s *section) walk(visit func(*section)) {
	visit(s)
	for _, part := range s.parts {
		part.walk(visit)
	}
}

func join(path, name string) string {
	return strings.TrimPrefix(path+"."+name, ".")
}
