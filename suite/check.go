package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk/recorded"
)

// Clusters counts the prompts that items share (for leakage, the controls).
// Items of one cluster are not independent.
func (s *Suite) Clusters() int {
	seen := map[string]bool{}
	for _, item := range s.Items {
		seen[item.Cluster] = true
	}
	return len(seen)
}

// ClusterNoun is what the clusters of the suite's instrument are called, in the
// plural: "controls".
func (s *Suite) ClusterNoun() string {
	for _, in := range instruments {
		if in.name == s.Instrument {
			return in.clusters
		}
	}
	return "clusters"
}

// Languages are the languages of the items' labels or texts, sorted.
func (s *Suite) Languages() []string {
	seen := map[string]bool{}
	for _, item := range s.Items {
		if l := item.Labels["language"]; l != "" {
			seen[l] = true
		}
		if item.Input != nil {
			for l := range item.Input.Texts {
				seen[l] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Check lists likely mistakes and what makes figures less reliable. It is empty
// for a good suite.
func Check(s *Suite) []string {
	remarks := slices.Clone(s.Unusable)
	remark := func(format string, args ...any) { remarks = append(remarks, fmt.Sprintf(format, args...)) }
	for _, in := range instruments {
		if in.name == s.Instrument {
			in.check(s, remark)
		}
	}
	if n := s.Clusters(); n < 5 {
		remark("%d %s: intervals need at least 5", n, s.ClusterNoun())
	}
	if n := len(s.Items); n < 30 {
		remark("%d items: intervals need at least 30", n)
	}
	return remarks
}

func checkPairs(s *Suite, remark func(string, ...any)) {
	tests := map[string]string{}
	for _, item := range s.Items {
		p := item.Pair
		if other, again := tests[p.Test]; again {
			remark("%s: same test prompt as %s", item.ID, other)
		}
		tests[p.Test] = item.ID
		if mentions(p.Control, p.Concept) {
			remark("%s: the control mentions the concept %q", item.ID, p.Concept)
		}
		if lastWord(p.Test) != lastWord(p.Control) {
			remark("%s: test and control end differently (%q, %q)", item.ID, lastWord(p.Test), lastWord(p.Control))
		}
		if n := len(p.Leaks); n == 1 {
			remark("%s: only one leak; the reference model needs at least 2 for a useful measurement", item.ID)
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
}

func checkPrompts(s *Suite, remark func(string, ...any)) {
	asked := map[[2]string]string{}
	cells := map[[3]string]int{}
	for _, item := range s.Items {
		key := [2]string{item.Prompt.Language, item.Prompt.Text}
		if other, again := asked[key]; again {
			remark("%s: same prompt as %s", item.ID, other)
		}
		asked[key] = item.ID
		cells[[3]string{item.Labels["task"], item.Labels["source"], item.Labels["language"]}]++
	}
	for _, cell := range slices.SortedFunc(maps.Keys(cells), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		if n := cells[cell]; n < 5 {
			name := slices.DeleteFunc(cell[:], func(s string) bool { return s == "" })
			remark("%s: too few items for a reliable figure (%d)", strings.Join(name, " "), n)
		}
	}
	if len(s.Demonstrations) > 0 {
		for _, l := range s.Languages() {
			if code, err := recorded.LanguageOf(l); err == nil && len(s.Demonstrations[code]) == 0 {
				remark("%s: no demonstrations, unlike other languages", l)
			}
		}
	}
}

// mentions reports whether the text contains the phrase as whole words, in any
// case.
func mentions(text, phrase string) bool {
	words := func(s string) string {
		return " " + strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), " "), " ") + " "
	}
	return words(phrase) != "  " && strings.Contains(words(text), words(phrase))
}

func lastWord(s string) string {
	return lastWords(s, 1)
}
