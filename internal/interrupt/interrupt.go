// Package interrupt tells a program that its user, or a scheduler, wants it to end:
// first gently, then at once.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Forever is a time that is never over.
const Forever time.Duration = -1

// Twice calls first with the first interrupt or SIGTERM, and second with the next
// one, or when the time that first returned is over, unless it is Forever. Both are called in
// another goroutine, until stop is called, which can be done more than once.
func Twice(first func(os.Signal) time.Duration, second func()) (stop func()) {
	signals, stopped := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var over <-chan time.Time
		select {
		case got := <-signals:
			if grace := first(got); grace != Forever {
				over = time.After(grace)
			}
		case <-stopped:
			return
		}
		select {
		case <-signals:
			second()
		case <-over:
			second()
		case <-stopped:
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(signals)
		close(stopped)
	})
}

// Context returns a context that ends with the first interrupt or SIGTERM, or when
// stop is called. The second one calls exit, whatever the program waits for.
func Context(parent context.Context, exit func()) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	ignore := Twice(func(os.Signal) time.Duration { cancel(); return Forever }, exit)
	return ctx, func() { ignore(); cancel() }
}
