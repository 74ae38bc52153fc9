package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/pflag"
)

// kind describes the values of a flag.
type kind struct {
	base    string // text, integer, number, boolean or duration
	several bool
	split   bool     // several values are split at commas on the command line
	choices []string // the only values; nil: any

	structured bool // a list of maps
}

// choicesAnnotation marks a flag with a closed set of values.
const choicesAnnotation = "config-choices"

// Choices restricts a flag to these values.
func Choices(flags *pflag.FlagSet, name string, values ...string) {
	if err := flags.SetAnnotation(name, choicesAnnotation, values); err != nil {
		panic(err) // there is no such flag
	}
}

// ChoicesOf returns the choices of a flag, nil if it has none.
func ChoicesOf(f *pflag.Flag) []string { return f.Annotations[choicesAnnotation] }

// CheckChoices returns an error for a flag with a value that is not one of its
// Choices.
func CheckChoices(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		choices := ChoicesOf(f)
		if choices == nil || !f.Changed || err != nil {
			return
		}
		values := []string{f.Value.String()}
		if list, several := f.Value.(pflag.SliceValue); several {
			values = list.GetSlice()
		}
		for _, value := range values {
			if _, unknown := crosstalk.Chosen(strings.ReplaceAll(f.Name, "-", " "), value, choices); unknown != nil && value != f.DefValue {
				err = unknown
			}
		}
	})
	return err
}

// Expected describes the values that a flag takes: "a whole number".
func Expected(f *pflag.Flag) string { return kindOf(f).one() }

func kindOf(f *pflag.Flag) kind {
	_, several := f.Value.(pflag.SliceValue)
	of := f.Value.Type()
	k := kind{base: "text", several: several, split: several && of != "stringArray", choices: ChoicesOf(f)}
	_, k.structured = structured(f)
	of = strings.TrimSuffix(of, "Slice")
	switch {
	case of == "bool":
		k.base = "boolean"
	case of == "duration":
		k.base = "duration"
	case of == "count", strings.HasPrefix(of, "int"), strings.HasPrefix(of, "uint"):
		k.base = "integer"
	case strings.HasPrefix(of, "float"):
		k.base = "number"
	}
	return k
}

// orList is appended to the description of a list's elements.
const orList = ", or a list"

// String describes the expected value.
func (k kind) String() string {
	if k.structured {
		return "a list of maps"
	}
	if k.several {
		return k.one() + orList
	}
	return k.one()
}

// one describes a single value.
func (k kind) one() string {
	one := map[string]string{"text": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "duration": "a duration such as 90s or 2m"}[k.base]
	if k.choices != nil {
		one = strings.Join(k.choices, ", ")
		if n := len(k.choices); n > 1 {
			one = strings.Join(k.choices[:n-1], ", ") + " or " + k.choices[n-1]
		}
	}
	return one
}

// value is the value of a key.
type value struct {
	line    int
	list    bool
	scalars []scalar
	node    ast.Node // of a Structured flag
}

// scalar is one value.
type scalar struct {
	line int
	is   string // text, plain (text without quotes), integer, number or boolean; otherwise a description
	text string // as written, without quotes
}

// String describes the value that was found.
func (s scalar) String() string {
	switch s.is {
	case "text", "plain":
		if r := []rune(s.text); len(r) > 40 {
			return fmt.Sprintf("%q...", string(r[:40]))
		}
		return strconv.Quote(s.text)
	case "integer", "number", "boolean":
		return s.text
	}
	return s.is
}

// mismatch is an error with the line it concerns.
type mismatch struct {
	line            int
	expected, found string
}

func (m *mismatch) Error() string { return fmt.Sprintf("expected %s, found %s", m.expected, m.found) }

// check returns the mismatch if a flag of this kind does not accept the value,
// else nil.
func (k kind) check(v value) *mismatch {
	if v.list && !k.several {
		return &mismatch{v.line, k.String(), "a list"}
	}
	for _, s := range v.scalars {
		if !v.list && k.split && strings.Contains(s.text, ",") {
			values := strings.Split(s.text, ",")
			for i := range values {
				values[i] = quoted(strings.TrimSpace(values[i]))
			}
			return &mismatch{s.line, fmt.Sprintf("a list, [%s], or [%s] if it is one value", strings.Join(values, ", "), quoted(s.text)), s.String()}
		}
		if !k.takes(s) && v.list {
			return &mismatch{s.line, k.one() + " in the list", s.String()}
		}
		if !k.takes(s) {
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
		return (s.is == "integer" || s.is == "number" || s.is == "plain" && strings.ContainsAny(s.text, "0123456789")) && err == nil // 1e-3 is plain
	case "duration":
		_, err = time.ParseDuration(s.text)
		return (s.is == "text" || s.is == "plain") && err == nil
	}
	return s.is == "text" || s.is == "plain" || s.is == "integer" || s.is == "number"
}

// defaults are a flag's default values as written; nil if it has none.
func defaults(f *pflag.Flag) (list []string) {
	list = []string{f.DefValue}
	if s, several := f.Value.(pflag.SliceValue); several {
		list = slices.Clone(s.GetSlice())
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
