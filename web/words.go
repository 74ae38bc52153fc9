package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk/internal/visible"
)

// count writes a number with thin spaces: 1 234 567.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// number is a number with its noun.
func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// ago is a time relative to now, or the date if it is more than a day ago.
func ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := time.Since(t)
	switch {
	case d < 2*time.Second:
		return "now"
	case d < 24*time.Hour:
		return duration(d) + " ago"
	}
	return t.Local().Format("2 Jan 2006 15:04")
}

// duration rounds to seconds, minutes or tenths of an hour.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// size is a number of bytes.
func size(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// joined joins the parts that are not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// brief is the beginning of a text on one line, at most 240 characters.
func brief(text string) string {
	const most = 240
	runes := []rune(text[:min(len(text), 4*most)])
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return visible.Line(string(runes))
}
