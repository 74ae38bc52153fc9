package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/nearest"
	"crosstalk/internal/ordered"
	"crosstalk/internal/strictyaml"
	"crosstalk/internal/visible"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// File is a file that was parsed and validated for the commands.
type File struct {
	name     string
	settings map[string]value // by key path
}

// limits are far above what a file of every key needs: 20 KiB, a depth of 4.
var limits = strictyaml.Limits{Bytes: 1 << 20, Depth: 16, Keys: 1000, One: "set of keys"}

// Parse reads a file for a tree of commands. An error names the file and the line; there is one for every invalid key.
// removed tells what replaces the words of a command or a --flag that no longer exists, "" for any other.
func Parse(name string, text []byte, commands *cobra.Command, removed func(string) string) (*File, error) {
	p := &reader{name: name, top: sectionOf(commands, ""), removed: removed, settings: map[string]value{}}
	root, err := strictyaml.Parse(name, text, limits)
	if err != nil {
		return nil, err
	}
	if root != nil {
		p.section(p.top, root)
	}
	if len(p.errors) > 0 {
		return nil, errors.Join(p.errors...)
	}
	return &File{name, p.settings}, nil
}

type reader struct {
	name     string
	top      *section
	removed  func(string) string
	settings map[string]value
	errors   []error
}

func (p *reader) errorf(line int, format string, args ...any) {
	p.errors = append(p.errors, fmt.Errorf("%s:%d: %w", p.name, line, fmt.Errorf(format, args...)))
}

// section reads the content under a command's name, which may be empty.
func (p *reader) section(s *section, node ast.Node) {
	entries, ok := entriesOf(node)
	if !ok {
		at := s.path
		if at != "" {
			at += ": "
		}
		p.errorf(lineOf(node), "%sexpected the names of commands and flags, found %s", at, scalarOf(node))
	}
	for _, entry := range entries {
		line, key := entry.Key.GetToken().Position.Line, entry.Key.GetToken().Value
		_, isMap := entriesOf(entry.Value)
		part, flags := s.part(key), s.named(key)
		switch {
		case part != nil && (isMap || len(flags) == 0): // a name of both means the flag if a value follows
			p.section(part, entry.Value)
		case len(flags) > 0:
			p.setting(join(s.path, key), flags, entry.Value)
		default:
			p.errorf(line, "%s: %s", visible.Start(join(s.path, key), 100), p.unknown(s, key))
		}
	}
}

// setting reads a key's value, which must be valid for one of its flags.
func (p *reader) setting(path string, flags []*pflag.Flag, node ast.Node) {
	v := valueOf(node)
	for _, one := range v.scalars {
		if one.isText() && secret().MatchString(one.text) {
			p.errorf(one.line, "%s: this looks like an API key; %s", path, keepOut)
			return
		}
	}
	var wrong []*mismatch
	for _, f := range flags {
		m := kindOf(f).check(v)
		if m == nil {
			p.settings[path] = v
			return
		}
		wrong = append(wrong, m)
	}
	all := ordered.Distinct(wrong, func(m *mismatch) string { return m.expected })
	expected := slices.DeleteFunc(slices.Clone(all), func(one string) bool {
		return slices.Contains(all, one+orList) // a list of something is also one of it
	})
	wrong[0].expected = strings.Join(expected, "; or ")
	p.errorf(wrong[0].line, "%s: %w", path, wrong[0])
}

// secret matches API keys, alone or in NAME=VALUE.
var secret = lazyregexp.New(`(^|[=: ])(sk-|hf_|gsk_|xai-|AIza)[A-Za-z0-9_-]{20,}$`)

const keepOut = "keys do not belong in a file; set them in the environment"

// secretName matches the names of API keys.
var secretName = lazyregexp.New(`(?i)(^|[_-])(api_?-?key|key|token|secret|password)$`)

// unknown explains that a key is unknown, and suggests others.
func (p *reader) unknown(s *section, key string) string {
	known := s.names()
	for _, part := range s.parts {
		known = append(known, part.name)
	}
	words := strings.ReplaceAll(join(s.path, key), ".", " ")
	if instead := cmp.Or(p.removed("--"+key), p.removed(words)); instead != "" {
		return "was removed: " + instead
	}
	message := "unknown command or flag"
	if s.path != "" {
		message += " of " + strings.ReplaceAll(s.path, ".", " ")
	}
	if near := nearest.Of(key, known); near != "" {
		return message + "; did you mean " + near + "?"
	}
	if secretName().MatchString(key) {
		return keepOut
	}
	if strings.Contains(key, ".") {
		return message + "; put the name of each command on its own line"
	}
	var places []string
	p.top.walk(func(other *section) {
		if other.own(key) != nil || other.part(key) != nil {
			places = append(places, join(other.path, key))
		}
	})
	if len(places) > 0 {
		message += "; expected " + strings.Join(places, ", ")
	}
	return message
}

// entriesOf returns the entries of a map; null is an empty map.
func entriesOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	case *ast.NullNode, nil:
		return nil, true
	}
	return nil, false
}
