package estimate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

type row struct {
	condition, labels map[string]string
}

func of(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// count counts observations by group and names the groups in order.
func count(g Groups[*int], rows []row, columns ...string) (list []string) {
	g.New = func(map[string]string) *int { return new(int) }
	for _, r := range rows {
		for _, group := range g.Of(r.condition, r.labels, "n", nil) {
			*group.Sum++
		}
	}
	for _, group := range g.Ordered() {
		var by []string
		for _, c := range columns {
			by = append(by, group.Labels[c])
		}
		list = append(list, fmt.Sprintf("%s %d", strings.Join(by, "/"), *group.Sum))
	}
	return list
}

func TestGroups(t *testing.T) {
	m, n := of("model", "m"), of("model", "n")
	rows := []row{
		{n, of("set", "1", "category", "z", "language", "de", "source", "s")},
		{m, of("set", "1", "category", "a", "language", "de", "source", "s")},
		{n, of("set", "2", "category", "a", "language", "ja", "source", "s")},
		{n, of("set", "1", "category", "a", "language", "ja", "source", "r")},
		{n, of("set", "1", "language", "ja", "source", "r")},
	}
	for _, c := range []struct {
		name    string
		group   Grouping
		columns []string
		want    []string
	}{
		{"conditions in the order of their first observation", Grouping{}, []string{"model"}, []string{"n 4", "m 1"}},
		{"columns that are apart, though nothing names them", Grouping{Apart: []string{"set"}}, []string{"model", "set"}, []string{"n/1 3", "m/1 1", "n/2 1"}},
		{"a column that is apart and named", Grouping{By: []string{"set", "category"}, Apart: []string{"set"}},
			[]string{"model", "set", "category"},
			[]string{"n/1/all 3", "n/1/z 1", "n/1/a 1", "m/1/all 1", "m/1/a 1", "n/2/all 1", "n/2/a 1"}},
		{"all first, then values in the order of the data; a missing one in the sum only", Grouping{By: []string{"category"}}, []string{"model", "category"},
			[]string{"n/all 4", "n/z 1", "n/a 2", "m/all 1", "m/a 1"}},
		{"prefixes", Grouping{By: []string{"language", "source"}}, []string{"model", "language", "source"},
			[]string{"n/all/all 4", "n/de/all 1", "n/de/s 1", "n/ja/all 3", "n/ja/s 1", "n/ja/r 2", "m/all/all 1", "m/de/all 1", "m/de/s 1"}},
		{"every combination", Grouping{By: []string{"language", "source"}, Crossed: []string{"language", "source"}}, []string{"model", "language", "source"},
			[]string{"n/all/all 4", "n/all/s 2", "n/all/r 2", "n/de/all 1", "n/de/s 1", "n/ja/all 3", "n/ja/s 1", "n/ja/r 2",
				"m/all/all 1", "m/all/s 1", "m/de/all 1", "m/de/s 1"}},
		{"crossed columns that By lacks", Grouping{Crossed: []string{"language"}}, []string{"model", "language"}, []string{"n/all 4", "m/all 1"}},
		{"a condition column named by By, and one named twice", Grouping{By: []string{"model", "category", "category"}}, []string{"model", "category"},
			[]string{"n/all 4", "n/z 1", "n/a 2", "m/all 1", "m/a 1"}},
	} {
		if got := count(Groups[*int]{Grouping: c.group}, rows, c.columns...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Figures of several names, with columns and an order of their own.
func TestDescribedGroups(t *testing.T) {
	g := Groups[*int]{Grouping: Grouping{By: []string{"category"}, Apart: []string{"part"}},
		New: func(map[string]string) *int { return new(int) }}
	g.Describe = func(name string, condition, labels, extra map[string]string) Figure {
		return Figure{By: g.By, Unranked: []string{"part"}, Before: []int{len(name)},
			After: []int{len(labels["part"]), g.Rank("class", extra["class"])}}
	}
	for _, part := range []string{"xx", "x"} {
		for _, name := range []string{"long", "s"} {
			for _, class := range []string{"b", "a"} {
				g.Of(of("model", "m"), of("part", part), name, of("class", class))
			}
		}
	}
	var got []string
	for _, group := range g.Ordered() {
		got = append(got, strings.Join([]string{group.Name, group.Labels["part"], group.Labels["class"], group.Labels["category"]}, " "))
	}
	want := []string{"s x b all", "s x a all", "s xx b all", "s xx a all", "long x b all", "long x a all", "long xx b all", "long xx a all"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
