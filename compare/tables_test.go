package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// A plan's table and records name the studies and what cannot be told.
func TestPlanWords(t *testing.T) {
	r := pairsWith(2, 3, 40)
	studies, _, err := Pilots([]Run{r.run(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan := func(g Goal) (string, string) {
		t.Helper()
		g.Level = 0.95
		p, err := g.Plan(studies)
		if err != nil {
			t.Fatal(err)
		}
		var table, csv strings.Builder
		for format, b := range map[string]*strings.Builder{"table": &table, "csv": &csv} {
			if err := WritePower(b, format, p); err != nil {
				t.Fatal(err)
			}
		}
		return table.String(), csv.String()
	}
	table, csv := plan(Goal{Samples: []int{1}, Differences: []float64{0.01}, Margins: []float64{0.012345},
		Items: []int{10}})
	for _, want := range []string{"power 80 % at level 95 % · m · model b against model a\n", "items for 1 point ", "items for a margin of 1.234 points", "points with 10 items",
		"items: with a value under both conditions, and the stated number of samples under each"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "-: the difference") || strings.Contains(table, "in a cluster of") || !strings.Contains(csv, `"m, model b against model a",1,difference,0.01,`) {
		t.Errorf("%s\n%s", table, csv)
	}
	table, _ = plan(Goal{Samples: []int{1, 2}, Differences: []float64{0.05}})
	lines := strings.Split(table, "\n")
	if !slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(strings.TrimSpace(l), "all        2 ") && strings.HasSuffix(l, " -")
	}) ||
		!strings.Contains(table, "-: the difference is impossible, or the pilot has no variance or too few samples") {
		t.Error(table)
	}
}

// The groups of a harmonic mean have their own items only.
func TestGroupsOfHarmonicMean(t *testing.T) {
	r := &recorded{by: []string{"source", "language"},
		average: map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}, Over: []string{"language"}}}}
	for i := range 120 {
		labels := columns{"language": []string{"de", "ko"}[i%2], "source": []string{"s", "t", "u"}[i%3]}
		for _, condition := range []columns{first, second} {
			r.add("lpr", fmt.Sprint(i), "", float64(i%5/4), condition, labels)
			r.add("wpr", fmt.Sprint(i), "", float64(i%7/6), condition, labels)
		}
	}
	want := map[int]int{0: 120, 1: 40, 2: 20}
	seen := 0
	for range 5 {
		for _, c := range runs(t, Options{Groups: true}, r).Comparisons {
			n := 0
			for _, column := range []string{"source", "language"} {
				if v := c.By[column]; v != "" && v != crosstalk.All {
					n++
				}
			}
			if c.By["source"] == "" || c.By["source"] == crosstalk.All {
				continue
			}
			if seen++; c.N != want[n] {
				t.Fatalf("%s %v: %d items, want %d", c.Measure, c.By, c.N, want[n])
			}
		}
	}
	if seen == 0 {
		t.Error("no groups")
	}
}
