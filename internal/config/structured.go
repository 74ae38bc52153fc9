package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/pflag"
)

// Structured is the value of a flag that a file writes as a list of maps. On the
// command line it is text like any other.
type Structured interface {
	pflag.Value
	// Check reads the list and changes nothing. An error names the file and the
	// line.
	Check(file string, list ast.Node) error
	// SetNode sets the value to a list that Check has accepted.
	SetNode(file string, list ast.Node) error
	// Schema is the JSON Schema of the list.
	Schema() map[string]any
}

func structured(f *pflag.Flag) (Structured, bool) {
	s, ok := f.Value.(Structured)
	return s, ok
}

// structuredSetting reads a key whose value is a list of maps.
func (p *reader) structuredSetting(path string, flag Structured, node ast.Node) {
	if _, list := node.(*ast.SequenceNode); !list {
		p.errorf(lineOf(node), "%s: expected a list of maps, found %s", path, scalarOf(node))
		return
	}
	if line := secretIn(node); line > 0 {
		p.errorf(line, "%s: this looks like an API key; %s", path, keepOut)
		return
	}
	if err := flag.Check(p.name, node); err != nil {
		p.errors = append(p.errors, fmt.Errorf("%w (in %s)", err, path))
		return
	}
	p.settings[path] = value{line: lineOf(node), list: true, node: node}
}

// secretIn is the line of a text that looks like an API key, 0 if there is none.
func secretIn(node ast.Node) (line int) {
	ast.Walk(visitor(func(n ast.Node) {
		if s := scalarOf(n); line == 0 && (s.is == "text" || s.is == "plain") && secret().MatchString(s.text) {
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
