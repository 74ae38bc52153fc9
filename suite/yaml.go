package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"crosstalk"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// header has the fields common to the files of every instrument. The other
// fields depend on the instrument; docs/suites.md describes them.
type header struct {
	Suite       string `yaml:"suite"`
	Instrument  string `yaml:"instrument"`
	Version     int    `yaml:"version"`
	Language    string `yaml:"language"`
	License     string `yaml:"license"`
	Description string `yaml:"description"`
}

// instruments read their part of a file into a suite, and check it.
var instruments = []struct {
	name     string
	clusters string // what items of a cluster share
	read     func(document, *Suite) error
	check    func(s *Suite, remark func(format string, args ...any))
}{
	{"leakage", "controls", readLeakage, checkPairs},
	{"confusion", "prompts", readConfusion, checkPrompts},
	{"consistency", "clusters", readConsistency, checkTasks},
}

// A suite's name is part of signatures and of the names of run directories.
var suiteName = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*$`)

// Parse reads a suite in our own format. name is the file's name for errors,
// which also name the line.
func Parse(name string, text []byte) (*Suite, error) {
	return parse(name, text, false)
}

// parse reads a suite. A partial one has only what scoring recorded answers
// needs.
func parse(name string, text []byte, partial bool) (*Suite, error) {
	d, err := parseYAML(name, bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	d.partial = partial
	var h header
	if err := d.decode(&h); err != nil {
		return nil, err
	}
	switch {
	case h.Suite == "":
		return nil, d.errorf(1, "expected suite: NAME")
	case !suiteName.MatchString(h.Suite):
		return nil, d.errorf(d.lineOf("suite"), "%.40q is not a valid suite name; use only letters, digits, -, _ and .", h.Suite)
	case h.Version < 0:
		return nil, d.errorf(d.lineOf("version"), "version is %d; expected a whole number from 1", h.Version)
	}
	s := &Suite{Name: h.Suite, Instrument: h.Instrument, Version: h.Version, Language: h.Language, License: h.License,
		Description: strings.TrimSpace(h.Description), Prefix: map[crosstalk.API]string{}}
	var known []string
	for _, i := range instruments {
		if i.name == h.Instrument {
			return s, i.read(d, s)
		}
		known = append(known, i.name)
	}
	return nil, d.errorf(d.lineOf("instrument"), "instrument is %.40q; expected %s", h.Instrument, strings.Join(known, " or "))
}

// document is a file that was parsed but not decoded.
type document struct {
	name string
	text []byte
	root ast.Node // nil for a file without content

	partial bool // items of a task may be missing or have no texts
}

// parseYAML parses a file after checking it.
func parseYAML(name string, text []byte) (d document, err error) {
	defer recoverYAML(name, &err)
	d = document{name: name, text: text}
	if err := checkYAML(name, text); err != nil {
		return d, err
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return d, yamlError(name, err)
	}
	if len(f.Docs) > 0 {
		d.root = f.Docs[0].Body
	}
	return d, nil
}

// decode sets what v points to.
func (d document) decode(v any, options ...yaml.DecodeOption) (err error) {
	defer recoverYAML(d.name, &err)
	if d.root == nil {
		return nil
	}
	if err := yaml.NodeToValue(d.root, v, options...); err != nil {
		return yamlError(d.name, err)
	}
	return nil
}

// recoverYAML converts a panic to an error: the library panics on some damaged
// files.
func recoverYAML(name string, err *error) {
	if recover() != nil {
		*err = fmt.Errorf("%s: is not valid YAML", name)
	}
}

func (d document) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", d.name, line, fmt.Errorf(format, args...))
}

// lineOf returns the line of a key at the top of the file.
func (d document) lineOf(key string) int {
	for i, line := range strings.Split(string(d.text), "\n") {
		if strings.HasPrefix(line, key+":") {
			return i + 1
		}
	}
	return 1
}

// at is a value with the line where it starts, so that errors found after
// decoding can name the line.
type at[T any] struct {
	value T
	line  int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (a *at[T]) UnmarshalYAML(node ast.Node) error {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		a.line = m.Values[0].Key.GetToken().Position.Line
	} else {
		a.line = node.GetToken().Position.Line
	}
	return yaml.NodeToValue(node, &a.value, yaml.Strict())
}

// inOrder is a map whose entries keep the order of the file.
type inOrder[T any] []entry[T]

type entry[T any] struct {
	key   string
	value T
	line  int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (m *inOrder[T]) UnmarshalYAML(node ast.Node) error {
	var whole map[string]any // reports what is not a map
	if err := yaml.NodeToValue(node, &whole); err != nil {
		return err
	}
	mapping, ok := node.(ast.MapNode)
	if !ok { // null
		return nil
	}
	for i := mapping.MapRange(); i.Next(); {
		e := entry[T]{key: i.Key().GetToken().Value, line: i.Key().GetToken().Position.Line}
		if err := yaml.NodeToValue(i.Value(), &e.value, yaml.Strict()); err != nil {
			return err
		}
		*m = append(*m, e)
	}
	return nil
}

// yamlError formats an error of the YAML reader as file:line: message.
func yamlError(name string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	message := e.GetMessage()
	var node *yaml.UnexpectedNodeTypeError
	var value *yaml.TypeError
	switch {
	case errors.As(err, &node):
		message = fmt.Sprintf("expected %s, found %s", kind(node.Expected.YAMLName()), kind(node.Actual.YAMLName()))
	case errors.As(err, &value):
		message = fmt.Sprintf("expected %s, found %s", kind(value.DstType.Kind().String()), kind(value.SrcType.Kind().String()))
	}
	if r := []rune(message); len(r) > 200 {
		message = string(r[:200]) + "..."
	}
	return fmt.Errorf("%s:%d: %s", name, e.GetToken().Position.Line, message)
}

func kind(name string) string { return cmp.Or(kinds[name], name) }

// kinds maps the names that the reader and Go use for kinds of values to plain
// words.
var kinds = map[string]string{
	"mapping": "a map", "value": "a map", "sequence": "a list", "string": "text", "int": "a whole number", "float": "a number", "boolean": "true or false", "null": "nothing",
	"map": "a map", "struct": "a map", "slice": "a list", "uint64": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
}
