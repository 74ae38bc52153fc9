package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"crosstalk/internal/duration"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/spf13/pflag"
)

type value struct {
	line    int
	list    bool
	scalars []scalar
}

type scalar struct {
	line int
	is   string // text, plain (text without quotes), integer, number or boolean; otherwise a description
	text string // as written, without quotes
}

func (s scalar) isText() bool { return s.is == "text" || s.is == "plain" }

// String describes the value found.
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

type kind struct {
	base    string // text, integer, number, boolean or duration
	several bool
	split   bool     // several values are split at commas on the command line
	choices []string // the only values; nil: any
}

// Expected describes the values that a flag accepts: "a whole number".
func Expected(f *pflag.Flag) string { return kindOf(f).one() }

func kindOf(f *pflag.Flag) kind {
	_, several := f.Value.(pflag.SliceValue)
	of := f.Value.Type()
	base := map[string]string{"bool": "boolean", "duration": "duration", "int": "integer", "uint64": "integer",
		"float64": "number"}[strings.TrimSuffix(of, "Slice")]
	return kind{cmp.Or(base, "text"), several, several && of != "stringArray", ChoicesOf(f)}
}

// orList follows the description of a list's elements.
const orList = ", or a list"

// String describes the expected value.
func (k kind) String() string {
	if k.several {
		return k.one() + orList
	}
	return k.one()
}

func (k kind) one() string {
	if n := len(k.choices); n > 1 {
		return strings.Join(k.choices[:n-1], ", ") + " or " + k.choices[n-1]
	} else if n == 1 {
		return k.choices[0]
	}
	return map[string]string{"text": "text", "integer": "a whole number", "number": "a number",
		"boolean": "true or false", "duration": "a duration such as 90s or 2m"}[k.base]
}

type mismatch struct {
	line            int
	expected, found string
}

func (m *mismatch) Error() string { return fmt.Sprintf("expected %s, found %s", m.expected, m.found) }

// check returns the mismatch if a flag of this kind does not accept the value, or nil.
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

// Described returns the name of a flag's kind in help ("bool" for a switch), and the default as one types it.
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

// defaults returns a flag's default values as written, or nil.
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

// TrustVariable is the environment variable that makes a file trusted that was only found: 1 for yes.
const TrustVariable = "CROSSTALK_TRUST_CONFIG"

// Reach lists effects of a flag's values beyond the measurement, as pairs: the effect, and a regular expression of
// the values that have it. A file that was only found may have come with somebody else's repository, so it must not
// have such effects.
type Reach []string

var (
	Nothing    = Reach{}
	Program    = Reach{"runs a program", ""}
	Address    = Reach{"is an address that requests are sent to", ""}
	Credential = Reach{"says where an API key is, or passes one on", ""}
	Access     = Reach{"decides who can connect", ""}
	Expense    = Reach{"asks a provider, with your key and at your expense", ""}
	Path       = Reach{place, "(?s).*"} // is a file or directory: those below the current directory are allowed
)

const (
	place   = "is outside the current directory"
	gitData = "is in the data of git"
)

// If restricts r to the values that match a pattern. For a Path, the pattern's last group matches the path.
func (r Reach) If(pattern string) Reach { return Reach{r[0], pattern} }

// reachOf returns the effect of a flag's value that a file which was only found must not have, or "".
func reachOf(f *pflag.Flag, value string) string {
	for pair := range slices.Chunk(f.Annotations[reachAnnotation], 2) {
		match, reach := regexp.MustCompile(pair[1]).FindStringSubmatch(value), pair[0]
		if match != nil && reach == place {
			reach = reachOfPath(match[len(match)-1])
		}
		if match != nil && reach != "" {
			return reach
		}
	}
	return ""
}

// reachOfPath returns place for a path outside the current directory, and gitData for one from which git runs
// programs.
func reachOfPath(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == filepath.Separator })
	switch {
	case path == "":
		return ""
	case !filepath.IsLocal(path), strings.HasPrefix(path, "~"), slices.Contains(parts, ".."):
		return place
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return place
	}
	defer root.Close()
	_, err = root.Stat(path) // follows links, and fails where one leads out
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return place
	case slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") }):
		return gitData
	}
	return ""
}

// refuse returns an error if a setting has an effect that a file which was only found must not have.
func (s setting) refuse(f *pflag.Flag) error {
	var failed []error
	for _, v := range s.value.scalars {
		if reach := reachOf(f, v.text); reach == Credential[0] {
			failed = append(failed, fmt.Errorf("%s:%d: %s %s", s.file, v.line, s.key, reach))
		} else if reach != "" {
			failed = append(failed, fmt.Errorf("%s:%d: %s %s: %s", s.file, v.line, s.key, reach, v))
		}
	}
	return errors.Join(failed...)
}
