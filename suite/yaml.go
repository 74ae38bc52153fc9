package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"crosstalk"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// The file format, described in docs/suites.md. Entries remember their line,
// so that an error found after decoding can still name it.
type file struct {
	Suite       string            `yaml:"suite"`
	Instrument  string            `yaml:"instrument"`
	Version     int               `yaml:"version"`
	Language    string            `yaml:"language"`
	License     string            `yaml:"license"`
	Description string            `yaml:"description"`
	Prompt      map[string]string `yaml:"prompt"`
	Templates   []at[template]    `yaml:"templates"`
	Items       []at[single]      `yaml:"items"`
}

type template struct {
	ID       string        `yaml:"id"`
	Category string        `yaml:"category"`
	Language string        `yaml:"language"`
	Test     string        `yaml:"test"`
	Control  string        `yaml:"control"`
	Neutral  []string      `yaml:"neutral"`
	Remove   []string      `yaml:"remove"`
	Fillings []at[filling] `yaml:"fillings"`
}

type filling struct {
	ID      string   `yaml:"id"`
	Concept string   `yaml:"concept"`
	Insert  string   `yaml:"insert"`
	Leaks   []string `yaml:"leaks"`
	Remove  []string `yaml:"remove"`
}

type single struct {
	ID       string   `yaml:"id"`
	Category string   `yaml:"category"`
	Language string   `yaml:"language"`
	Cluster  string   `yaml:"cluster"`
	Concept  string   `yaml:"concept"`
	Test     string   `yaml:"test"`
	Control  string   `yaml:"control"`
	Leaks    []string `yaml:"leaks"`
	Neutral  []string `yaml:"neutral"`
	Remove   []string `yaml:"remove"`
}

// at is a value and the line it starts in.
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

const slot = "{concept}"

// A suite's name stands in signatures and in the names of run directories.
var suiteName = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*$`)

// Parse reads a suite in our own format. name is the file's, for errors, which
// name the line too.
func Parse(name string, text []byte) (*Suite, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	f, err := decode(name, text)
	if err != nil {
		return nil, err
	}
	s := &Suite{Name: f.Suite, Instrument: f.Instrument, Version: f.Version, Language: f.Language, License: f.License,
		Description: strings.TrimSpace(f.Description), Prefix: map[crosstalk.API]string{}}
	switch {
	case f.Suite == "":
		return nil, fmt.Errorf("%s:1: expected suite: NAME", name)
	case !suiteName.MatchString(f.Suite):
		return nil, fmt.Errorf("%s:%d: the suite's name is %.40q; expected letters, digits, - _ or . only", name, lineOf(text, "suite"), f.Suite)
	case f.Version < 0:
		return nil, fmt.Errorf("%s:%d: version is %d; expected a whole number from 1", name, lineOf(text, "version"), f.Version)
	case f.Instrument != "leakage":
		return nil, fmt.Errorf("%s:%d: instrument is %.40q; expected leakage", name, lineOf(text, "instrument"), f.Instrument)
	}
	for api, prefix := range f.Prompt {
		switch api {
		case "chat":
			s.Prefix[crosstalk.Chat] = prefix
		case "completion", "completions":
			s.Prefix[crosstalk.Completions] = prefix
		default:
			return nil, fmt.Errorf("%s:%d: prompt has %.40q; expected chat or completion", name, lineOf(text, "prompt"), api)
		}
	}
	b := builder{suite: s, file: name, lines: map[string]int{}}
	for i, t := range f.Templates {
		if t.line == 0 {
			return nil, fmt.Errorf("%s:%d: entry %d is empty", name, lineOf(text, "templates"), i+1)
		}
		if err := b.template(t.value, t.line); err != nil {
			return nil, err
		}
	}
	for i, item := range f.Items {
		v := item.value
		switch {
		case item.line == 0:
			return nil, fmt.Errorf("%s:%d: entry %d is empty", name, lineOf(text, "items"), i+1)
		case v.ID == "":
			return nil, b.errorf(item.line, "an item has no id")
		}
		err := b.add(item.line, v.ID, v.Category, v.Language, v.Cluster, crosstalk.Pair{Concept: v.Concept, Test: v.Test, Control: v.Control,
			Remove: v.Remove, Leaks: v.Leaks, Neutral: v.Neutral})
		if err != nil {
			return nil, err
		}
	}
	if len(s.Items) == 0 {
		return nil, fmt.Errorf("%s:1: expected templates or items, found neither", name)
	}
	return s, nil
}

// builder makes items of a file's entries and refuses what cannot be one.
type builder struct {
	suite *Suite
	file  string
	lines map[string]int // of each id
}

func (b *builder) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", b.file, line, fmt.Errorf(format, args...))
}

func (b *builder) template(t template, line int) error {
	switch {
	case t.ID == "":
		return b.errorf(line, "a template has no id")
	case strings.Count(t.Test, slot) != 1:
		return b.errorf(line, "template %s: its test holds %s %d times; expected once", t.ID, slot, strings.Count(t.Test, slot))
	case strings.Contains(t.Control, slot):
		return b.errorf(line, "template %s: its control holds %s; a control leaves the concept out", t.ID, slot)
	case len(t.Fillings) == 0:
		return b.errorf(line, "template %s has no fillings", t.ID)
	}
	for _, fill := range t.Fillings {
		v := fill.value
		if fill.line == 0 {
			return b.errorf(line, "template %s: a filling is empty", t.ID)
		}
		id, insert := v.ID, v.Insert
		if id == "" {
			if id = slug(v.Concept); id == "" && v.Concept != "" {
				return b.errorf(fill.line, "template %s: the concept %q has no letters to make an id of: give the filling an id", t.ID, v.Concept)
			}
		}
		if insert == "" {
			insert = v.Concept
		}
		err := b.add(fill.line, t.ID+"/"+id, t.Category, t.Language, "", crosstalk.Pair{
			Concept: v.Concept, Test: strings.Replace(t.Test, slot, insert, 1), Control: t.Control,
			Remove: slices.Concat(t.Remove, v.Remove), Leaks: v.Leaks, Neutral: t.Neutral})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(line int, id, category, language, cluster string, p crosstalk.Pair) error {
	p.Concept, p.Test, p.Control = strings.TrimSpace(p.Concept), strings.TrimSpace(p.Test), strings.TrimSpace(p.Control)
	switch {
	case p.Concept == "":
		return b.errorf(line, "item %s has no concept", id)
	case p.Test == "" || p.Control == "":
		return b.errorf(line, "item %s needs a test and a control prompt", id)
	case p.Test == p.Control:
		return b.errorf(line, "item %s: test and control are the same prompt", id)
	case b.lines[id] != 0:
		return b.errorf(line, "the id %s stands in line %d already", id, b.lines[id])
	}
	for list, texts := range map[string][]string{"leaks": p.Leaks, "neutral": p.Neutral, "remove": p.Remove} {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return b.errorf(line, "item %s: an entry of its %s is empty", id, list)
		}
	}
	b.lines[id] = line
	if language == "" {
		language = b.suite.Language
	}
	if cluster == "" {
		cluster = p.Control
	}
	labels := map[string]string{}
	for column, value := range map[string]string{"category": category, "language": language} {
		if value != "" {
			labels[column] = value
		}
	}
	b.suite.Items = append(b.suite.Items, crosstalk.Item{ID: id, Cluster: cluster, Labels: labels, Pair: &p})
	return nil
}

var notSlug = regexp.MustCompile(`[^\pL\pN]+`)

// slug makes an id of a concept.
func slug(s string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// lineOf is the line of a key at the top of the file.
func lineOf(text []byte, key string) int {
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, key+":") {
			return i + 1
		}
	}
	return 1
}

// yamlError says an error of the YAML reader as file:line: message.
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

// kinds are plain words for what the reader and Go call the kinds of values.
var kinds = map[string]string{
	"mapping": "a map", "value": "a map", "sequence": "a list", "string": "text", "int": "a whole number", "float": "a number", "boolean": "true or false", "null": "nothing",
	"map": "a map", "struct": "a map", "slice": "a list", "uint64": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
}
