//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
)

// The first interrupt ends the context; the second one ends the process,
// whatever it waits for.
func TestServeInterruptedTwice(t *testing.T) {
	for _, second := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		codes := make(chan int, 1)
		ctx, stop := untilSignal(t.Context(), func(code int) { codes <- code })
		interrupt := func(s os.Signal) {
			if err := syscall.Kill(os.Getpid(), s.(syscall.Signal)); err != nil {
				t.Fatal(err)
			}
		}
		interrupt(syscall.SIGINT)
		<-ctx.Done()
		select {
		case code := <-codes:
			t.Errorf("exit code %d after the first", code)
		default:
		}
		interrupt(second)
		if code := <-codes; code != exitInterrupted {
			t.Errorf("exit code %d", code)
		}
		stop()
	}
}
