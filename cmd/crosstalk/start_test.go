package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// No package makes much before the command runs: templates, regular expressions and
// tables are made when they are used.
func TestStart(t *testing.T) {
	t.Parallel()
	const most = 150_000 // bytes; the tables of words in package guard take 94,000
	p := start(t, []string{"GODEBUG=inittrace=1"}, "version")
	packages := 0
	p.code()
	for _, m := range regexp.MustCompile(`(?m)^init (crosstalk/\S+) .* (\d+) bytes`).FindAllStringSubmatch(p.stderr.String(), -1) {
		bytes, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		packages++
		if bytes > most && !strings.HasPrefix(m[1], "crosstalk/cmd/") {
			t.Errorf("%s makes %d bytes when the program starts; expected at most %d: make them with sync.OnceValue or lazyregexp", m[1], bytes, most)
		}
	}
	if packages < 20 {
		t.Errorf("%d packages in\n%s", packages, p.stderr.String())
	}
}
