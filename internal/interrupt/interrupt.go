// Package interrupt tells a program that its user, or a scheduler, wants it to end: first gently, then at once.
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

// forever is a time that is never over.
const forever time.Duration = -1

// twice calls first with the first interrupt or SIGTERM, and second with the next
// one, or when the time that first returned is over, unless it is forever. Both are called in
// another goroutine, until stop is called, which can be done more than once.
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

// Gently calls stop with the first interrupt or SIGTERM, and says on w that only the requests in flight are waited for.
// It calls cancel with the second one. After SIGTERM, with which a scheduler takes a machine back, it calls cancel when
// grace is over, so that the process ends before it is killed, and what has arrived is saved. It does nothing more
// after ignore, which can be called more than once.
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

// Context returns a context that ends with the first interrupt or SIGTERM, or when
// stop is called. The second one calls exit, whatever the program waits for.
func Context(parent context.Context, exit func()) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	ignore := twice(func(os.Signal) time.Duration { cancel(); return forever }, exit)
	return ctx, func() { ignore(); cancel() }
}
