package fetch

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// A file is named once; later there is its progress, with the rate of this download.
func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		show, done := Show(&b)
		show("a.bin", 500_000, 3_500_000)
		time.Sleep(5 * time.Second)
		show("a.bin", 900_000, 3_500_000) // too soon
		time.Sleep(5 * time.Second)
		show("a.bin", 1_500_000, 3_500_000)
		show("b.bin", 0, 1)
		done()
		want := "a.bin, 3.5 MB\na.bin, 1.5 MB of 3.5 MB, 100.0 kB/s, 20s left\nb.bin, 0.0 kB\n"
		if b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	})
}
