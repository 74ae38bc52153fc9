package server

import (
	"fmt"
	"net/http"
	"unicode/utf16"
	"unicode/utf8"
)

// offsetsOf returns how long a character is in what the URL asks offsets to count; nil for bytes.
func offsetsOf(r *http.Request) (func(rune) int, error) {
	switch kind := r.URL.Query().Get("offsets"); kind {
	case "", "bytes":
		return nil, nil
	case "utf16": // JavaScript, Java, C#
		return func(c rune) int { return max(1, utf16.RuneLen(c)) }, nil
	case "characters": // Python
		return func(rune) int { return 1 }, nil
	default:
		return nil, fmt.Errorf("offsets=%.50q: expected bytes, utf16 or characters", kind)
	}
}

// in makes the offsets of a verdict on a text count something else than bytes.
func (v *Verdict) in(length func(rune) int, text string) {
	at, n := 0, 0
	to := func(offset *int) {
		if *offset < at {
			at, n = 0, 0
		}
		for at < *offset {
			c, size := utf8.DecodeRuneInString(text[at:])
			at += size
			n += length(c)
		}
		*offset = n
	}
	for i := range v.Spans {
		to(&v.Spans[i].Start)
		to(&v.Spans[i].End)
	}
	at, n = 0, 0
	for i := range v.Masked {
		to(&v.Masked[i].Start)
		to(&v.Masked[i].End)
	}
}
