package study

import (
	"math/rand/v2"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/spill"
)

// A request counts once in all, and once for each condition, whether there is room
// for all requests or they are counted in parts.
func TestSum(t *testing.T) {
	t.Parallel()
	prices := ask.Prices{"m": {Input: 1, Output: 2}}
	for _, room := range []int{0, 16 << 20} {
		requests := spill.New(requestSize, room)
		defer requests.Close()
		random := rand.New(rand.NewPCG(3, 3))
		keys := make([]uint64, 5000)
		for i := range keys {
			keys[i] = random.Uint64()
		}
		seen, total, each := map[uint64]bool{}, 0, [3]int{}
		for condition := range each {
			in := map[uint64]bool{}
			for n := range 9000 {
				key := keys[random.IntN(len(keys))]
				r := request{key, int32(condition), n < 100, crosstalk.Usage{Prompt: 3, Completion: 1 << 33}}
				if err := requests.Add(r.append(nil)); err != nil {
					t.Fatal(err)
				}
				if !r.elsewhere && !in[key] {
					each[condition]++
					if !seen[key] {
						total++
					}
				}
				seen[key], in[key] = true, true
			}
		}
		f := Forecast{Each: make([]Counted, len(each))}
		for i := range f.Each {
			f.Each[i].Model.Name = "m"
		}
		if err := f.sum(requests, prices); err != nil {
			t.Fatal(err)
		}
		for i, c := range f.Each {
			if c.Asks != each[i] || c.Worst.Prompt != 3*each[i] {
				t.Errorf("room %d: condition %d has %+v, want %d requests", room, i, c.Count, each[i])
			}
		}
		if f.Total.Asks != total || f.Total.Worst.Completion != total<<33 || !f.Total.Priced {
			t.Errorf("room %d: %+v, want %d requests", room, f.Total, total)
		}
	}
}
