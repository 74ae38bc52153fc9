package fetch

import (
	"fmt"
	"io"
	"time"

	"crosstalk/internal/duration"
	"crosstalk/internal/statusline"
)

// Show writes the progress of downloads for people: a line rewritten on a terminal, else a few. done removes it.
func Show(w io.Writer) (progress Progress, done func()) {
	s := &shown{line: statusline.New(w)}
	return s.file, s.line.Clear
}

type shown struct {
	line    *statusline.Line
	name    string
	first   int64 // bytes of an earlier download
	started time.Time
	last    time.Time // when it was shown
}

func (s *shown) file(name string, done, total int64) {
	now := time.Now()
	if name != s.name {
		s.name, s.first, s.started, s.last = name, done, now, now
		if !s.line.Terminal() {
			s.line.Note(name + ", " + Size(total))
		}
		return
	}
	if now.Sub(s.last) < s.line.Every() {
		return
	}
	s.last = now
	text := fmt.Sprintf("%s, %s of %s", name, Size(done), Size(total))
	if rate := float64(done-s.first) / now.Sub(s.started).Seconds(); rate > 0 {
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s/s, %s left", Size(int64(rate)), duration.Text(left.Round(time.Second)))
	}
	s.line.Show(text)
}

// Size is a number of bytes in kB or MB.
func Size(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
