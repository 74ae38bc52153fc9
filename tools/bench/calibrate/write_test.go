package main

import (
	"strings"
	"testing"

	"crosstalk/measure/stats"
)

// calibrate ends with 1 if an interval's coverage lies outside 93 to 97 %
// beyond chance, and only then.
func TestVerdict(t *testing.T) {
	result := func(covered, seeds float64) Result {
		return Result{Model: "m", Seeds: int(seeds), Coverage: covered / seeds,
			Certainty: stats.ClopperPearson(covered, seeds, 0.99)}
	}
	for _, c := range []struct {
		covered, seeds float64
		bad            bool
	}{
		{190, 200, false}, {182, 200, false}, {198, 200, false}, // 91 and 99 % of 200 may be chance
		{170, 200, true}, {200, 200, true},
		{1860, 2000, false}, {1900, 2000, false}, {1820, 2000, true}, {1965, 2000, true},
		{0, 1, false}, {1, 1, false}, {0, 100, true},
	} {
		err := Verdict([]Result{result(95, 100), result(c.covered, c.seeds)})
		if (err != nil) != c.bad {
			t.Errorf("%g of %g covered: %v", c.covered, c.seeds, err)
		}
		if c.bad && !strings.Contains(err.Error(), "expected 93 to 97 %") {
			t.Errorf("%g of %g covered: %v", c.covered, c.seeds, err)
		}
	}
	if err := Verdict(nil); err != nil {
		t.Error(err)
	}
}
