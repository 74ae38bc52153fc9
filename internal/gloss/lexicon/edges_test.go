package lexicon

import (
	"slices"
	"strings"
	"testing"
)

// Each rule of detachment, and words that are too short or too long for it.
func TestRules(t *testing.T) {
	long := strings.Repeat("x", maxWord-1)
	lemmas := []string{"cat", "gas", "wolf", "wife", "box", "quiz", "church", "bush", "woman", "fly", "go", "bake", "stop", "see", "fit", "late", "happy", "he",
		"cat_gas", "cat_fly", "cat_go_box", "cat_ax", "ax", "go_cat", "ox", "as", "add", "fiz", long, "a"}
	pos := slices.Repeat([]Set{Of(Noun) | Of(Verb) | Of(Adjective)}, len(lemmas))
	pos[slices.Index(lemmas, "late")] = Of(Adjective)
	pos[slices.Index(lemmas, "quiz")] = Of(Noun)
	pos[slices.Index(lemmas, "fit")] = Of(Adjective)
	l := New(lemmas, pos)
	l.AddException(Noun, "oxen", []int32{int32(slices.Index(lemmas, "ox"))})
	l.AddException(Noun, "cats", []int32{int32(slices.Index(lemmas, "ox")), int32(slices.Index(lemmas, "cat"))})
	l.AddException(Noun, "as", []int32{int32(slices.Index(lemmas, "as"))})
	if l.Len() != len(lemmas) {
		t.Error(l.Len())
	}
	for word, want := range map[string]string{
		"cats": "ox cat", "gases": "gas", "wolves": "wolf", "wives": "wife", "boxes": "box", "quizes": "quiz", "churches": "church", "bushes": "bush",
		"women": "woman", "flies": "fly", "goes": "go", "baked": "bake", "baking": "bake", "stopped": "stop", "stopping": "stop", "stoped": "stop", "seeing": "see",
		"later": "late", "latest": "late", "happier": "happy", "happiest": "happy", "fitter": "", "fitted": "", "fitest": "fit", "lated": "",
		"hes": "he", "hs": "", "as": "", "s": "", "adding": "add", "aed": "", "fizzed": "", "quizzing": "", "oxen": "ox", long + "s": strings.Repeat("x", maxWord-1),
		"x" + long + "s": "", "cat": "", "": "", "ing": "", "ed": "", "xxed": "",
	} {
		if got := names(l, l.Bases(nil, word)); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for word, want := range map[string]string{"stopped": "stop", "stopping": "stop", "sseed": "", "hoed": "", "addes": "", "bbed": "b", "bed": "", "xing": "", "wooing": "",
		"ebbed": "eb", "padded": "pad", "puffed": "puf", "egged": "eg", "filled": "fil", "hummed": "hum", "runned": "run", "popped": "pop", "barred": "bar", "fitted": "fit",
		"kicked": "", "kissed": "", "buzzing": ""} {
		if got := undouble(word); got != want {
			t.Errorf("undouble %q: %q, want %q", word, got, want)
		}
	}
	for word, want := range map[string]string{"cat": "cat", "cat's": "cat", "cats's": "ox cat", "cat's's": "cat", "dog's": "", long: long, long + "'s": "", "fly's": "fly"} {
		if got := names(l, l.Lemmas(nil, word)); got != want {
			t.Errorf("lemmas of %q: %q, want %q", word, got, want)
		}
	}
	for text, want := range map[string]string{
		"cat gas": "cat_gas 2", "cat gases": "cat_gas 2", "cat flies": "cat_fly 2", "cat go boxes": "cat_go_box 3", "cat go": " 0", "cat axs": " 0", "cat ax": "cat_ax 2", "go cats": "go_cat 2", "go foxes": " 0", "gas cat": " 0",
		"cat gas " + strings.Repeat("y", 100): "cat_gas 2", "cat " + strings.Repeat("y", 100): " 0", "cat": " 0", "": " 0",
	} {
		id, n := l.Multiword(strings.Fields(text), 4)
		got := " 0"
		if n > 0 {
			got = l.Lemma(id) + " " + string(rune('0'+n))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, n := l.Multiword([]string{"cat", "go", "box"}, 2); n != 0 {
		t.Errorf("%d words of at most 2", n)
	}
	// A word that is too long for any lemma ends the search, also for shorter ones before it.
	phrases := New([]string{"a_b", "a_b_c_d"}, slices.Repeat([]Set{Of(Noun)}, 2))
	for length, want := range map[int]int{maxWord - 5: 2, maxWord - 4: 0} {
		if _, n := phrases.Multiword([]string{"a", "b", strings.Repeat("y", length), "z"}, 4); n != want {
			t.Errorf("with %d letters: %d words, want %d", length, n, want)
		}
	}
}
