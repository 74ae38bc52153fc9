package config

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// OptionalInt is the value of a flag that is a whole number, or nil.
func OptionalInt(n **int64) pflag.Value { return optionalInt{n} }

type optionalInt struct{ n **int64 }

// Set implements pflag.Value.
func (o optionalInt) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errors.New("expected a whole number")
	}
	*o.n = &v
	return nil
}

// String implements pflag.Value.
func (o optionalInt) String() string {
	if o.n == nil || *o.n == nil {
		return ""
	}
	return strconv.FormatInt(**o.n, 10)
}

// Type implements pflag.Value.
func (o optionalInt) Type() string { return "int" }
