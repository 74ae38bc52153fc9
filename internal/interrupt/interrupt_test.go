//go:build unix

package interrupt

import (
	"os"
	"strings"
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

// After SIGTERM, no second signal has to follow; after an interrupt, one has to.
func TestGently(t *testing.T) {
	for first, want := range map[syscall.Signal]string{
		syscall.SIGTERM: "\nstopping after the requests in flight, for at most 1ms; interrupt again to stop now\n",
		syscall.SIGINT:  "\nstopping after the requests in flight; interrupt again to stop now\n",
	} {
		var said strings.Builder
		stopped, cancelled := make(chan bool), make(chan bool)
		ignore := Gently(&said, time.Millisecond, func() { close(stopped) }, func() { close(cancelled) })
		send(t, first)
		<-stopped
		if said.String() != want {
			t.Errorf("%v: %q, want %q", first, said.String(), want)
		}
		if first == syscall.SIGINT {
			select {
			case <-cancelled:
				t.Error("an interrupt leaves no longer than SIGTERM")
			case <-time.After(20 * time.Millisecond):
			}
			send(t, syscall.SIGINT)
		}
		<-cancelled
		ignore()
		ignore()
	}
}

// A context that is stopped has ended, and signals are nobody's.
func TestStop(t *testing.T) {
	ctx, stop := Context(t.Context(), func() { t.Error("exit") })
	stop()
	<-ctx.Done()
}
