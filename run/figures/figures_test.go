package figures

import (
	"testing"

	"crosstalk"
	"crosstalk/run/view"
)

// Only figures of the chosen values remain, with those over all values and of other columns.
func TestChosen(t *testing.T) {
	choices := []view.Choice{{Column: "language", Values: []string{"de", "fr"}}, {Column: "task", Values: []string{"x"}}}
	for _, c := range []struct {
		by   map[string]string
		want bool
	}{
		{map[string]string{}, true}, {map[string]string{"model": "m"}, true}, {map[string]string{"language": "de"}, true},
		{map[string]string{"language": "es"}, false}, {map[string]string{"language": crosstalk.All}, true},
		{map[string]string{"language": "fr", "task": "y"}, false}, {map[string]string{"language": "fr", "task": "x"}, true},
	} {
		if got := chosen(crosstalk.Estimate{By: c.by}, choices); got != c.want {
			t.Errorf("%v: %v", c.by, got)
		}
	}
}
