// Package inflight bounds the memory that answers take between server and journal, over all asks of the process.
package inflight

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

const (
	// Total is how many bytes bodies may have in memory beyond Free. What is made of one takes up to ten times it.
	Total = 24 << 20
	Free  = 64 << 10 // how much of a body needs no share: more than nearly all answers have
)

var (
	budget = semaphore.NewWeighted(Total)
	used   atomic.Int64
)

// Used is how many bytes are taken now.
func Used() int64 { return used.Load() }

// Share is one ask's part of Total. The zero value has nothing. It is for one goroutine at a time.
type Share struct{ bytes int64 }

// Take waits until n bytes are free, n at most Total, and makes them the share. What it had before is given back first:
// an ask that waits has nothing that another could wait for. It fails only when ctx ends.
func (s *Share) Take(ctx context.Context, n int) error {
	s.Release()
	if err := budget.Acquire(ctx, int64(n)); err != nil {
		return err
	}
	s.bytes = int64(n)
	used.Add(s.bytes)
	return nil
}

// Release gives the share back.
func (s *Share) Release() {
	used.Add(-s.bytes)
	budget.Release(s.bytes)
	s.bytes = 0
}

type shareKey struct{}

// With returns a context whose ask has a share. The caller releases it when the answer is saved.
func With(ctx context.Context) (context.Context, *Share) {
	s := new(Share)
	return context.WithValue(ctx, shareKey{}, s), s
}

// Of returns the share of the ask that ctx is for, and a function that releases it later if nobody else will.
func Of(ctx context.Context) (s *Share, returned func()) {
	if s, found := ctx.Value(shareKey{}).(*Share); found {
		return s, func() {}
	}
	s = new(Share)
	return s, s.Release
}
