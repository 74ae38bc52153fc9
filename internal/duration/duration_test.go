package duration

import (
	"testing"
	"time"
)

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 10 * time.Second: "10s", 90 * time.Second: "1m30s", 5 * time.Minute: "5m", 10 * time.Minute: "10m", time.Hour: "1h",
		20 * time.Hour: "20h", time.Hour + 10*time.Minute: "1h10m", time.Hour + time.Second: "1h0m1s",
		50 * time.Millisecond: "50ms", -5 * time.Minute: "-5m",
	} {
		got := Text(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%d: %s, want %s; %v", d, got, want, err)
		}
	}
}
