package ask

import (
	"math/rand/v2"
	"testing"
)

func TestKeySet(t *testing.T) {
	var s keySet
	known := map[uint64]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 10000 {
		key := random.Uint64()
		switch i % 4 {
		case 0:
			key %= 200 // many come again, and 0 does
		case 1:
			key <<= 40 // all go to one slot
			key %= 1 << 45
		}
		if got := s.has(key); got != known[key] {
			t.Fatalf("has %d: %v", key, got)
		}
		if added := s.add(key); added == known[key] {
			t.Fatalf("%d was added: %v", key, added)
		}
		known[key] = true
	}
	for key := range known {
		if !s.has(key) {
			t.Errorf("%d is missing", key)
		}
	}
}
