// Package config lets a file say what flags say. A file is YAML with a section
// for each command and a key for each flag:
//
//	format: json               # of all commands that have the flag
//	run:
//	  model: ollama:llama3.2   # of all commands of the group
//	  leakage:
//	    temperature: [0, 0.5]
//
// What may stand there is read off a tree of cobra commands: nothing in this
// package knows a command or a flag.
package config

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// None is the annotation of a command that no file sets.
const None = "config-none"

// section is a command, as what may stand under its name in a file.
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

// sections are those of the tree under root. Hidden commands and flags have
// none, and neither have help, version and the flag that names the file.
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

// flagsOf are the flags of a command that a file can set, in their order.
func flagsOf(c *cobra.Command) (list []*pflag.Flag) {
	if !configurable(c) {
		return nil
	}
	c.InheritedFlags() // which it joins to the command's own
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" && !slices.Contains([]string{"help", "version", Flag}, f.Name) {
			list = append(list, f)
		}
	})
	return list
}

// all are the flags of the section's command and of those under it.
func (s *section) all() []flag {
	list := slices.Clone(s.flags)
	for _, part := range s.parts {
		list = append(list, part.all()...)
	}
	return list
}

// names are the names of all, each once.
func (s *section) names() (list []string) {
	for _, f := range s.all() {
		if !slices.Contains(list, f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// named are the flags of a name.
func (s *section) named(name string) (list []flag) {
	for _, f := range s.all() {
		if f.Name == name {
			list = append(list, f)
		}
	}
	return list
}

// part is the section of a name, nil if there is none.
func (s *section) part(name string) *section {
	for _, part := range s.parts {
		if part.name == name {
			return part
		}
	}
	return nil
}

// walk visits the section and those under it.
func (s *section) walk(visit func(*section)) {
	visit(s)
	for _, part := range s.parts {
		part.walk(visit)
	}
}

func join(path, name string) string {
	return strings.TrimPrefix(path+"."+name, ".")
}
