package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"crosstalk/internal/ordered"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type object = map[string]any

// Schema is a JSON Schema (draft 7, which editors support) of the files for the
// commands under root. Parse accepts whatever it accepts.
func Schema(root *cobra.Command, title, about string) []byte {
	d := &definitions{byText: map[string]string{}, all: object{}}
	top := d.section(sectionOf(root, ""))
	top["$schema"] = "http://json-schema.org/draft-07/schema#"
	top["title"] = title
	top["description"] = about
	top["definitions"] = d.all
	return append(indented(top), '\n')
}

// definitions are the schemas of flags, without duplicates: many commands share theirs.
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
	schema["description"] = f.Usage
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

// schema is the schema of a single value.
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

// literal converts a value to JSON.
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
		panic(err) // maps of texts and numbers
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
