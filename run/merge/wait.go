package merge

import (
	"context"
	"errors"
	"time"
)

// look is how often Wait looks for shards.
var look = time.Second

// Wait returns when the runs of all shards in paths are there and finished, when
// Merge would refuse them, or after most at the latest. The error is that of ctx.
func Wait(ctx context.Context, paths []string, most time.Duration) error {
	for end := time.Now().Add(most); time.Now().Before(end); {
		if !worthWaiting(paths) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(look, time.Until(end))):
		}
	}
	return nil
}

// worthWaiting reports whether shards may still come that are not there or not finished.
func worthWaiting(paths []string) bool {
	shards, err := open(paths)
	if err != nil {
		return !errors.As(err, new(*DifferentError)) && !errors.As(err, new(*WholeError))
	}
	incomplete := shards.check()
	return incomplete != nil && incomplete.Twice == nil
}
