package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/ordered"

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

// holds reports whether flags of the same name belong to the section itself rather than to sections below it.
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

// commands lists the commands in a section that have a flag of the name: a group if all of its commands have it; nil
// if all commands have it.
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

// lacks counts the commands that have flags, but none of the name.
func (s *section) lacks(name string) (n int) {
	s.walk(func(s *section) {
		if len(s.flags) > 0 && s.own(name) == nil {
			n++
		}
	})
	return n
}

// line shows the default. If there is none, or several, it shows the kind of values.
func (t *template) line(uses []*pflag.Flag) line {
	f := uses[0]
	k := kindOf(f)
	values := defaults(f)
	for _, other := range uses {
		if !slices.Equal(defaults(other), values) {
			values = nil
		}
	}
	_, usage := pflag.UnquoteUsage(f)
	usage = strings.Join(strings.Fields(usage), " ")
	switch {
	case len(values) == 0 && k.choices != nil: // usage lists the choices
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

func quoted(text string) string {
	reserved := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if simple().MatchString(text) && !slices.Contains(reserved, strings.ToLower(text)) {
		return text
	}
	b, _ := json.Marshal(text) // a JSON string is valid YAML
	return string(b)
}

type object = map[string]any

// Schema returns a JSON Schema (draft 7, which editors support) for files of the commands under root. Parse accepts
// every file that the schema accepts.
func Schema(root *cobra.Command, title, about string) []byte {
	d := &definitions{byText: map[string]string{}, all: object{}}
	top := d.section(sectionOf(root, ""))
	top["$schema"] = "http://json-schema.org/draft-07/schema#"
	top["title"] = title
	top["description"] = about
	top["definitions"] = d.all
	return append(indented(top), '\n')
}

// definitions holds the schemas of flags without duplicates: many commands share theirs.
type definitions struct {
	byText map[string]string // names of definitions
	all    object
}

func (d *definitions) section(s *section) object {
	properties := object{}
	for _, name := range s.names() {
		var variants []object
		for _, ref := range ordered.Distinct(s.named(name), d.refer) {
			variants = append(variants, object{"$ref": "#/definitions/" + ref})
		}
		properties[name] = anyOf(variants...)
	}
	for _, part := range s.parts {
		of := d.section(part)
		if flag, both := properties[part.name]; both {
			properties[part.name] = anyOf(of, flag.(object))
			continue
		}
		properties[part.name] = of
	}
	return object{"type": []string{"object", "null"}, "description": s.about,
		"properties": properties, "additionalProperties": false}
}

// refer returns the name of the definition of a flag.
func (d *definitions) refer(f *pflag.Flag) string {
	schema := schemaOf(f)
	text := f.Name + string(indented(schema))
	if d.byText[text] == "" {
		name := f.Name
		for n := 2; d.all[name] != nil; n++ {
			name = fmt.Sprintf("%s.%d", f.Name, n)
		}
		d.byText[text], d.all[name] = name, schema
	}
	return d.byText[text]
}

func schemaOf(f *pflag.Flag) object {
	k := kindOf(f)
	schema := k.schema()
	if k.several {
		one := k.schema()
		if k.split && k.base == "text" && k.choices == nil {
			one["pattern"] = "^[^,]*$"
		}
		schema = object{"anyOf": []any{one, object{"type": "array", "items": k.schema()}}}
	}
	_, schema["description"] = pflag.UnquoteUsage(f)
	var values []any
	for _, v := range defaults(f) {
		values = append(values, k.literal(v))
	}
	if len(values) > 0 {
		schema["default"] = values
	}
	if len(values) == 1 {
		schema["default"] = values[0]
	}
	return schema
}

func (k kind) schema() object {
	switch {
	case k.choices != nil:
		values := []any{}
		for _, c := range k.choices {
			values = append(values, k.literal(c))
		}
		return object{"enum": values}
	case k.base == "duration":
		return object{"type": "string", "pattern": `^[-+]?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`}
	case k.base == "text":
		return object{"type": []string{"string", "number"}}
	}
	return object{"type": k.base}
}

func (k kind) literal(text string) any {
	switch k.base {
	case "boolean":
		return text == "true"
	case "integer", "number":
		return json.Number(text)
	}
	return text
}

func anyOf(schemas ...object) object {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return object{"anyOf": schemas}
}

func indented(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // it only holds maps of strings and numbers
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
