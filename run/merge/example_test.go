package merge_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/ask"
	"crosstalk/labels"
	"crosstalk/run/merge"
	"crosstalk/run/shard"
	"crosstalk/study"
)

// Measure in two shards, which may be on two machines, and make one run of both.
func Example() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)
	shards, ctx := filepath.Join(dir, "shards"), context.Background()
	for i := range 2 {
		s, err := study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?rate=0.6"}}}.Open()
		if err == nil {
			err = s.Take(ctx, shard.Shard{Index: i + 1, Count: 2})
		}
		if err == nil {
			_, err = s.Run(ctx, shards, ask.Options{})
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	result, err := merge.Merge([]string{shards}, filepath.Join(dir, "run"), labels.Merge)
	if err != nil {
		log.Fatal(err)
	}
	all := result.Estimates[0]
	fmt.Printf("%d shards: %s %.1f %%\n", result.Shards, all.Measure, 100*all.Value)
	// Output: 2 shards: leak_rate 69.6 %
}
