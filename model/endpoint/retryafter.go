package endpoint

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait bounds what a server can ask for to what a time.Duration can take.
const longestWait = 100 * 365 * 24 * time.Hour

// retryAfter reads how long the server wants to be left alone, 0 if it does not say: retry-after-ms (OpenAI, Azure),
// Retry-After in seconds or as a date (RFC 9110, section 10.2.3), or else when the limit that is used up is renewed,
// as OpenAI and those after it (a duration) and Anthropic (a time) report it.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		return wait(ms / 1000)
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return wait(s)
		}
		if at, err := http.ParseTime(v); err == nil {
			return wait(at.Sub(now).Seconds())
		}
	}
	longest := time.Duration(0)
	for _, limit := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		for _, names := range [][2]string{
			{"x-ratelimit-remaining-" + limit, "x-ratelimit-reset-" + limit},
			{"anthropic-ratelimit-" + limit + "-remaining", "anthropic-ratelimit-" + limit + "-reset"},
		} {
			if left, err := strconv.ParseFloat(h.Get(names[0]), 64); err == nil && left <= 0 {
				longest = max(longest, reset(h.Get(names[1]), now))
			}
		}
	}
	if longest == 0 {
		longest = reset(h.Get("x-ratelimit-reset"), now)
	}
	return longest
}

// reset reads a duration, seconds, a time, or seconds or milliseconds since 1970.
func reset(v string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(v); err == nil {
		return wait(d.Seconds())
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return wait(at.Sub(now).Seconds())
	}
	s, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil:
		return 0
	case s > 1e11:
		return wait(s/1000 - float64(now.Unix()))
	case s > 1e9:
		return wait(s - float64(now.Unix()))
	}
	return wait(s)
}

func wait(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
}
