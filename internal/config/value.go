package config

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// value is the value of a key.
type value struct {
	line    int
	list    bool
	scalars []scalar
}

// scalar is one value.
type scalar struct {
	line int
	is   string // text, plain (text without quotes), integer, number or boolean; otherwise a description
	text string // as written, without quotes
}

func (s scalar) isText() bool { return s.is == "text" || s.is == "plain" }

// String describes the value that was found.
func (s scalar) String() string {
	switch {
	case s.isText():
		if r := []rune(s.text); len(r) > 40 {
			return fmt.Sprintf("%q...", string(r[:40]))
		}
		return strconv.Quote(s.text)
	case s.text != "":
		return s.text
	}
	return s.is
}

func valueOf(node ast.Node) value {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return value{line: lineOf(node), scalars: []scalar{scalarOf(node)}}
	}
	v := value{line: lineOf(node), list: true}
	for _, element := range list.Values {
		v.scalars = append(v.scalars, scalarOf(element))
	}
	return v
}

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

// secretIn is the line of a text that looks like an API key, 0 if there is none.
func secretIn(node ast.Node) (line int) {
	if node == nil {
		return 0
	}
	ast.Walk(visitor(func(n ast.Node) {
		if s := scalarOf(n); line == 0 && s.isText() && secret().MatchString(s.text) {
			line = s.line
		}
	}), node)
	return line
}

type visitor func(ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}
