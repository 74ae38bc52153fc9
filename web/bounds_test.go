package web

import (
	"context"
	"fmt"
	"testing"
)

// Comparisons that are computed are bounded: finished ones make room, others are waited for.
func TestComparisonsBounded(t *testing.T) {
	c, ctx := comparisons{kept: map[string]*comparison{}}, t.Context()
	for i := range mostKept {
		c.kept[fmt.Sprint(i)] = &comparison{Context: ctx}
	}
	a, b := side{Run: &runEntry{ID: "a"}}, side{Run: &runEntry{ID: "b"}}
	if c.start(a, b) != nil {
		t.Error("one more is computed")
	}
	ended, end := context.WithCancel(ctx)
	end()
	c.kept["0"].Context = ended
	k := c.start(a, b)
	if k == nil || len(c.kept) != mostKept || c.kept["0"] != nil || c.start(a, b) != k {
		t.Fatalf("%v of %d comparisons", k, len(c.kept))
	}
	if table := c.of(ctx, a, b); table == nil || table.Problem == "" {
		t.Errorf("%+v; there are no runs to compare", table)
	}
}

func TestCompareValues(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"9", "10", -1}, {"0.70", "0.7", 0}, {"10", "9", 1}, {"10", "9 shots", -1}, {"9 shots", "10", 1}, {"x", "-1", 1}, {"a", "b", -1}, {"de", "ar", 1}} {
		if got := compareValues(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
