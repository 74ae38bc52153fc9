package fasttext

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// What putAll skips would not have been put: small, equal and nearly equal
// probabilities rank as when each is put.
func TestPutAll(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		probabilities := make([]float32, 1+r.IntN(200))
		for i := range probabilities {
			p := float32(math.Exp(-20 * r.Float64()))
			if i > 0 && r.IntN(4) == 0 {
				p = probabilities[r.IntN(i)]
				for range r.IntN(8) {
					p = math.Nextafter32(p, float32(r.IntN(2)))
				}
			}
			probabilities[i] = p
		}
		threshold := float32(0)
		if r.IntN(4) == 0 {
			threshold = 1e-4
		}
		for _, k := range []int{1, 2, 5, len(probabilities)} {
			got, want := &ranking{k: k}, &ranking{k: k}
			got.putAll(probabilities, threshold)
			for i, p := range probabilities {
				if score := logp(p); p >= threshold && !(want.full() && score < want.least()) {
					want.put(score, int32(i))
				}
			}
			if !slices.Equal(got.items, want.items) {
				t.Fatalf("seed %d, k %d: %v, want %v", seed, k, got.items, want.items)
			}
		}
	}
}
