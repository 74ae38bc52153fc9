package study

import (
	"fmt"
	"strings"
	"testing"
)

// The last axis varies fastest, and only axes of several values name a
// condition.
func TestCross(t *testing.T) {
	extra := func(name string, values ...any) axis {
		a := axis{column: name, set: func(c *Condition, i int) { c.setExtra(name, values[i]) }}
		for _, v := range values {
			a.values = append(a.values, fmt.Sprint(v))
		}
		return a
	}
	conditions, err := cross([]axis{extra("a", 1, 2), extra("b", "x"), extra("c", true, false)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range conditions {
		got = append(got, fmt.Sprint(c.Name, c.Prompting.Decoding.Extra))
	}
	want := []string{
		"map[a:1 c:true] map[a:1 b:x c:true]", "map[a:1 c:false] map[a:1 b:x c:false]",
		"map[a:2 c:true] map[a:2 b:x c:true]", "map[a:2 c:false] map[a:2 b:x c:false]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant %q", got, want)
	}
	if _, err := cross([]axis{extra("top_k", 1, 2, 1)}); err == nil || err.Error() != `duplicate top-k "1"` {
		t.Errorf("%v", err)
	}
}

// The smallest hint of a local server is for all.
func TestConcurrencyOfSeveralModels(t *testing.T) {
	conditions := []Condition{{name: "openai:a"}, {name: "ollama:b"}, {name: "openai:c"}}
	if got := concurrency(conditions); got != 4 {
		t.Errorf("%d; want 4", got)
	}
	if got := concurrency(conditions[:1]); got != 0 {
		t.Errorf("openai alone: %d", got)
	}
}
