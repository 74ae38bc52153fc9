// Package duration formats durations for people.
package duration

import (
	"strings"
	"time"
)

// Text formats a duration as people type it: 5m and 1h, not 5m0s and 1h0m0s. It can be parsed again.
func Text(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
