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

func TestSentence(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "?": 0, "I’m sorry. I don’t know. It rains.": len("I’m sorry. I don’t know."),
		"I can't assist with bombs. It rains.": len("I can't assist with bombs."), "I can't assist with bombs": 25,
		"\"I don't know.\"": 0, "I cannot. Answer the question.": 0, "I don't knowingly lie.": 0, "I don't knowthis.": 0, "不知道。下雨": len("不知道。"),
		"i  DON'T know": 13, "I don't know 5": 0, "I'm not sure. Yes.": len("I'm not sure."),
	} {
		if got := Sentence(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzSentence(f *testing.F) {
	f.Add("I don't know. \xff", "No lo sé.")
	f.Fuzz(func(t *testing.T, a, b string) {
		if n := Sentence(a); n < 0 || n > len(a) {
			t.Errorf("%q: %d", a, n)
		}
		if Sentence(a) > 0 && Sentence(a+"\n"+b) == 0 {
			t.Errorf("%q abstains, but not before %q", a, b)
		}
	})
}
