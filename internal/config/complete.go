package config

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Complete completes a flag's value, or each of several after a comma, to these values.
func Complete(f *pflag.Flag, values []string, d cobra.ShellCompDirective) cobra.CompletionFunc {
	_, several := f.Value.(pflag.SliceValue)
	several = several && f.Value.Type() != "stringArray"
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completions(values, typed, several), d
	}
}

// completions are the values that begin with what was typed, of a list with its last value.
func completions(values []string, typed string, several bool) (list []string) {
	before := ""
	if i := strings.LastIndexByte(typed, ','); several && i >= 0 {
		before, typed = typed[:i+1], typed[i+1:]
	}
	for _, value := range values {
		if strings.HasPrefix(value, typed) && !slices.Contains(strings.Split(before, ","), value) {
			list = append(list, before+value)
		}
	}
	return list
}
