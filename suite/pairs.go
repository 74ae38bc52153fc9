package suite

import (
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// pairs is a map in the order in which it was written, each key with its line.
type pairs[T any] []pair[T]

type pair[T any] struct {
	key   string
	value T
	line  int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (p *pairs[T]) UnmarshalYAML(n ast.Node) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return yaml.NodeToValue(n, &map[string]any{}) // says what stands there instead
	}
	for entries := m.MapRange(); entries.Next(); {
		key := entries.Key().GetToken()
		entry := pair[T]{key: key.Value, line: key.Position.Line}
		if err := yaml.NodeToValue(entries.Value(), &entry.value, yaml.Strict()); err != nil {
			return err
		}
		*p = append(*p, entry)
	}
	return nil
}

// node is a value that is read later, when it is known what it should be.
type node struct{ ast.Node }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (n *node) UnmarshalYAML(v ast.Node) error {
	n.Node = v
	return nil
}

// isMap reports whether the value is a map.
func (n node) isMap() bool {
	_, ok := n.Node.(ast.MapNode)
	return ok
}

// read reads the value; one that is not there leaves v as it is.
func (n node) read(v any) error {
	if n.Node == nil {
		return nil
	}
	return yaml.NodeToValue(n.Node, v, yaml.Strict())
}
