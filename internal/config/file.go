package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
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

// File is a parsed file that is valid for the commands.
type File struct {
	name     string
	settings map[string]value // by key path
}

// limits are far above what a file of every key needs: 20 KiB, a depth of 4.
var limits = strictyaml.Limits{Bytes: 1 << 20, Depth: 16, Keys: 1000, One: "set of keys"}

// Parse reads a file for a tree of commands. Errors name the file and the line, one for every invalid key. removed
// returns the replacement for a command or a --flag that no longer exists, and "" for any other.
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
		case part != nil && (isMap || len(flags) == 0): // if a name is both, a value makes it the flag
			p.section(part, entry.Value)
		case len(flags) > 0:
			p.setting(join(s.path, key), flags, entry.Value)
		default:
			p.errorf(line, "%s: %s", visible.Start(join(s.path, key), 100), p.unknown(s, key))
		}
	}
}

// setting reads the value of a key. It must be valid for one of the key's flags.
func (p *reader) setting(path string, flags []*pflag.Flag, node ast.Node) {
	v, elements := value{line: lineOf(node)}, []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		v.list, elements = true, list.Values
	}
	for _, element := range elements {
		v.scalars = append(v.scalars, scalarOf(element))
	}
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
		return slices.Contains(all, one+orList) // a list of something also accepts one of it
	})
	wrong[0].expected = strings.Join(expected, "; or ")
	p.errorf(wrong[0].line, "%s: %w", path, wrong[0])
}

// secret matches API keys, alone or in NAME=VALUE.
var secret = lazyregexp.New(`(^|[=: ])(sk-|hf_|gsk_|xai-|AIza)[A-Za-z0-9_-]{20,}$`)

const keepOut = "keys do not belong in a file; set them in the environment"

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

// FileFlag is the name of the flag that selects the file.
const FileFlag = "config"

// Load sets a command's flags from the file that --config names, or else from the standard file if the current
// directory has one. A file that was only found is not trusted: settings that reach too far are refused unless
// TrustVariable allows them. removed is as for Parse. Call Load between parsing and running the command.
func Load(c *cobra.Command, standard string, removed func(string) string) (Applied, error) {
	name, err := c.Flags().GetString(FileFlag)
	named := c.Flags().Changed(FileFlag)
	none, nothing := named && name == "", !named && len(flagsOf(c)) == 0
	if err != nil || !configurable(c) || none || nothing {
		return Applied{}, err
	}
	trust := named
	if !named {
		name = standard
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return Applied{}, nil
		}
		if err == nil && !info.Mode().IsRegular() { // reading a pipe would wait
			return Applied{}, fmt.Errorf("%s: is not a regular file; "+
				"name it with --%s to read it, or use --%[2]s '' to read none", name, FileFlag)
		}
		text := cmp.Or(os.Getenv(TrustVariable), "0")
		if trust, err = strconv.ParseBool(text); err != nil {
			return Applied{}, fmt.Errorf("the environment variable %s is %.40q; expected 1 or 0", TrustVariable, text)
		}
	}
	text, err := strictyaml.ReadFile(name, limits.Bytes)
	if err != nil {
		return Applied{}, err
	}
	f, err := Parse(name, text, c.Root(), removed)
	if err != nil {
		return Applied{}, err
	}
	applied, err := f.Apply(c, trust)
	applied.Found = !named
	return applied, err
}

// Apply sets the flags of a command, except those set on the command line. If several keys set a flag, the innermost
// wins. A file that is not trusted must not set values with a Reach.
func (f *File) Apply(c *cobra.Command, trust bool) (Applied, error) {
	var path []string
	for at := c; at.HasParent(); at = at.Parent() {
		path = append([]string{at.Name()}, path...)
	}
	var applied Applied
	var failed, untrusted []error
	for _, flag := range flagsOf(c) {
		if flag.Changed {
			continue
		}
		for n := len(path); n >= 0; n-- {
			key := join(strings.Join(path[:n], "."), flag.Name)
			v, found := f.settings[key]
			if !found {
				continue
			}
			one := setting{flag.Name, key, f.name, v}
			if !trust {
				if err := one.refuse(flag); err != nil {
					untrusted = append(untrusted, err)
					break
				}
			}
			if err := set(flag, v); err != nil {
				line := v.line
				if m := new(mismatch); errors.As(err, &m) {
					line = m.line
				}
				err = fmt.Errorf("%s:%d: %s: %w (for '%s')", f.name, line, key, err, c.CommandPath())
				failed = append(failed, err)
			}
			applied.settings = append(applied.settings, one)
			break
		}
	}
	if untrusted != nil {
		failed = append(failed, fmt.Errorf("%w\nNobody named %[2]s, so it must not set this. "+
			"If you trust the file, add --%[3]s %[2]s or set %[4]s=1",
			errors.Join(untrusted...), f.name, FileFlag, TrustVariable))
	}
	return applied, errors.Join(failed...)
}

func set(f *pflag.Flag, v value) error {
	if m := kindOf(f).check(v); m != nil {
		return m
	}
	f.Changed = true
	texts := []string{} // literal: commas do not split them
	for _, s := range v.scalars {
		texts = append(texts, s.text)
	}
	if list, several := f.Value.(pflag.SliceValue); several {
		return list.Replace(texts)
	}
	return f.Value.Set(texts[0])
}

// Applied lists the flags of a command that a file has set.
type Applied struct {
	Found    bool // the file was not named by the user
	settings []setting
}

type setting struct {
	flag, key, file string
	value           value
}

// String names the file and the flags.
func (a Applied) String() string {
	if len(a.settings) == 0 {
		return ""
	}
	var flags []string
	for _, s := range a.settings {
		flags = append(flags, "--"+s.flag)
	}
	return fmt.Sprintf("%s sets %s", a.settings[0].file, strings.Join(flags, ", "))
}

// Explain extends an error of a command with where the flags that it mentions were set.
func (a Applied) Explain(err error) error {
	if err == nil {
		return nil
	}
	message := err.Error()
	for _, s := range a.settings {
		if s.concerns(message) {
			err = fmt.Errorf("%w\n%s:%d: %s is set here", err, s.file, s.value.line, s.key)
		}
	}
	return err
}

// concerns reports whether a message mentions the flag, its value together with
// its name in words, or a value that is unlikely to appear by chance.
func (s setting) concerns(message string) bool {
	has := func(text string) bool {
		return regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(text) + `($|[^\pL\pN_-])`).MatchString(message)
	}
	return has("--"+s.flag) || slices.ContainsFunc(s.value.scalars, func(v scalar) bool {
		return v.text != "" && has(v.text) && (len(v.text) >= 6 || has(strings.ReplaceAll(s.flag, "-", " ")) || has(s.flag))
	})
}
