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
