package study

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTertiles(t *testing.T) {
	for _, c := range []struct {
		prompts string // lengths
		want    string // of the prompts in this order, by first letter
	}{
		{"", ""},
		{"7", "m"},
		{"7 7 7 7", "mmmm"},
		{"1 2", "sl"},
		{"1 2 3", "sml"},
		{"1 2 3 4", "smml"},
		{"1 2 3 4 5", "ssmll"},
		{"1 2 3 4 5 6", "ssmmll"},
		{"3 1 2", "lsm"},
		{"1 1 1 2", "mmml"}, // the middle of the first three ranks is 1.5 of 4, in the second third
		{"1 1 2", "mml"},    // exactly at the bound
		{"1 2 2", "smm"},
		{"1 1 2 2 3 3", "ssmmll"},
		{"1 2 2 2 2 3", "smmmml"},
		{"1 9 9 9 9 9", "smmmmm"},
		{"0.5 0.75 200", "sml"},
	} {
		counts := map[float64]int{}
		var all []float64
		for _, l := range strings.Fields(c.prompts) {
			n, err := strconv.ParseFloat(l, 64)
			if err != nil {
				t.Fatal(err)
			}
			counts[n]++
			all = append(all, n)
		}
		of, got := tertiles(counts), ""
		for _, n := range all {
			got += of[n][:1]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.prompts, got, c.want)
		}
	}
}

// Without ties the thirds are equal up to one prompt, and longer prompts are
// never in a shorter third.
func TestTertilesAreThirds(t *testing.T) {
	rank := map[string]int{Short: 0, Medium: 1, Long: 2}
	for n := 1; n < 200; n++ {
		counts := map[float64]int{}
		for i := range n {
			counts[float64(i)/4] = 1
		}
		of := tertiles(counts)
		sizes := []int{0, 0, 0}
		before := 0
		for _, length := range slices.Sorted(maps.Keys(of)) {
			third := rank[of[length]]
			if third < before {
				t.Fatalf("%d prompts: %v words are %s", n, length, of[length])
			}
			before = third
			sizes[third]++
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("%d prompts: %v", n, sizes)
		}
	}
}
