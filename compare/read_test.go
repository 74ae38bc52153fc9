package compare

import (
	"math/rand/v2"
	"testing"
)

// Items keep their own moments, whether they share them or there are too many.
func TestValues(t *testing.T) {
	v, want := newValues(), map[int32]moment{}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 8 * mostShared {
		i := int32(random.IntN(2 * mostShared))
		m := moment{v.at(i).sum + float64(random.IntN(2)), v.at(i).state + 1}
		if n%2 == 0 {
			m.sum += random.Float64()
		}
		v.set(i, m)
		want[i] = m
	}
	for i := range int32(2*mostShared + 10) {
		if got := v.at(i); got != want[i] {
			t.Fatalf("item %d: %v, want %v", i, got, want[i])
		}
	}
	if len(v.shared) != mostShared {
		t.Errorf("%d are shared, want %d", len(v.shared), mostShared)
	}
}
