// Package strictyaml reads YAML that somebody else may have written: suites, settings, prices. It refuses up front
// what would cost the reader unbounded memory or time, and the parts of YAML that those files do not need: anchors,
// aliases, tags, directives and further documents. Errors name file and line.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"unicode/utf8"

	"crosstalk/internal/visible"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits bounds the size and complexity of a file.
type Limits struct {
	Bytes int
	Depth int    // of brackets, of dashes in a line, and of indentation in steps of 20 columns
	Keys  int    // of one map; the parser's time is quadratic in it
	One   string // the kind of thing that a file contains one of, for messages: "suite"
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

// TooLarge returns the error of a file of more than limit bytes.
func TooLarge(name string, limit int) error {
	return fmt.Errorf("%s: is larger than %d MiB", name, limit>>20)
}

// Parse checks a file's text and then parses it. The node is nil if the file contains only comments.
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

// Decode sets the value that v points to; a nil node leaves it unchanged.
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

// duplicate matches the library's message about a duplicate key.
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
	return fmt.Errorf("%s:%d: %s", name, e.GetToken().Position.Line, visible.Start(message, 200))
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

// check refuses, before parsing, text on which the parser would spend unbounded memory or time, and parts of YAML
// that no file needs.
func check(name string, text []byte, l Limits) error {
	if len(text) > l.Bytes {
		return TooLarge(name, l.Bytes)
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", name, n)
		}
	}
	if err := checkBrackets(name, text, l.Depth); err != nil {
		return err
	}
	depth, entries := 0, 0 // open brackets; dashes of "- - -" in a line
	begun := false
	keys := keyCounter{flow: []int{0}}
	var last token.Position
	for _, t := range lexer.Tokenize(string(text)) {
		refuse := func(what string) error { return fmt.Errorf("%s:%d: %s", name, t.Position.Line, what) }
		if t.Position.Line != last.Line {
			entries = 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
			keys.flow = append(keys.flow, 0)
		case token.MappingValueType:
			column := t.Position.Column
			if t.Prev != nil {
				column = t.Prev.Position.Column
			}
			keys.key(column)
		case token.SequenceEndType, token.MappingEndType:
			if depth--; depth < 0 {
				return refuse("unexpected closing bracket")
			}
			keys.flow = keys.flow[:len(keys.flow)-1]
		case token.SequenceEntryType, token.MappingKeyType:
			keys.entry(t.Position.Column)
			if entries++; t.PreviousType() == t.Type && t.Position.Column <= last.Column {
				return fmt.Errorf("%s:%d: an entry is empty", name, last.Line)
			}
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return refuse("anchors and aliases are not supported: write the value out")
		case token.TagType:
			return refuse("tags are not supported: write the value without " + visible.Start(t.Value, 200))
		case token.DirectiveType:
			return refuse("directives are not supported: leave the line out")
		case token.DocumentHeaderType:
			if begun {
				return refuse("a second document begins here; expected one " + l.One + " per file")
			}
		}
		if depth > l.Depth || entries > l.Depth || t.Position.IndentNum > 20*l.Depth {
			return refuse(tooDeep)
		}
		if keys.most > l.Keys {
			return refuse("a map has too many keys")
		}
		begun = begun || t.Type != token.CommentType
		last = *t.Position
	}
	return nil
}

const tooDeep = "is nested too deeply"

// checkBrackets refuses a long run of opening brackets and dashes before the parser makes a token of each. Text
// between them ends the run, so no sensible text, quoted or not, is refused.
func checkBrackets(name string, text []byte, depth int) error {
	line, row := 1, 0
	for _, b := range text {
		switch b {
		case '[', '{':
			row++
		case ' ', '\t', '\r':
		case '\n':
			line++
		default:
			row = 0
		}
		if row > 100*depth {
			return fmt.Errorf("%s:%d: %s", name, line, tooDeep)
		}
	}
	return nil
}

// keyCounter counts the keys of each open map.
type keyCounter struct {
	most  int
	flow  []int // of open maps and lists in brackets; the first is for maps without brackets
	block []column
}

type column struct{ at, keys int }

// key counts a key that starts in this column.
func (k *keyCounter) key(at int) {
	if n := len(k.flow); n > 1 {
		k.flow[n-1]++
		k.most = max(k.most, k.flow[n-1])
		return
	}
	k.entry(at)
	if n := len(k.block); n == 0 || k.block[n-1].at < at {
		k.block = append(k.block, column{at: at})
	}
	last := &k.block[len(k.block)-1]
	last.keys++
	k.most = max(k.most, last.keys)
}

// entry closes the maps that are further to the right.
func (k *keyCounter) entry(at int) {
	for n := len(k.block); n > 0 && len(k.flow) == 1 && k.block[n-1].at > at; n-- {
		k.block = k.block[:n-1]
	}
}
