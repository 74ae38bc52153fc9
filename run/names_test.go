package run

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{[]string{"runs/a", "runs/b/"}, []string{"a", "b"}},
		{[]string{"old/run", "new/run", "x"}, []string{"old/run", "new/run", "x"}},
		{[]string{"runs/a", "runs/a"}, []string{"runs/a", "runs/a#2"}},
		{[]string{"./a"}, []string{"a"}},
	} {
		if got := Names(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q are called %q, want %q", c.paths, got, c.want)
		}
	}
}
