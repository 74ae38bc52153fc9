package stats

import (
	"math"
	"testing"
)

func TestItemsForWidth(t *testing.T) {
	// With 100 items the interval reaches 9.8 points to each side, so one item has a
	// variance of 0.25. A gap of 5 points then needs (1.960 + 0.842)^2 0.25 / 0.05^2.
	if got := ItemsForWidth(100, 0.0979982, 0.05, 0.95, 0.8); got != 785 {
		t.Errorf("%v items, want 785", got)
	}
	for _, bad := range [][3]float64{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, math.NaN(), 1}} {
		if got := ItemsForWidth(bad[0], bad[1], bad[2], 0.95, 0.8); !math.IsNaN(got) {
			t.Errorf("%v: %v items, want none", bad, got)
		}
	}
}
