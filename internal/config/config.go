// Package config declares the flags of commands, each once: parsing, help, completion and the file that --config names
// follow from that. The file is YAML with a key for each flag:
//
//	model: ollama:llama3.2
//	temperature: [0, 0.5]
package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/strictyaml"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flag declares a flag of a command.
type Flag struct {
	Name     string   // "model", or "model,m" with a letter
	To       any      // a pointer to its value, which is the default
	Help     string   // for people; states the default if that is not To's value
	Shown    []string // the default that an empty list means
	Choices  []string // the only values, also in a list
	Values   string   // the name of its completion; "": Choices, else files
	Whole    bool     // a comma does not separate the values of a list
	Positive bool     // 0 is refused, because in Go it means the default
	Rare     bool     // few people set it: help only names it, and docs/config.md has the rest
}

const (
	groupAnnotation    = "config-group"
	choicesAnnotation  = "config-choices"
	shownAnnotation    = "config-shown"
	valuesAnnotation   = "config-values"
	positiveAnnotation = "config-positive"
	rareAnnotation     = "config-rare"
)

// Declare adds flags to a command, after its other ones. group is their title in help and may be "".
func Declare(c *cobra.Command, group string, flags []Flag) {
	fs := c.Flags()
	fs.SortFlags = false
	for _, f := range flags {
		name, letter, _ := strings.Cut(f.Name, ",")
		switch to := f.To.(type) {
		case *string:
			fs.StringVarP(to, name, letter, *to, f.Help)
		case *[]string:
			if f.Whole {
				fs.StringArrayVarP(to, name, letter, *to, f.Help)
			} else {
				fs.StringSliceVarP(to, name, letter, *to, f.Help)
			}
		case *bool:
			fs.BoolVarP(to, name, letter, *to, f.Help)
		case *int:
			fs.IntVarP(to, name, letter, *to, f.Help)
		case *[]int:
			fs.IntSliceVarP(to, name, letter, *to, f.Help)
		case *uint64:
			fs.Uint64VarP(to, name, letter, *to, f.Help)
		case *float64:
			fs.Float64VarP(to, name, letter, *to, f.Help)
		case *[]float64:
			fs.Float64SliceVarP(to, name, letter, *to, f.Help)
		case *time.Duration:
			fs.DurationVarP(to, name, letter, *to, f.Help)
		case **int64:
			fs.VarP(optionalInt{to}, name, letter, f.Help)
		default:
			panic(fmt.Sprintf("--%s: no flag has a value of type %T", name, f.To))
		}
		declared := fs.Lookup(name)
		declared.Hidden = f.Rare
		declared.Annotations = map[string][]string{
			groupAnnotation: {group}, choicesAnnotation: f.Choices, shownAnnotation: f.Shown,
			valuesAnnotation: {f.Values}, positiveAnnotation: {strconv.FormatBool(f.Positive)},
			rareAnnotation: {strconv.FormatBool(f.Rare)},
		}
	}
}

// optionalInt is the value of a flag that is a whole number, or nil.
type optionalInt struct{ n **int64 }

func (o optionalInt) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errors.New("expected a whole number")
	}
	*o.n = &v
	return nil
}

func (o optionalInt) String() string {
	if o.n == nil || *o.n == nil {
		return ""
	}
	return strconv.FormatInt(**o.n, 10)
}

func (o optionalInt) Type() string { return "int" }

// GroupOf returns the group in which a flag was declared, "" for any other flag.
func GroupOf(f *pflag.Flag) string { return strings.Join(f.Annotations[groupAnnotation], "") }

// ValuesOf returns the name of a flag's completion, or "".
func ValuesOf(f *pflag.Flag) string { return strings.Join(f.Annotations[valuesAnnotation], "") }

// ChoicesOf returns the choices of a flag, nil if it has none.
func ChoicesOf(f *pflag.Flag) []string { return f.Annotations[choicesAnnotation] }

// Rare reports whether help only names a flag.
func Rare(f *pflag.Flag) bool { return slices.Contains(f.Annotations[rareAnnotation], "true") }

// Check returns an error for a flag whose value is not one of its Choices, or is 0 although it must be Positive.
func Check(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if err != nil || !f.Changed {
			return
		}
		values := []string{f.Value.String()}
		if list, several := f.Value.(pflag.SliceValue); several {
			values = list.GetSlice()
		}
		positive := slices.Contains(f.Annotations[positiveAnnotation], "true")
		if positive && slices.Contains([]string{"0", "0s"}, values[0]) {
			expected := "a number above 0"
			if f.Value.Type() == "duration" {
				expected = "a duration above 0, such as 2m"
			}
			err = crosstalk.BadOption(f.Name, " is %s; expected %s", values[0], expected)
		}
		choices := ChoicesOf(f)
		for _, value := range values {
			if err == nil && choices != nil && value != f.DefValue {
				_, err = crosstalk.Chosen(strings.ReplaceAll(f.Name, "-", " "), value, choices)
			}
		}
	})
	return err
}

// Complete completes a flag's value, or each of several after a comma, to these values.
func Complete(f *pflag.Flag, values []string, d cobra.ShellCompDirective) cobra.CompletionFunc {
	split := kindOf(f).split
	return func(_ *cobra.Command, _ []string, typed string) (list []string, _ cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); split && i >= 0 {
			before, typed = typed[:i+1], typed[i+1:]
		}
		for _, value := range values {
			if strings.HasPrefix(value, typed) && !slices.Contains(strings.Split(before, ","), value) {
				list = append(list, before+value)
			}
		}
		return list, d
	}
}

// maxTextFile limits the size of a file that holds an option's text.
const maxTextFile = 1 << 20

// TextOrFile returns an option's text or, after an @, the content of the file so named, without line breaks at its
// end. A text that begins with @ is written with two of them.
func TextOrFile(text string) (string, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if !isFile || strings.HasPrefix(name, "@") {
		return name, nil
	}
	content, err := strictyaml.ReadFile(name, maxTextFile)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w (for a text that begins with @, write @@)", err)
	case !utf8.Valid(content):
		return "", fmt.Errorf("%s is not valid UTF-8: save the file as UTF-8", name)
	case strings.TrimSpace(string(content)) == "":
		return "", fmt.Errorf("%s is empty", name)
	}
	return strings.TrimRight(strings.TrimPrefix(string(content), "\ufeff"), "\r\n"), nil
}
