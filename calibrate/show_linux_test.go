package calibrate

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a terminal and returns its output.
func terminal(t *testing.T) (screen, tty *os.File) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals on this system: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { tty.Close() })
	return screen, tty
}

// A terminal shows which seed of a model is measured, from the first one on; other outputs show nothing.
func TestShow(t *testing.T) {
	var other bytes.Buffer
	done, stop := Show(&other, "leakage", 3)
	if done != nil {
		t.Error("a buffer is taken for a terminal")
	}
	stop()
	screen, tty := terminal(t)
	done, stop = Show(tty, "leakage", 3)
	defer stop()
	seen := ""
	for i, want := range []string{"leakage: seed 1 of 3", "leakage: seed 3 of 3", "leakage: seed 1 of 3", "leakage: seed 2 of 3"} {
		for range []int{1, 2, 1, 1}[i] {
			done()
		}
		for !strings.HasSuffix(seen, want) {
			b := make([]byte, 100)
			n, err := screen.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			if seen += string(b[:n]); strings.Contains(seen, " 0 of") {
				t.Fatalf("%q", seen)
			}
		}
	}
}
