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
	name, path string // "leakage", "run.leakage"; both "" at the top
	about      string
	flags      []flag // the command's own
	parts      []*section
}

// flag is a flag that a file can set.
type flag struct {
	*pflag.Flag
	path string // of the section of its command
}

// sections returns the sections of the tree under root. It skips hidden
// commands and flags, help, version and the flag that selects the file.
func sections(root *cobra.Command) *section {
	s := sectionOf(root, "")
	s.name = ""
	return s
}

func sectionOf(c *cobra.Command, path string) *section {
	s := &section{name: c.Name(), path: path, about: c.Short}
	for _, f := range flagsOf(c) {
		s.flags = append(s.flags, flag{f, path})
	}
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

// all returns the flags of the section's command and of those below it.
func (s *section) all() []flag {
	list := slices.Clone(s.flags)
	for _, part := range s.parts {
		list = append(list, part.all()...)
	}
	return list
}

// names returns the names of all flags, without duplicates.
func (s *section) names() (list []string) {
	for _, f := range s.all() {
		if !slices.Contains(list, f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// named returns the flags with a name.
func (s *section) named(name string) (list []flag) {
	for _, f := range s.all() {
		if f.Name == name {
			list = append(list, f)
		}
	}
	return list
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
