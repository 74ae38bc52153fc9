// Package interrupt ends a program on request of its user or a scheduler: first gently, then at once.
package interrupt

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"crosstalk/internal/duration"
)

// forever is a time that never ends.
const forever time.Duration = -1

// twice calls first on the first interrupt or SIGTERM, and second on the next one or after the time that first
// returned, unless that is forever. It calls both in another goroutine until stop is called. stop may be called more
// than once.
func twice(first func(os.Signal) time.Duration, second func()) (stop func()) {
	signals, stopped := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var over <-chan time.Time
		select {
		case got := <-signals:
			if grace := first(got); grace != forever {
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

// Gently calls stop on the first interrupt or SIGTERM, and reports on w that the program only waits for the requests
// in flight. It calls cancel on the second one. After SIGTERM, with which a scheduler takes a machine back, it calls
// cancel once grace is over, so that the process saves what has arrived and ends before it is killed. After ignore,
// which may be called more than once, it does nothing.
func Gently(w io.Writer, grace time.Duration, stop, cancel func()) (ignore func()) {
	return twice(func(got os.Signal) time.Duration {
		how, grace := "; interrupt again to stop now", grace
		if got == syscall.SIGTERM {
			how = fmt.Sprintf(", for at most %s%s", duration.Text(grace), how)
		} else {
			grace = forever
		}
		fmt.Fprintln(w, "\nstopping after the requests in flight"+how)
		stop()
		return grace
	}, cancel)
}

// Context returns a context that ends on the first interrupt or SIGTERM, or when stop is called. The second signal
// calls exit, whatever the program is waiting for.
func Context(parent context.Context, exit func()) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	ignore := twice(func(os.Signal) time.Duration { cancel(); return forever }, exit)
	return ctx, func() { ignore(); cancel() }
}
