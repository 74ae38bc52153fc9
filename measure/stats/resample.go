package stats

import (
	"math/rand/v2"
	"runtime"
	"sync"
)

// block is the number of draws that share a random stream; results do not
// depend on how blocks are spread over processors.
const block = 250

// parallelBlocks calls f for every block of draws with the block's own
// generator, on all processors.
func parallelBlocks(draws int, seed uint64, f func(rng *rand.Rand, lo, hi int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for lo := 0; lo < draws; lo += block {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(rand.New(rand.NewPCG(seed, uint64(lo/block))), lo, min(lo+block, draws))
		})
	}
	wg.Wait()
}
