// Package segmenttest contains the tests that all segmenters with dictionaries must pass.
package segmenttest

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"crosstalk/measure/segment"
)

// Vectors compares a segmenter with its original's output for our own lines, at least least of them: pairs of a line
// and its words, in JSON Lines with comments.
func Vectors(t *testing.T, s segment.Segmenter, file string, least int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var line string
		var want []string
		if err := json.Unmarshal(lines.Bytes(), &[]any{&line, &want}); err != nil {
			t.Fatal(err)
		}
		if got := segment.Words(s, line); !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", line, got, want)
		}
		n++
	}
	if n < least {
		t.Errorf("%s has %d lines; expected at least %d", file, n, least)
	}
}

// ConcurrentUse splits a text in several goroutines.
func ConcurrentUse(t *testing.T, s segment.Segmenter, text string) {
	t.Helper()
	want := segment.Words(s, text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := segment.Words(s, text); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
}
