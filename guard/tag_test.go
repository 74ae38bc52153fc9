package guard

import (
	"strings"
	"testing"
)

// The tag of a language may be long, up to 100 bytes.
func TestLongestTag(t *testing.T) {
	tag := "de-x" + strings.Repeat("-abcdefg", 12)
	for bytes, want := range map[int]bool{longestTag: true, longestTag + 1: false} {
		of := tag + strings.Repeat("h", bytes-len(tag))
		if _, err := (Checker{}).expect(of); (err == nil) != want {
			t.Errorf("%d bytes, %s: %v", len(of), of, err)
		}
	}
}
