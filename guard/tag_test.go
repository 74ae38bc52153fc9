package guard

import (
	"math"
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

// A threshold that no risk can reach would let every answer pass.
func TestThresholdOutOfRange(t *testing.T) {
	for _, risk := range []float64{-0.1, 1.01, math.NaN(), math.Inf(1)} {
		k := Checker{Threshold: risk}
		_, err := k.Check("Bonjour, comment allez-vous ?", "en")
		if _, streamed := k.Stream("en"); err == nil || streamed == nil {
			t.Errorf("%g: %v, %v", risk, err, streamed)
		}
	}
	if _, err := (Checker{Threshold: 1}).Check("", "en"); err != nil {
		t.Error(err)
	}
}
