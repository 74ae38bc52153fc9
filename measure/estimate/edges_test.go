package estimate

import (
	"math"
	"slices"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// A figure keeps the warnings that it had, and has no interval where none is known.
func TestSet(t *testing.T) {
	e := crosstalk.Estimate{Warnings: []string{"before"}}
	few := stats.Warning{Code: stats.FewItems, Have: 2, Want: 30}
	Set(&e, 0.25, stats.Interval{Low: 0, High: 0.5, Level: 0.95, Method: "t"}, []stats.Warning{few, few})
	if e.Value != 0.25 || e.Interval == nil || e.Interval.Low != 0 || e.Interval.High != 0.5 || e.Interval.Level != 0.95 ||
		!slices.Equal(e.Warnings, []string{"before", few.String(), few.String()}) {
		t.Errorf("%+v", e)
	}
	Set(&e, math.NaN(), stats.Interval{Low: math.NaN(), High: math.NaN()}, nil)
	if e.Value.Defined() || e.Interval != nil || len(e.Warnings) != 3 {
		t.Errorf("%+v", e)
	}
}

// Values are ranked by their columns in the order in which they are first seen, and "all" comes before any.
func TestRank(t *testing.T) {
	var g Groups[int]
	for i, c := range []struct {
		value []string
		want  int
	}{{[]string{"a", "x"}, 0}, {[]string{"b", "x"}, 1}, {[]string{"a", "y"}, 2}, {[]string{"a", "x"}, 0}, {[]string{"a", "all"}, -1},
		{[]string{"all", "x"}, 3}, {[]string{"all"}, -1}, {[]string{"ab", ""}, 4}, {[]string{"a", "b"}, 5}, {[]string{"b", "x"}, 1}} {
		if got := g.Rank(c.value...); got != c.want {
			t.Errorf("%d: %q is %d, want %d", i, c.value, got, c.want)
		}
	}
}

// Observations share groups where all that decides them is equal, and nowhere else.
func TestGroupsAreKeptApart(t *testing.T) {
	made := 0
	g := Groups[int]{Grouping: Grouping{By: []string{"b", "c"}, Crossed: []string{"x"}, Apart: []string{"a"}},
		New: func(map[string]string) int { made++; return made }}
	type at struct {
		condition, labels map[string]string
		name              string
		extra             map[string]string
	}
	var all [][]*Group[int]
	for _, o := range []at{
		{of("m", "1"), nil, "n", nil}, {of("m", "1"), of("a", "1"), "n", nil}, {of("m", "1"), of("a", "2"), "n", nil}, {of("m", "2"), nil, "n", nil},
		{of("m", "1"), nil, "other", nil}, {of("m", "1"), nil, "n", of("e", "1")}, {of("m", "1"), nil, "n", of("e", "2")},
		{of("m", "1", "k", "v"), nil, "n", nil}, {of("mk", "1"), nil, "n", nil}, {of("m", "1k"), nil, "n", nil},
	} {
		groups := g.Of(o.condition, o.labels, o.name, o.extra)
		again := g.Of(o.condition, o.labels, o.name, o.extra)
		if len(groups) != 1 || len(again) != 1 || groups[0] != again[0] {
			t.Errorf("%v: %d and %d groups", o, len(groups), len(again))
		}
		for _, other := range all {
			if other[0] == groups[0] {
				t.Errorf("%v shares a group", o)
			}
		}
		all = append(all, groups)
	}
	for _, c := range []struct {
		labels map[string]string
		want   int
	}{{of("b", "1"), 2}, {of("b", "1", "c", "2"), 3}, {of("c", "2"), 1}, {of("b", "", "c", "1"), 1}, {of("b", "1", "c", "all"), 2},
		{of("b", "12"), 2}, {of("x", "1"), 1}, {of("other", "1"), 1}} {
		if got := g.Of(of("m", "1"), c.labels, "n", nil); len(got) != c.want {
			t.Errorf("%v: %d groups, want %d", c.labels, len(got), c.want)
		}
	}
	one := g.Of(of("m", "1"), of("b", "1", "c", "2"), "n", nil)
	if two := g.Of(of("m", "1"), of("b", "1", "c", "3"), "n", nil); one[1] != two[1] || one[2] == two[2] {
		t.Error("two values of the second column share the first's")
	}
}

// A column that is crossed and named has a figure of each value beside that of all; one that says "all" or nothing has not.
func TestCrossedValues(t *testing.T) {
	for _, c := range []struct {
		labels map[string]string
		want   []string
	}{{of("x", "1", "y", "2"), []string{"all/all", "1/all", "all/2", "1/2"}}, {of("x", "all", "y", "2"), []string{"all/all", "all/2"}},
		{of("y", "2"), []string{"all/all", "all/2"}}, {nil, []string{"all/all"}}} {
		g := Groups[int]{Grouping: Grouping{By: []string{"x", "y"}, Crossed: []string{"x", "y"}},
			New: func(map[string]string) int { return 0 }}
		var got []string
		for _, group := range g.Of(nil, c.labels, "n", nil) {
			got = append(got, group.Labels["x"]+"/"+group.Labels["y"])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.labels, got, c.want)
		}
	}
}

// Groups of a condition are together, whatever came between, and say which condition it is.
func TestConditionsOfGroups(t *testing.T) {
	g := Groups[int]{Grouping: Grouping{By: []string{"b"}, Apart: []string{"a"}}, New: func(map[string]string) int { return 0 }}
	for _, at := range []string{"2y", "1x", "2x", "1y"} {
		g.Of(nil, of("a", at[:1], "b", at[1:]), "n", nil)
	}
	var got []string
	var conditions []int
	for _, group := range g.Ordered() {
		got, conditions = append(got, group.Labels["a"]+group.Labels["b"]), append(conditions, group.Condition())
	}
	if want := []string{"2all", "2y", "2x", "1all", "1y", "1x"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	first, last := conditions[0], conditions[5]
	if first >= last || !slices.Equal(conditions, []int{first, first, first, last, last, last}) {
		t.Errorf("conditions %v", conditions)
	}
}

// Deeper averages, and harmonic means of figures that have no data: worked out by hand.
func TestFormulaEdges(t *testing.T) {
	nan := math.NaN()
	three := crosstalk.Average{Over: []string{"a", "b", "c"}}
	deep := []Cell{{0, []int{0, 0, 0}}, {0, []int{0, 0, 1}}, {0, []int{0, 1, 0}}, {0, []int{1, 0, 0}}}
	both := crosstalk.Average{Over: []string{"a", "b"}, HarmonicOf: []string{"x", "y"}}
	cells := []Cell{{0, []int{0, 0}}, {0, []int{0, 1}}, {1, []int{0, 0}}, {1, []int{1, 0}}}
	alone := crosstalk.Average{HarmonicOf: both.HarmonicOf, EmptyIsOne: true}
	for _, c := range []struct {
		name  string
		of    crosstalk.Average
		cells []Cell
		means []float64
		want  float64
	}{
		{"of three columns", three, deep, []float64{0.2, 0.4, 0.5, 1}, ((0.3+0.5)/2 + 1) / 2},
		{"of three columns, one cell empty", three, deep, []float64{nan, 0.4, 0.5, 1}, ((0.4+0.5)/2 + 1) / 2},
		{"of three columns, a part empty", three, deep, []float64{nan, nan, 0.5, 1}, 0.75},
		{"harmonic of means over sources; a language without the first is left out", both, cells, []float64{0.2, 0.6, 0.8, 0.1}, 2 * 0.4 * 0.8 / 1.2},
		{"harmonic, all empty", both, cells, []float64{nan, nan, nan, nan}, nan},
		{"harmonic of empty cells that count as 1", alone, []Cell{{0, nil}, {1, nil}}, []float64{nan, nan}, 1},
		{"harmonic, the first is 0 and the second 1", alone, []Cell{{0, nil}, {1, nil}}, []float64{0, 1}, 0},
		{"harmonic, the second is 0", alone, []Cell{{0, nil}, {1, nil}}, []float64{1, 0}, 0},
		{"an empty cell of its own counts as 1", crosstalk.Average{EmptyIsOne: true}, []Cell{{0, nil}}, []float64{nan}, 1},
	} {
		got := FormulaOf(c.of, c.cells)(c.means)
		if !(math.Abs(got-c.want) < 1e-15) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
