package suite

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/strictyaml"
	"crosstalk/recorded"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// header has the fields common to all instruments. docs/suites.md describes these and the others.
type header struct {
	Suite       string `yaml:"suite"`
	Instrument  string `yaml:"instrument"`
	Version     int    `yaml:"version"`
	Language    string `yaml:"language"`
	License     string `yaml:"license"`
	Description string `yaml:"description"`
	Card        *Card  `yaml:"card"`
}

type reader struct {
	name     string
	clusters string // what items of a cluster share
	read     func(document, *Suite)
	check    func(*Suite, *findings)
}

var instruments = []reader{
	{"leakage", "controls", readLeakage, checkPairs},
	{"confusion", "prompts", readConfusion, checkPrompts},
	{"consistency", "clusters", readConsistency, checkTasks},
}

// reader returns the reader of the suite's instrument. An unknown instrument has none.
func (s *Suite) reader() reader {
	if i := slices.IndexFunc(instruments, func(r reader) bool { return r.name == s.Instrument }); i >= 0 {
		return instruments[i]
	}
	return reader{clusters: "clusters", check: func(*Suite, *findings) {}}
}

func instrumentNames() (names []string) {
	for _, i := range instruments {
		names = append(names, i.name)
	}
	return names
}

// A suite's name is part of signatures and of the names of run directories.
var suiteName = lazyregexp.New(`^[\pL\pN][\pL\pN._-]*$`)

// Parse reads a suite in our own format. name is the file's name for errors, which also name the line.
func Parse(name string, text []byte) (*Suite, error) {
	return parse(name, text, false)
}

// parse reads a suite. A partial one has only what scoring recorded answers needs.
func parse(name string, text []byte, partial bool) (s *Suite, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refused:
			s, err = nil, p.error
		default:
			panic(p)
		}
	}()
	root, err := strictyaml.Parse(name, text, limits)
	if err != nil {
		return nil, err
	}
	d := document{name, text, root, partial}
	var h header
	d.decode(&h)
	d.refuseIf(h.Suite == "", 1, "expected suite: NAME")
	d.refuseIf(!suiteName().MatchString(h.Suite), d.lineOf("suite"),
		"%.40q is not a valid suite name; use only letters, digits, -, _ and .", h.Suite)
	d.refuseIf(h.Version < 0, d.lineOf("version"), "version is %d; expected a whole number from 1", h.Version)
	h.Card.check(d)
	s = &Suite{Card: h.Card, Name: h.Suite, Instrument: h.Instrument, Version: h.Version, Language: h.Language,
		License: h.License, Description: strings.TrimSpace(h.Description), Prefix: map[crosstalk.API]string{}}
	r := s.reader()
	d.refuseIf(r.read == nil, d.lineOf("instrument"), "instrument is %.40q; expected %s", h.Instrument,
		strings.Join(instrumentNames(), " or "))
	r.read(d, s)
	return s, nil
}

// refused is what a reader panics with when it finds a mistake in a file, however deep; parse returns the error.
type refused struct{ error }

// document is a file that was parsed but not decoded.
type document struct {
	name    string
	text    []byte
	root    ast.Node // nil for a file without content
	partial bool     // items of a task may be missing or have no texts
}

// limits bound a suite's file. A suite needs a depth of 5 and 10 keys per map.
var limits = strictyaml.Limits{Bytes: maxYAML, Depth: 16, Keys: 100, One: "suite"}

const maxYAML = 4 << 20

func (d document) decode(v any, options ...yaml.DecodeOption) {
	if err := strictyaml.Decode(d.name, d.root, v, options...); err != nil {
		panic(refused{err})
	}
}

// refuse ends the reading of the file because of a mistake in a line.
func (d document) refuse(line int, format string, args ...any) {
	panic(refused{fmt.Errorf("%s:%d: %w", d.name, line, fmt.Errorf(format, args...))})
}

func (d document) refuseIf(wrong bool, line int, format string, args ...any) {
	if wrong {
		d.refuse(line, format, args...)
	}
}

// language reads the language that a line of a list names; see recorded.LanguageOf.
func (d document) language(line int, list, tag string) (code, scripted string) {
	code, scripted, err := recorded.LanguageOf(tag)
	d.refuseIf(err != nil, line, "%s: %w", list, err)
	return code, scripted
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

// at is a value with the line where it starts, so that errors found after decoding can name the line.
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

// starters are commented files to begin a suite with, by instrument.
//
//go:embed starters/*.yaml
var starters embed.FS

// Starter returns a commented file of a small suite to edit: valid as it is, but for its size.
func Starter(name, instrument string) ([]byte, error) {
	if !suiteName().MatchString(name) {
		return nil, fmt.Errorf("%.40q is not a valid suite name; use only letters, digits, '.', '-' and '_'", name)
	}
	text, err := starters.ReadFile(path.Join("starters", instrument+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("unknown instrument %q; choose one of: %s", instrument, strings.Join(instrumentNames(), ", "))
	}
	return bytes.Replace(text, []byte("suite: NAME"), []byte("suite: "+name), 1), nil
}
