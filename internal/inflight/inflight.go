// Package inflight bounds the memory that answers take between server and journal, for all asks of the process.
package inflight

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

const (
	// Total is the most bytes that bodies may hold in memory beyond Free. Decoding one takes up to ten times its size.
	Total = 24 << 20
	Free  = 64 << 10 // bytes of a body that need no share: nearly all answers are smaller
)

var (
	budget = semaphore.NewWeighted(Total)
	used   atomic.Int64
)

// Used returns the number of bytes taken now.
func Used() int64 { return used.Load() }

// Share is one request's part of Total. The zero value holds nothing. Only one goroutine may use it at a time.
type Share struct{ bytes int64 }

// Take waits until n bytes are free, n at most Total, and adds them to the share. It first releases the bytes of the
// share, so a waiting request holds nothing that another could wait for. It fails only when ctx ends.
func (s *Share) Take(ctx context.Context, n int) error {
	s.Release()
	if err := budget.Acquire(ctx, int64(n)); err != nil {
		return err
	}
	s.bytes = int64(n)
	used.Add(s.bytes)
	return nil
}

// Release returns the bytes of the share to the budget.
func (s *Share) Release() {
	used.Add(-s.bytes)
	budget.Release(s.bytes)
	s.bytes = 0
}

type shareKey struct{}

// With returns a context that carries a share for one request. The caller releases it when the answer is saved.
func With(ctx context.Context) (context.Context, *Share) {
	s := new(Share)
	return context.WithValue(ctx, shareKey{}, s), s
}

// Of returns the share that ctx carries or else a new one, and a function that releases only the new one.
func Of(ctx context.Context) (s *Share, returned func()) {
	if s, found := ctx.Value(shareKey{}).(*Share); found {
		return s, func() {}
	}
	s = new(Share)
	return s, s.Release
}
