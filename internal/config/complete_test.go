package config

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestComplete(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringSlice("list", nil, "")
	flags.StringArray("texts", nil, "")
	flags.String("one", "", "")
	for _, c := range []struct{ flag, typed, want string }{
		{"list", "l", "lpr lcpr"}, {"list", "lpr,", "lpr,lcpr lpr,wpr"}, {"list", "lpr,w", "lpr,wpr"},
		{"one", "lpr,w", ""}, {"texts", "lpr,w", ""}, {"one", "", "lpr lcpr wpr"},
	} {
		complete := Complete(flags.Lookup(c.flag), []string{"lpr", "lcpr", "wpr"}, cobra.ShellCompDirectiveNoSpace)
		got, d := complete(nil, nil, c.typed)
		if strings.Join(got, " ") != c.want || d != cobra.ShellCompDirectiveNoSpace {
			t.Errorf("--%s %s: %q, want %q", c.flag, c.typed, got, c.want)
		}
	}
}
