package endpoint

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		header []string // name, value, ...
		want   time.Duration
	}{
		{"nothing", nil, 0},
		{"seconds", []string{"Retry-After", "7"}, 7 * time.Second},
		{"fraction", []string{"Retry-After", "0.25"}, 250 * time.Millisecond},
		{"date", []string{"Retry-After", now.Add(90 * time.Second).Format(http.TimeFormat)}, 90 * time.Second},
		{"date that has passed", []string{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat)}, 0},
		{"milliseconds come first", []string{"Retry-After", "2", "retry-after-ms", "1500.5"}, 1500500 * time.Microsecond},
		{"nonsense", []string{"Retry-After", "soon"}, 0},
		{"negative", []string{"Retry-After", "-3"}, 0},
		{"not a number", []string{"Retry-After", "NaN"}, 0},
		{"bounded", []string{"Retry-After", "1e300"}, 100 * 365 * 24 * time.Hour},
		{"years", []string{"Retry-After", "315360000"}, 10 * 365 * 24 * time.Hour},
		{"used up requests", []string{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1m0.5s",
			"x-ratelimit-remaining-tokens", "5", "x-ratelimit-reset-tokens", "9m"}, 60500 * time.Millisecond},
		{"used up both", []string{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "20ms",
			"x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6s"}, 6 * time.Second},
		{"left over", []string{"x-ratelimit-remaining-requests", "3", "x-ratelimit-reset-requests", "1s"}, 0},
		{"Anthropic", []string{"anthropic-ratelimit-requests-remaining", "0",
			"anthropic-ratelimit-requests-reset", now.Add(3 * time.Second).Format(time.RFC3339)}, 3 * time.Second},
		{"OpenRouter", []string{"X-RateLimit-Reset", "1777636805000"}, 5 * time.Second},
		{"Unix time", []string{"x-ratelimit-reset", "1777636802"}, 2 * time.Second},
		{"plain reset", []string{"x-ratelimit-reset", "12"}, 12 * time.Second},
	} {
		h := http.Header{}
		for i := 0; i < len(c.header); i += 2 {
			h.Set(c.header[i], c.header[i+1])
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
