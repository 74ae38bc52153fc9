package abstention

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/sentences.txt
var sentences string

// Every second sentence of a kind and language was left out while the phrases were written.
func TestSentences(t *testing.T) {
	var right, all [2]int
	seen := map[string]int{}
	for line := range strings.Lines(sentences) {
		kind, text, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || kind[0] == '#' {
			continue
		}
		half := seen[kind] % 2
		seen[kind]++
		none := strings.HasPrefix(kind, "none")
		all[half]++
		switch got := Sentence(text) > 0; {
		case got == none:
			right[half]++
		case half == 0 || !none:
			t.Errorf("%s: %q: no answer is %v", kind, text, got)
		}
	}
	t.Logf("seen half: %d of %d, other half: %d of %d", right[0], all[0], right[1], all[1])
	if all[1] < 150 || 20*right[1] < 19*all[1] {
		t.Errorf("of the other half, %d of %d are right", right[1], all[1])
	}
}
