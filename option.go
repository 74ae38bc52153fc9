package crosstalk

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/nearest"
)

// OptionError is a setting with an invalid value. An option is a flag on the
// command line and a key of crosstalk.yaml.
type OptionError struct {
	Option string // its name: "top-p"
	err    error
}

// BadOption returns an OptionError whose message is the option's name followed by
// the text, as in BadOption("samples", " is %d; expected a number above 0", n).
func BadOption(option, format string, args ...any) error {
	return &OptionError{option, fmt.Errorf("%s"+format, append([]any{option}, args...)...)}
}

func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns what is wrong with the value.
func (e *OptionError) Unwrap() error { return e.err }

// UnknownName is the error for a name that is not one of the choices: `unknown
// protocol "lcb"; did you mean lcb-1? choose one of: lcb-1, smilga`.
func UnknownName[S ~string](what, name string, choices []S) error {
	list := make([]string, len(choices))
	for i, c := range choices {
		list[i] = string(c)
	}
	return fmt.Errorf("unknown %s %q; %schoose one of: %s", what, name, nearest.Question(name, list),
		strings.Join(list, ", "))
}

// Chosen reads a name that is one of the choices. what they are is for the error (UnknownName).
func Chosen[S ~string](what, name string, choices []S) (S, error) {
	return Named(what, name, choices, func(s S) string { return string(s) })
}

// Named is the choice of that name. what they are is for the error (UnknownName).
func Named[T any](what, name string, choices []T, nameOf func(T) string) (one T, err error) {
	names := make([]string, len(choices))
	for i, c := range choices {
		if names[i] = nameOf(c); names[i] == name {
			return c, nil
		}
	}
	return one, UnknownName(what, name, names)
}

// ProtocolsNamed resolves the protocols of an option by calling one for each name.
// Without names it resolves the default.
func ProtocolsNamed[P any](names []string, byDefault string, one func(name string) (P, error)) (list []P, err error) {
	if names == nil {
		names = []string{byDefault}
	}
	if len(names) == 0 {
		return nil, BadOption("protocol", " is empty; expected the name of a protocol")
	}
	for i, name := range names {
		p, err := one(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, BadOption("protocol", ": duplicate %s", name)
		}
		list = append(list, p)
	}
	return list, nil
}
