package suite

import (
	"fmt"
	"reflect"
	"testing"

	"crosstalk"
)

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		language, phrase, text string
		want                   bool
	}{
		{"en", "spider", "The spider's web", true}, {"en", "baking", "She bakes bread", true}, {"en", "boxes", "a box", true},
		{"en", "glass", "the glasses", true}, {"en", "ring", "a string", false}, {"en", "corn", "in the corner", false}, {"en", "bus", "a bush", false},
		{"en", "a fish out of water", "Fish out of Water", false}, {"en", "red wine", "The red wines", true}, {"en", "red wine", "wine, red", false},
		{"de", "Hund", "den Hunden", true}, {"de", "Vogel", "die Vögel", true}, {"de", "Bier", "die Biene", false},
		{"es", "gato", "la gata", true}, {"es", "marino", "está casado", false}, {"fr", "marin", "été marié", false}, {"fr", "cheval", "à cheval", true},
		{"ru", "медведь", "с медведями", true}, {"ru", "кот", "у кота", true}, {"ru", "кот", "которая", false},
		{"he", "כלב", "הכלב", true}, {"he", "כלב", "לב", false}, {"ar", "كلب", "والكلب", true},
		{"zh", "狗", "他有一只狗。", true}, {"zh", "狗", "他有一只猫。", false}, {"ja", "犬", "子犬が", true},
	} {
		if got := mentions(c.text, c.phrase, c.language); got != c.want {
			t.Errorf("%s: %q mentions %q: %v", c.language, c.text, c.phrase, got)
		}
	}
}

func TestLimits(t *testing.T) {
	build := func(controls map[string]int) *Suite {
		s := &Suite{Instrument: "leakage", Language: "en"}
		for category, n := range controls {
			for i := range n {
				id := fmt.Sprint(category, i)
				s.Items.Add(crosstalk.Item{ID: id, Cluster: id, Labels: map[string]string{"category": category},
					Pair: &crosstalk.Pair{Concept: "c", Test: "t", Control: id}})
			}
		}
		return s
	}
	for _, c := range []struct {
		controls map[string]int
		want     []string
	}{
		{map[string]int{"a": 5, "b": 15}, nil},
		{map[string]int{"a": 3}, nil}, // no table by category
		{map[string]int{"a": 4, "b": 5, "c": 12}, []string{"too few controls for an interval of the category, which needs at least 5: a (4)"}},
		{map[string]int{"a": 5, "b": 16}, []string{"unbalanced categories: 16 items in b, 5 in a; the figure over all depends mostly on the large ones"}},
	} {
		if got := Limits(build(c.controls)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %q, want %q", c.controls, got, c.want)
		}
	}
}
