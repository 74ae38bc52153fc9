package ordered

import (
	"fmt"
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct{ list, other, want string }{
		{"", "a b", "a b"},
		{"a b", "", "a b"},
		{"a b", "c d", "a b c d"},
		{"answer gold", "source answer class", "source answer gold class"},
		{"similarity dataset language", "task language", "similarity dataset task language"},
		{"a b c", "c b a x", "a b c x"}, // they do not agree
		{"a b", "a b", "a b"},
	} {
		list := strings.Fields(c.list)
		got := Merge(list, strings.Fields(c.other), func(s string) string { return s })
		if strings.Join(got, " ") != c.want || strings.Join(list, " ") != c.list {
			t.Errorf("%q and %q: %q; want %q", c.list, c.other, got, c.want)
		}
	}
}

func TestGroups(t *testing.T) {
	got := Groups([]string{"ba", "a", "bb", "c", "ab"}, func(s string) byte { return s[0] })
	if want := "[[ba bb] [a ab] [c]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Groups(nil, func(s string) string { return s }); got != nil {
		t.Errorf("nothing has the groups %v", got)
	}
}

func TestDistinct(t *testing.T) {
	got := Distinct([]string{"ba", "a", "bb", "c", "ab"}, func(s string) byte { return s[0] })
	if want := "[98 97 99]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}
