package study

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"crosstalk"
	"crosstalk/ask"
)

// A request counts once in all, and once for each condition.
func TestCounter(t *testing.T) {
	t.Parallel()
	var f forecast
	n := &counter{prices: ask.Prices{"m": {Input: 1, Output: 2}}, forecast: &f, last: map[uint64]int32{}}
	random := rand.New(rand.NewPCG(3, 3))
	seen, total, each := map[int]bool{}, 0, [3]int{}
	for condition := range each {
		f.each = append(f.each, counted{})
		f.each[condition].Model.Name = "m"
		in := map[int]bool{}
		for k := range 9000 {
			key := random.IntN(5000)
			n.elsewhere = k < 100
			req := crosstalk.Request{API: crosstalk.Completions, Prompt: strconv.Itoa(key),
				Decoding: crosstalk.Decoding{MaxTokens: 1 << 33}}
			if _, err := n.Ask(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if !n.elsewhere && !in[key] {
				each[condition]++
				if !seen[key] {
					total++
				}
			}
			seen[key], in[key] = true, true
		}
	}
	for i, c := range f.each {
		if c.Asks != each[i] || c.Worst.Completion != each[i]<<33 {
			t.Errorf("condition %d has %+v, want %d requests", i, c.Count, each[i])
		}
	}
	if f.total.Asks != total || f.total.Worst.Completion != total<<33 || !f.total.Priced || f.total.Cost == 0 {
		t.Errorf("%+v, want %d requests", f.total, total)
	}
}
