package estimate

import "testing"

// Samples come in any order and from any number, and an item may lack some.
func TestItems(t *testing.T) {
	for _, c := range []struct {
		samples []int
		want    int
	}{
		{nil, 0},
		{[]int{2, 2, 3, 1, 2, 1, 3, 1}, 3},
		{[]int{0, 1, 2, 1, 0, 1}, 3}, // one of three items has sample 1 only
	} {
		var i Items
		for _, sample := range c.samples {
			i.Add(sample)
		}
		if i.N() != c.want {
			t.Errorf("%v: %d items, want %d", c.samples, i.N(), c.want)
		}
	}
}
