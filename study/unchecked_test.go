package study

import (
	"errors"
	"slices"
	"testing"

	"crosstalk"
)

// The first headline measure of each total decides whether most answers were checked.
func TestUnchecked(t *testing.T) {
	figure := func(measure, count string, unjudged, of int, by ...string) crosstalk.Estimate {
		e := crosstalk.Estimate{Measure: measure, Observations: of - unjudged, Counts: map[string]int{count: unjudged},
			By: map[string]string{"model": "m"}}
		for i := 0; i < len(by); i += 2 {
			e.By[by[i]] = by[i+1]
		}
		return e
	}
	type figures []crosstalk.Estimate
	for name, c := range map[string]struct {
		figures
		want string
	}{
		"nothing":              {nil, ""},
		"half":                 {figures{figure("lpr", "cannot_tell", 2, 4)}, ""},
		"most":                 {figures{figure("lpr", "cannot_tell", 3, 5)}, "most answers were not checked: 3 of 5"},
		"all":                  {figures{figure("lpr", "empty", 5, 5)}, "most answers were not checked: 5 of 5"},
		"of wrong lines":       {figures{figure("wpr", "cannot_tell", 3, 4), figure("lpr", "cannot_tell", 3, 9)}, ""},
		"of log probabilities": {figures{figure("lpr", "cannot_tell", 0, 9), figure("entropy", "no_logprobs", 9, 9, "at", "x")}, ""},
		"of reasoning":         {figures{figure("word_accuracy", "no_reasoning", 9, 9)}, "most answers were not checked: 9 of 9"},
		"a group":              {figures{figure("lpr", "empty", 3, 9, "language", "all"), figure("lpr", "empty", 3, 3, "language", "ko")}, ""},
		"a part of a group": {figures{figure("lpr", "empty", 3, 9, "language", "all", "plan", "all"), figure("lpr", "empty", 3, 8, "language", "ko", "plan", "all"),
			figure("lpr", "empty", 3, 3, "language", "ko", "plan", "gold")}, ""},
		"one of two tasks": {figures{figure("lpr", "empty", 0, 9, "task", "a"), figure("lpr", "empty", 3, 3, "task", "b")}, "most answers were not checked: 3 of 3"},
	} {
		for range 2 {
			err, incomplete := Unchecked("confusion", c.figures), new(IncompleteError)
			if (err == nil) != (c.want == "") || err != nil && (err.Error() != c.want || !errors.As(err, &incomplete)) {
				t.Errorf("%s: %v; want %q", name, err, c.want)
			}
			slices.Reverse(c.figures)
		}
	}
}
