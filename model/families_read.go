package model

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// familyLimits are far above what a table needs: the built-in one has 20 KiB.
var familyLimits = strictyaml.Limits{Bytes: 1 << 20, Depth: 16, Keys: 1000, One: "list of families"}

// ReadFamilies reads a YAML file of entries: a list, or one under families, as the
// built-in table. Errors name the file and the line.
func ReadFamilies(file string) ([]Family, error) {
	text, err := strictyaml.ReadFile(file, familyLimits.Bytes)
	if err != nil {
		return nil, err
	}
	node, err := strictyaml.Parse(file, text, familyLimits)
	if err != nil {
		return nil, err
	}
	if m, ok := node.(*ast.MappingNode); ok {
		node = nil
		for _, entry := range m.Values {
			switch key := entry.Key.GetToken(); key.Value {
			case "families":
				node = entry.Value
			case "date":
			default:
				return nil, fmt.Errorf("%s:%d: unknown key %q; choose one of: families, date", file, key.Position.Line, key.Value)
			}
		}
	}
	if _, list := node.(*ast.SequenceNode); !list {
		return nil, fmt.Errorf("%s: expected a list of entries, or one under families", file)
	}
	return DecodeFamilies(file, node)
}

// DecodeFamilies reads a list of entries, an *ast.SequenceNode of a file. An error
// names the file and the line of the field that is wrong.
func DecodeFamilies(file string, list ast.Node) (all []Family, err error) {
	for _, entry := range list.(*ast.SequenceNode).Values {
		var one Family
		if err := strictyaml.Decode(file, entry, &one, yaml.Strict()); err != nil {
			return nil, err
		}
		if err := one.Validate(); err != nil {
			field, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), one.Name+": "), " ")
			return nil, fmt.Errorf("%s:%d: %w", file, lineOfField(entry, strings.TrimSuffix(field, ":")), err)
		}
		all = append(all, one)
	}
	return all, nil
}

// lineOfField is the line of a field of an entry, such as reasoning.default, or of the entry if it lacks the field.
func lineOfField(node ast.Node, path string) int {
	line := node.GetToken().Position.Line
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		line = m.Values[0].Key.GetToken().Position.Line
	}
	first, rest, _ := strings.Cut(path, ".")
	values := []*ast.MappingValueNode{}
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = append(values, n)
	}
	for _, v := range values {
		if v.Key.GetToken().Value == first {
			line = v.Key.GetToken().Position.Line
			if rest != "" {
				return max(line, lineOfField(v.Value, rest))
			}
			return line
		}
	}
	return line
}

// FamiliesSchema is the JSON Schema of a list of entries.
func FamiliesSchema() map[string]any {
	type object = map[string]any
	texts := object{"type": "array", "items": object{"type": "string"}}
	flag := object{"type": "boolean"}
	level := object{"enum": levels}
	closed := func(properties object) object {
		return object{"type": "object", "properties": properties, "additionalProperties": false}
	}
	takes := func() object {
		return object{
			"temperature": object{"type": "string", "pattern": `^(any|default|ignored|[0-9.]+-[0-9.]+)$`},
			"top-p":       object{"type": "string", "pattern": `^(any|default|ignored|alone|sampling|[0-9.]+-[0-9.]+)$`},
			"stop":        flag, "seed": flag, "logprobs": flag, "system": flag,
		}
	}
	sent := object{}
	for _, name := range levels {
		sent[name] = object{"type": "object"}
	}
	entry := takes()
	for name, schema := range (object{
		"name": object{"type": "string", "minLength": 1}, "providers": texts, "models": texts, "sources": texts,
		"while-thinking":  closed(takes()),
		"max-tokens-name": object{"enum": []string{"max_tokens", "max_completion_tokens"}},
		"seed-name":       object{"type": "string"},
		"reasoning": closed(object{
			"default":  object{"enum": append(slices.Clone(levels), On)},
			"levels":   object{"type": "array", "items": level},
			"use":      level,
			"shown":    object{"enum": []string{"field", "text", "parts", "blocks", "nowhere"}},
			"headroom": object{"type": "integer", "minimum": 0}, "send": closed(sent),
		}),
	}) {
		entry[name] = schema
	}
	one := closed(entry)
	one["required"] = []string{"name"}
	one["anyOf"] = []object{{"required": []string{"providers"}}, {"required": []string{"models"}}}
	return object{"type": "array", "items": one}
}
