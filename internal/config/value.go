package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk/internal/duration"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/spf13/pflag"
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
	v, elements := value{line: lineOf(node)}, []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		v.list, elements = true, list.Values
	}
	for _, element := range elements {
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

// kind describes the values of a flag.
type kind struct {
	base    string // text, integer, number, boolean or duration
	several bool
	split   bool     // several values are split at commas on the command line
	choices []string // the only values; nil: any
}

// Expected describes the values of a flag: "a whole number".
func Expected(f *pflag.Flag) string { return kindOf(f).one() }

func kindOf(f *pflag.Flag) kind {
	_, several := f.Value.(pflag.SliceValue)
	of := f.Value.Type()
	k := kind{"text", several, several && of != "stringArray", ChoicesOf(f)}
	switch strings.TrimSuffix(of, "Slice") {
	case "bool":
		k.base = "boolean"
	case "duration":
		k.base = "duration"
	case "int", "uint64":
		k.base = "integer"
	case "float64":
		k.base = "number"
	}
	return k
}

// orList is appended to the description of a list's elements.
const orList = ", or a list"

// String describes the expected value.
func (k kind) String() string {
	if k.several {
		return k.one() + orList
	}
	return k.one()
}

// one describes a single value.
func (k kind) one() string {
	if n := len(k.choices); n > 1 {
		return strings.Join(k.choices[:n-1], ", ") + " or " + k.choices[n-1]
	} else if n == 1 {
		return k.choices[0]
	}
	switch k.base {
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	case "duration":
		return "a duration such as 90s or 2m"
	}
	return "text"
}

// mismatch is an error with the line it concerns.
type mismatch struct {
	line            int
	expected, found string
}

func (m *mismatch) Error() string { return fmt.Sprintf("expected %s, found %s", m.expected, m.found) }

// check returns the mismatch if a flag of this kind does not accept the value, else nil.
func (k kind) check(v value) *mismatch {
	if v.list && !k.several {
		return &mismatch{v.line, k.String(), "a list"}
	}
	for _, s := range v.scalars {
		switch {
		case !v.list && k.split && strings.Contains(s.text, ","):
			values := strings.Split(s.text, ",")
			for i := range values {
				values[i] = quoted(strings.TrimSpace(values[i]))
			}
			expected := fmt.Sprintf("a list, [%s], or [%s] if it is one value", strings.Join(values, ", "), quoted(s.text))
			return &mismatch{s.line, expected, s.String()}
		case k.takes(s):
		case v.list:
			return &mismatch{s.line, k.one() + " in the list", s.String()}
		default:
			return &mismatch{s.line, k.String(), s.String()}
		}
	}
	return nil
}

func (k kind) takes(s scalar) bool {
	if k.choices != nil && !slices.Contains(k.choices, s.text) {
		return false
	}
	var err error
	switch k.base {
	case "boolean":
		return s.is == "boolean"
	case "integer":
		_, err = strconv.ParseInt(s.text, 0, 64)
		return s.is == "integer" && err == nil
	case "number":
		_, err = strconv.ParseFloat(s.text, 64)
		exponent := s.is == "plain" && strings.ContainsAny(s.text, "0123456789") // 1e-3 is plain text in YAML
		return (s.is == "integer" || s.is == "number" || exponent) && err == nil
	case "duration":
		_, err = time.ParseDuration(s.text)
		return s.isText() && err == nil
	}
	return s.isText() || s.is == "integer" || s.is == "number"
}

// Described returns what help calls the kind of a flag's values ("bool" for a switch), and the default as one types it.
func Described(f *pflag.Flag) (kind, standard string) {
	k, standard := kindOf(f), strings.Join(defaults(f), ",")
	switch {
	case k.base == "boolean":
		return "bool", f.DefValue
	case k.several && k.split:
		return "list", standard
	case k.base == "integer":
		return "n", standard
	}
	return k.base, standard
}

// defaults are a flag's default values as written; nil if it has none.
func defaults(f *pflag.Flag) (list []string) {
	list = []string{f.DefValue}
	if s, several := f.Value.(pflag.SliceValue); several {
		list = slices.Concat(s.GetSlice(), f.Annotations[shownAnnotation])
	}
	k := kindOf(f)
	for i, text := range list {
		switch {
		case text == "" || text == "<nil>" || text == "0" && !k.several:
			return nil
		case k.base == "number":
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				list[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		case k.base == "duration":
			d, err := time.ParseDuration(text)
			if err != nil || d == 0 {
				return nil
			}
			list[i] = duration.Text(d)
		}
	}
	return list
}
