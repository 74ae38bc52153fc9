package suite

import (
	"fmt"
	"slices"
	"strings"
)

// Clusters counts the controls: the items that share one are not independent.
func (s *Suite) Clusters() int {
	seen := map[string]bool{}
	for _, item := range s.Items {
		seen[item.Cluster] = true
	}
	return len(seen)
}

// Check lists what can be read but looks like a mistake, or makes figures
// worth less. It is empty for a good suite.
func Check(s *Suite) []string {
	remarks := slices.Clone(s.Unusable)
	remark := func(format string, args ...any) { remarks = append(remarks, fmt.Sprintf(format, args...)) }
	tests := map[string]string{}
	for _, item := range s.Items {
		p := item.Pair
		if other, again := tests[p.Test]; again {
			remark("%s: has the same test prompt as %s", item.ID, other)
		}
		tests[p.Test] = item.ID
		if mentions(p.Control, p.Concept) {
			remark("%s: the control mentions the concept %q", item.ID, p.Concept)
		}
		if lastWord(p.Test) != lastWord(p.Control) {
			remark("%s: test and control end differently (%q, %q)", item.ID, lastWord(p.Test), lastWord(p.Control))
		}
		if n := len(p.Leaks); n == 1 {
			remark("%s: one leak; the reference model needs at least 2 to be worth measuring", item.ID)
		}
		if n := len(p.Neutral); n > 0 && n < 6 {
			remark("%s: %d neutral continuations; expected at least 6", item.ID, n)
		}
		for _, leak := range p.Leaks {
			if slices.Contains(p.Neutral, leak) {
				remark("%s: %q is both a leak and neutral", item.ID, leak)
			}
		}
	}
	if n := s.Clusters(); n < 5 {
		remark("%d controls: intervals need at least 5", n)
	}
	if n := len(s.Items); n < 30 {
		remark("%d items: intervals need at least 30", n)
	}
	return remarks
}

// mentions reports whether the text has the phrase in it as whole words, in
// any case.
func mentions(text, phrase string) bool {
	words := func(s string) string {
		return " " + strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), " "), " ") + " "
	}
	return words(phrase) != "  " && strings.Contains(words(text), words(phrase))
}

func lastWord(s string) string {
	return lastWords(s, 1)
}
