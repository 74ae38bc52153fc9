package config

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalarOf reads a single value, or describes what was found instead.
func scalarOf(node ast.Node) scalar {
	s := scalar{line: lineOf(node)}
	switch n := node.(type) {
	case *ast.StringNode:
		s.is, s.text = "text", n.Value
		if n.Token.Type == token.StringType {
			s.is = "plain"
		}
	case *ast.LiteralNode:
		s.is, s.text = "text", n.Value.Value
	case *ast.IntegerNode:
		s.is, s.text = "integer", n.Token.Value
	case *ast.FloatNode:
		s.is, s.text = "number", n.Token.Value
	case *ast.BoolNode:
		s.is, s.text = "boolean", n.Token.Value
	case *ast.NullNode, nil:
		s.is = "nothing"
	case *ast.SequenceNode:
		s.is = "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		s.is = "a map"
	default:
		s.is = node.String()
	}
	return s
}

func lineOf(node ast.Node) int {
	if node == nil || node.GetToken() == nil {
		return 1
	}
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken().Position.Line
	}
	return node.GetToken().Position.Line
}
