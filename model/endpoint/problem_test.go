package endpoint

import (
	"crosstalk/internal/testing/golden"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzReadProblem(f *testing.F) {
	for _, input := range golden.Inputs(f, "testdata/answers.txt") {
		_, body, _ := strings.Cut(input, "\n")
		f.Add([]byte(body))
	}
	f.Add([]byte("\xff\xfe\x80"))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"error":{"details":[7],"metadata":{"raw":1}},"detail":[null]}`))
	e := &Endpoint{secrets: secrets{"sk-0123456789"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := readProblem(body)
		p.param()
		if s := p.status(); s != 0 && (s < 400 || s > 599) {
			t.Fatalf("status %d", s)
		}
		q := e.quote(p)
		if !utf8.ValidString(q) || utf8.RuneCountInString(q) > longestQuote+20 || strings.ContainsAny(q, "\n\r\x1b") {
			t.Fatalf("%q", q)
		}
		if strings.Contains(q, "sk-01234") {
			t.Fatalf("a part of the key is quoted: %s", q)
		}
	})
}
