package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/inflight"
)

// The sizes in bytes up to which a response is read.
const (
	maxText = 8 << 20 // for answers of words: some ten times the longest of a current model
	// MaxNumbers is for log probabilities and vectors: 4,000 tokens with 20 candidates of up to 200 bytes each.
	MaxNumbers = 16 << 20
	maxProblem = 64 << 10 // for errors
)

// MostText returns the bytes that an answer of words may have: maxText, or if the tokens are limited 256 KiB and 64
// bytes for each. Servers that keep to it need a tenth, and hundreds of answers may wait in memory to be scored.
func MostText(d crosstalk.Decoding) int {
	const base, each = 256 << 10, 64
	if limit := d.Limit(); limit > 0 && limit < (maxText-base)/each {
		return base + each*limit
	}
	return maxText
}

// maxValues is the most values in the JSON of an answer: twice those 4,000 tokens. Each takes much memory.
const maxValues = 1 << 20

var (
	errTooLong = errors.New("the answer is too long")
	errTooMany = errors.New("the answer has too many values")
)

type cutOff struct{ error }

func (c cutOff) Unwrap() error { return c.error }

// readBody reads a body of at most most bytes, or errTooLong. Beyond inflight.Free it waits for its share.
func readBody(ctx context.Context, resp *http.Response, most int, share *inflight.Share) ([]byte, error) {
	claimed := resp.ContentLength // -1 if it is unknown, or of a compressed body
	if claimed > int64(most) {
		return nil, errTooLong
	}
	var body []byte
	for size := 8 << 10; ; size *= 2 { // the claim is no reason to reserve memory
		var err error
		if body, err = grow(body, resp.Body, min(size, most+1)); err == io.EOF {
			return body, nil
		} else if err != nil {
			return nil, cutOff{err}
		}
		if len(body) > most {
			return nil, errTooLong
		}
		if size == inflight.Free {
			need := most
			if claimed > 0 {
				need = int(claimed)
			}
			if err := share.Take(ctx, need); err != nil {
				return nil, err
			}
		}
	}
}

// grow reads on until body has size bytes; at the end of r it returns io.EOF.
func grow(body []byte, r io.Reader, size int) ([]byte, error) {
	all := make([]byte, size)
	n := copy(all, body)
	for n < size {
		more, err := r.Read(all[n:])
		if n += more; err != nil {
			return all[:n], err
		}
	}
	return all, nil
}

// parsing lets two long answers be parsed at a time: what that takes for a moment is not in anybody's share.
var parsing = make(chan struct{}, 2)

// parse reads a body with read. The error is errTooMany, or read's.
func parse(body []byte, read func([]byte) (crosstalk.Answer, error)) (crosstalk.Answer, error) {
	if len(body) > inflight.Free {
		if values(body) > maxValues {
			return crosstalk.Answer{}, errTooMany
		}
		parsing <- struct{}{}
		defer func() { <-parsing }()
	}
	return read(body)
}

// values is about how many values JSON has, counted by what begins or follows one.
func values(body []byte) (n int) {
	for len(body) > 0 {
		i := bytes.IndexByte(body, '"')
		if i < 0 {
			i = len(body)
		}
		for _, b := range body[:i] {
			if b == ',' || b == '[' || b == '{' {
				n++
			}
		}
		for i++; i < len(body) && body[i] != '"'; i++ {
			if body[i] == '\\' {
				i++
			}
		}
		body = body[min(i+1, len(body)):]
	}
	return n
}

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
