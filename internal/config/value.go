package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk/internal/duration"

	"github.com/spf13/pflag"
)

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

// one describes one of the values.
func (k kind) one() string {
	if n := len(k.choices); n > 1 {
		return strings.Join(k.choices[:n-1], ", ") + " or " + k.choices[n-1]
	} else if n == 1 {
		return k.choices[0]
	}
	return map[string]string{"text": "text", "integer": "a whole number", "number": "a number",
		"boolean": "true or false", "duration": "a duration such as 90s or 2m"}[k.base]
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
