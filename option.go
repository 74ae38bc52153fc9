package crosstalk

import "fmt"

// OptionError is a setting with a value that it cannot have. An option is a
// flag on the command line and a key of crosstalk.yaml.
type OptionError struct {
	Option string // its name: "top-p"
	err    error
}

// BadOption returns an OptionError that reads as the option's name followed by
// the text, as in BadOption("samples", " is %d; expected a number above 0", n).
func BadOption(option, format string, args ...any) error {
	return &OptionError{option, fmt.Errorf("%s"+format, append([]any{option}, args...)...)}
}

func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns what is wrong with the value.
func (e *OptionError) Unwrap() error { return e.err }

// ProtocolsNamed resolves the protocols of an option, each by one; without
// names the default alone.
func ProtocolsNamed[P any](names []string, byDefault string, one func(name string) (P, error)) (list []P, err error) {
	if names == nil {
		names = []string{byDefault}
	}
	if len(names) == 0 {
		return nil, BadOption("protocol", " names nothing")
	}
	seen := map[string]bool{}
	for _, name := range names {
		p, err := one(name)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, BadOption("protocol", " names %s twice", name)
		}
		seen[name] = true
		list = append(list, p)
	}
	return list, nil
}
