//go:build unix

package interrupt

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func send(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

// The first interrupt ends the context; the second one ends the process.
func TestContext(t *testing.T) {
	for _, second := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		exits := make(chan bool, 1)
		ctx, stop := Context(t.Context(), func() { exits <- true })
		send(t, syscall.SIGINT)
		<-ctx.Done()
		select {
		case <-exits:
			t.Error("the first ends the process")
		default:
		}
		send(t, second)
		<-exits
		stop()
		stop()
	}
}

// After a signal that leaves some time, none has to follow.
func TestGrace(t *testing.T) {
	got, over := make(chan os.Signal, 1), make(chan bool)
	stop := Twice(func(s os.Signal) time.Duration { got <- s; return time.Millisecond }, func() { close(over) })
	defer stop()
	send(t, syscall.SIGTERM)
	if s := <-got; s != syscall.SIGTERM {
		t.Error(s)
	}
	<-over
}

// A context that is stopped has ended, and signals are nobody's.
func TestStop(t *testing.T) {
	ctx, stop := Context(t.Context(), func() { t.Error("exit") })
	stop()
	<-ctx.Done()
}
