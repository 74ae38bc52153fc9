package suite

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"crosstalk"
)

// The suites in other languages, and those that begin in one and end in English,
// are large enough for a figure over all items, and most of their items are
// named as in leakage-en.
func TestSuitesInOtherLanguages(t *testing.T) {
	english := map[string]bool{}
	en, err := Load("leakage-en")
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range en.Items.All() {
		english[item.ID] = true
	}
	scripts := map[string]*unicode.RangeTable{"ar": unicode.Arabic, "de": unicode.Latin, "es": unicode.Latin,
		"fr": unicode.Latin, "he": unicode.Hebrew,
		"hi": unicode.Devanagari, "ja": unicode.Hiragana, "ru": unicode.Cyrillic, "zh": unicode.Han}
	for _, name := range []string{"leakage-ar", "leakage-de", "leakage-es", "leakage-fr", "leakage-he", "leakage-hi", "leakage-ja", "leakage-ru",
		"leakage-zh", "leakage-de-en", "leakage-he-en", "leakage-zh-en"} {
		s, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		first, mixed := strings.TrimPrefix(name, "leakage-"), strings.HasSuffix(name, "-en")
		first = strings.TrimSuffix(first, "-en")
		switch {
		case mixed && (s.Language != "en" || s.Begins != first):
			t.Errorf("%s is in %q and begins in %q", name, s.Language, s.Begins)
		case !mixed && (s.Language != first || s.Begins != ""):
			t.Errorf("%s is in %q and begins in %q", name, s.Language, s.Begins)
		case s.Items.Len() < 60 || s.Clusters() < 20:
			t.Errorf("%s has %d items and %d controls; expected at least 60 and 20", name, s.Items.Len(), s.Clusters())
		case !mixed && !strings.ContainsFunc(s.Prefix[crosstalk.Chat], in(scripts[first])):
			t.Errorf("%s: the prefix is %q", name, s.Prefix[crosstalk.Chat])
		}
		named := 0
		for _, item := range s.Items.All() {
			p := item.Pair
			if english[item.ID] {
				named++
			}
			for _, text := range slices.Concat([]string{p.Concept, p.Test, p.Control}, p.Leaks, p.Neutral, p.Remove) {
				if strings.ContainsFunc(text, in(unicode.Cf)) {
					t.Errorf("%s: %s: %q has an invisible mark", name, item.ID, text)
				}
			}
			for _, prompt := range []string{p.Test, p.Control} {
				if !strings.ContainsFunc(prompt, in(scripts[first])) {
					t.Errorf("%s: %s: %q is in another script", name, item.ID, prompt)
				}
				if last := []rune(prompt)[len([]rune(prompt))-1]; strings.ContainsRune(".!?。！？।؟", last) {
					t.Errorf("%s: %s: %q is complete", name, item.ID, prompt)
				}
			}
		}
		if named < 60 {
			t.Errorf("%s: %d items are named as in leakage-en; expected at least 60", name, named)
		}
	}
}

func in(table *unicode.RangeTable) func(rune) bool {
	return func(r rune) bool { return unicode.Is(table, r) }
}
