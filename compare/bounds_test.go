package compare

import (
	"maps"
	"testing"

	"crosstalk"
)

// Of all pairs, each later condition is compared with each earlier one, once.
func TestAllPairsInOrder(t *testing.T) {
	r := runs(t, Options{AllPairs: true, Across: []string{acrossAll}}, grid())
	place := func(c columns) int {
		at := 0
		for _, of := range []struct{ column, later string }{{"model", "m2"}, {"temperature", ""}, {"similarity", "sbert@1"}} {
			at *= 10
			switch v := c[of.column]; {
			case v == of.later:
				at++
			case of.column == "temperature":
				at += map[string]int{"0": 0, "0.5": 1, "1": 2, "1.5": 3}[v]
			}
		}
		return at
	}
	seen := map[[2]int]bool{}
	for _, c := range r.Comparisons {
		of, against := place(c.Condition), place(c.Reference)
		if of <= against || seen[[2]int{of, against}] {
			t.Errorf("%v against %v", c.Condition, c.Reference)
		}
		seen[[2]int{of, against}] = true
	}
	if len(seen) != 16*15/2 {
		t.Errorf("%d pairs of 16 conditions", len(seen))
	}
}

// A figure without a test is not in the family, and its p-value stays undefined.
func TestFamilyOfTests(t *testing.T) {
	r := Result{Level: 0.95, Adjustment: Holm, Comparisons: []Comparison{{P: 0.02}, {P: crosstalk.Undefined}, {P: 0.5}}}
	r.adjust()
	if r.Family != 2 || r.Comparisons[1].Adjusted.Defined() || r.Comparisons[1].Shown ||
		r.Comparisons[0].Adjusted != 0.04 || !r.Comparisons[0].Shown || r.Comparisons[2].Shown {
		t.Errorf("%+v", r)
	}
}

// A signature has fields with values, flags, and a version.
func TestFieldsOf(t *testing.T) {
	for signature, want := range map[string]columns{
		"lpr":                                 {},
		"lpr|suite:s@1:2|exact|v0.1.0":        {"suite": "s@1:2", "exact": "yes", "version": "0.1.0"},
		"lpr|v|verbose|v12":                   {"v": "yes", "verbose": "yes", "version": "12"},
		"lpr|empty:|suite:later|suite:latest": {"empty": "", "suite": "latest"},
	} {
		if got := fieldsOf(signature); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", signature, got, want)
		}
	}
}
