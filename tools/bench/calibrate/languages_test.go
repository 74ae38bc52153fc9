package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"crosstalk"
	"crosstalk/measure/similarity"
	"crosstalk/suite"
)

// Every embedded leakage suite of sentences goes through the whole pipeline, whatever its
// language and script: a similarity that knows the suite's leaks sees each leaked
// answer as leaked, and each other one as a tie, so the truth is (1 + rate) / 2.
// It would not be if an answer were cut in the wrong place.
func TestLeakageInEveryLanguage(t *testing.T) {
	suites, err := suite.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		if s.Instrument != "leakage" || s.Windows != "" || s.InContext() {
			continue
		}
		var items []crosstalk.Item
		leaks := map[[2]string]bool{}
		for _, item := range s.Items.All() {
			pair := *item.Pair
			pair.Remove = nil // a name that is also a common word of a leak
			item.Pair = &pair
			items = append(items, item)
			for _, leak := range pair.Leaks {
				leaks[[2]string{pair.Concept, letters(leak)}] = true
			}
		}
		knows := similarity.Func("knows", func(concept, answer string) (float64, bool) {
			if leaks[[2]string{concept, letters(answer)}] {
				return 1, true
			}
			return 0, true
		})
		// In another template a leak may be one of the neutral answers.
		items = slices.DeleteFunc(items, func(item crosstalk.Item) bool {
			return slices.ContainsFunc(item.Pair.Neutral,
				func(neutral string) bool { return leaks[[2]string{item.Pair.Concept, letters(neutral)}] })
		})
		if len(items) < 9*s.Items.Len()/10 {
			t.Errorf("%s: only %d of %d items can be told apart", s.Name, len(items), s.Items.Len())
		}
		results, err := coverLeakage(bg, instrument(knows), items, 0.6, 0, 1)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if truth := results[0].Truth; math.Abs(truth-0.8) > 1e-9 {
			t.Errorf("%s: truth %g, want 0.8", s.Name, truth)
		}
	}
}

// letters are a text's letters, marks and digits.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}
