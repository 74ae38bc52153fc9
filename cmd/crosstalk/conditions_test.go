package main

import (
	"fmt"
	"strings"
	"testing"
)

// The last axis varies fastest, and only axes of several values name a
// condition.
func TestGrid(t *testing.T) {
	extra := func(name string, values ...any) axis {
		a := axis{column: name, set: func(c *condition, i int) { c.setExtra(name, values[i]) }}
		for _, v := range values {
			a.values = append(a.values, fmt.Sprint(v))
		}
		return a
	}
	conditions, err := grid([]axis{extra("a", 1, 2), extra("b", "x"), extra("c", true, false)})
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
	if _, err := grid([]axis{extra("top_k", 1, 2, 1)}); err == nil || err.Error() != `the top-k "1" is named twice` {
		t.Errorf("%v", err)
	}
}

// A local server's bound holds for all, unless the user has named one.
func TestConcurrencyOfSeveralModels(t *testing.T) {
	conditions := []condition{{name: "openai:a"}, {name: "ollama:b"}, {name: "openai:c"}}
	for given, want := range map[int]int{0: 4, 2: 2, 100: 100} {
		a := &asking{}
		a.options.Concurrency = given
		if got := a.concurrency(conditions); got != want {
			t.Errorf("given %d: %d; want %d", given, got, want)
		}
	}
	if got := (&asking{}).concurrency(conditions[:1]); got != 0 {
		t.Errorf("openai alone: %d", got)
	}
}
