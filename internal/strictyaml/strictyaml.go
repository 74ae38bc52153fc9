// Package strictyaml reads YAML that somebody else may have written: suites, settings, prices. It refuses at once what
// takes the reader unbounded memory or time, and the parts of YAML that those files do not need: anchors, aliases, tags
// and further documents. Errors name file and line.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"crosstalk/internal/visible"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits bound a file.
type Limits struct {
	Bytes int
	Depth int    // of brackets, of dashes in a line, and of indentation by 20 columns
	Keys  int    // of one map; the reader's time is quadratic in it
	One   string // what a file contains one of, for messages: "suite"
}

// ReadFile reads at most limit bytes; a larger file is an error.
func ReadFile(name string, limit int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = TooLarge(name, limit)
	}
	return text, err
}

// TooLarge is the error of a file of more than limit bytes.
func TooLarge(name string, limit int) error {
	return fmt.Errorf("%s: is larger than %d MiB", name, limit>>20)
}

// Parse parses a file's text after checking it. The node is nil if there is nothing but comments.
func Parse(name string, text []byte, l Limits) (root ast.Node, err error) {
	defer recoverPanic(name, &err)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := check(name, text, l); err != nil {
		return nil, err
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, Error(name, err)
	}
	for _, d := range f.Docs {
		switch {
		case d.Body == nil: // only comments
		case root != nil:
			return nil, fmt.Errorf("%s:%d: a second document begins here; expected one %s per file",
				name, d.Body.GetToken().Position.Line, l.One)
		default:
			root = d.Body
		}
	}
	return root, nil
}

// Decode sets what v points to; a nil node sets nothing.
func Decode(name string, n ast.Node, v any, options ...yaml.DecodeOption) (err error) {
	defer recoverPanic(name, &err)
	if n == nil {
		return nil
	}
	if err := yaml.NodeToValue(n, v, options...); err != nil {
		return Error(name, err)
	}
	return nil
}

// recoverPanic converts a panic to an error: the library panics on some damaged files.
func recoverPanic(name string, err *error) {
	if recover() != nil {
		*err = fmt.Errorf("%s: is not valid YAML", name)
	}
}

// duplicate is how the library reports a duplicate key.
var duplicate = regexp.MustCompile(`^mapping key (".*") already defined at \[(\d+):\d+\]$`)

// Error formats an error of the YAML reader as file:line: message.
func Error(name string, err error) error {
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
		expected, found := kind(value.DstType.Kind().String()), kind(value.SrcType.Kind().String())
		message = fmt.Sprintf("expected %s, found %s", expected, found)
	}
	message = duplicate.ReplaceAllString(message, "duplicate key $1 (first used in line $2)")
	return fmt.Errorf("%s:%d: %s", name, e.GetToken().Position.Line, shown(message))
}

// shown is text of the file, or text with some of it, as it can be printed.
func shown(text string) string {
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "..."
	}
	return visible.Line(text)
}

func kind(name string) string { return cmp.Or(kinds[name], name) }

// kinds maps the names that the reader and Go use for kinds of values to plain words.
var kinds = map[string]string{
	"mapping": "a map", "value": "a map", "map": "a map", "struct": "a map",
	"sequence": "a list", "slice": "a list",
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number",
	"float": "a number", "float64": "a number",
	"boolean": "true or false", "bool": "true or false",
	"string": "text", "null": "nothing",
}
