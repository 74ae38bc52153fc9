package suite

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// pairs is a suite of leakage items in a language.
func pairs(language string, items ...crosstalk.Item) *Suite {
	s := &Suite{Instrument: "leakage", Language: language}
	for _, item := range items {
		item.Cluster = item.Pair.Control
		item.Labels = map[string]string{"language": language, "category": item.Labels["category"]}
		s.Items.Add(item)
	}
	return s
}

func item(id, concept, test, control string, leaks ...string) crosstalk.Item {
	return crosstalk.Item{ID: id, Pair: &crosstalk.Pair{Concept: concept, Test: test, Control: control, Leaks: leaks,
		Neutral: []string{"Ulm", "Ede", "Ems", "Aue", "Inn", "Ach"}}}
}

// remarks are what Check says of a suite, but for its size.
func remarks(s *Suite) []string {
	return slices.DeleteFunc(Check(s), func(r string) bool { return strings.Contains(r, "intervals need at least") })
}

func TestCheckPairs(t *testing.T) {
	good := func(id string) crosstalk.Item {
		return item(id, "ant", "An ant came to the restaurant "+id+". Then she bought", "It came to the restaurant "+id+". Then she bought", "sugar", "an ant hill")
	}
	for name, c := range map[string]struct {
		s    *Suite
		want []string
	}{
		"nothing":  {pairs("en", good("a")), nil}, // "ant" is no word of the control
		"mentions": {pairs("en", item("b", "Blue Sky", "The Blue Sky. It is", "The blue  sky. It is", "l", "m")), []string{`b: the control mentions the concept "Blue Sky"`}},
		"inflected": {pairs("en", item("b", "berries", "She has berries. It is", "She has one berry. It is", "l", "m"),
			item("c", "swimming", "He likes swimming. It is in", "Often he swims. It is in", "l", "m")),
			[]string{`b: the control mentions the concept "berries"`, `c: the control mentions the concept "swimming"`}},
		"irregular": {pairs("en", item("b", "mouse", "A mouse sat. It is", "Mice sat. It is", "l", "m"),
			item("c", "geese", "He has geese. It is in", "Often a goose is here. It is in", "l", "m"),
			item("d", "saw", "A saw lay here. It is at", "She had seen it before. It is at", "l", "m")),
			[]string{`b: the control mentions the concept "mouse"`, `c: the control mentions the concept "geese"`}},
		"remove": {func() *Suite {
			s := pairs("en", item("b", "coral", "She is Coral. It is", "She is here. It is", "l", "m"), item("c", "iris", "He met Iris. It is a", "Now he left. It is a", "l", "m"))
			s.Items.At(0).Pair.Remove, s.Items.At(1).Pair.Remove = []string{"Corals", "coral"}, []string{"Pearl", "Jade"}
			return s
		}(), []string{"c: the test has nothing of what remove lists: Pearl, Jade"}},
		"unknown language": {pairs("anglais", good("a")), []string{`"anglais" is not a valid language; expected a code such as fr, zh or pt-BR`}},
		"prompt mentions": {pairs("en", crosstalk.Item{ID: "b", Pair: &crosstalk.Pair{Concept: "boat", Test: "A boat.\n\nQ: A boat is?\nA:", Control: "A car.\n\nQ: A boat is?\nA:",
			Leaks: []string{"l", "m"}, Neutral: good("a").Pair.Neutral, Context: &crosstalk.Context{Carrier: crosstalk.Note}}}),
			[]string{`b: the control mentions the concept "boat"`}},
		"two carriers": {func() *Suite {
			one, two := good("a"), good("b")
			one.Pair.Context, two.Pair.Context = &crosstalk.Context{Carrier: crosstalk.Example},
				&crosstalk.Context{Carrier: crosstalk.Turn}
			two.Pair.Test, two.Pair.Control = one.Pair.Test, one.Pair.Control
			return pairs("en", one, two)
		}(), nil},
		"last sentence": {pairs("en", item("b", "cat", "The cat sat. She bought a", "He sat. Then she bought a", "l", "m")),
			[]string{`b: test and control end differently ("She bought a", "Then she bought a")`}},
		"last word": {pairs("en", item("b", "cat", "The cat sat on a", "He sat on the", "l", "m")), []string{`b: test and control end differently ("a", "the")`}},
		"open-ended": {func() *Suite {
			s := pairs("en", item("b", "Wren", "Tell me about a child named Wren.", "Tell me about a child.", "l", "m"))
			s.Windows = Sentences
			return s
		}(), nil},
		"twice": {pairs("en", good("a"), good("a")), []string{"a: same test prompt as a"}},
		"nearly": {pairs("en", item("b", "cat", "The cat sat on the old red mat near my door today. It is", "He sat on the old red mat near my door today. It is", "l", "m"),
			item("c", "dog", "The dog sat on the old red mat, near my door today. It is", "He sat on the old red mat, near my door today. It is", "l", "m")),
			[]string{"c: nearly the same control as b"}},
		"leaks": {pairs("en", item("b", "cat", "The cat sat. It is", "He sat. It is", "Ulm"), item("c", "cat", "The cat sat. It was", "He sat. It was", "l", "l")),
			[]string{"b: too few leaks (1); expected at least 2", `b: "Ulm" is both a leak and neutral`, `c: duplicate leak "l"`}},
		"neutral": {func() *Suite {
			s := pairs("en", good("a"))
			s.Items.At(0).Pair.Neutral = []string{"n", "o", "n"}
			return s
		}(), []string{"a: too few neutral continuations (3); expected at least 6", `a: duplicate neutral continuation "n"`}},
		"none": {func() *Suite {
			s := pairs("en", good("a"))
			s.Items.At(0).Pair.Neutral, s.Items.At(0).Pair.Leaks = nil, nil
			return s
		}(), []string{"no item lists leaks and neutral continuations, so reference:leaky cannot answer it"}},
		"no letters":     {pairs("de", item("b", "42", "Die 42 kam. Es ist", "Er kam. Es ist", "l", "m")), []string{`b: no similarity can score the concept "42": it has no letters`}},
		"unknown":        {pairs("en", item("b", "Xqzvwk", "An Xqzvwk came. It is", "He came. It is", "l", "m")), []string{`b: gloss knows no word of the concept "Xqzvwk", and cannot score it`}},
		"not for German": {pairs("de", item("b", "Xqzvwk", "Ein Xqzvwk kam. Es ist", "Er kam. Es ist", "l", "m")), nil},
		"language": {pairs("de", item("b", "Hund", "The dog came home after a long walk in the garden. Es ist", "Er kam nach einem langen Spaziergang im Garten nach Hause. Es ist", "l", "m")),
			[]string{"b: the test is in en; expected de"}},
		"mixed": {func() *Suite {
			s := pairs("en", item("b", "dog", "Der Hund kam nach einem langen Spaziergang im Garten nach Hause. After that she bought a", "Er kam nach einem langen Spaziergang im Garten nach Hause. After that she bought a", "l", "m"))
			s.Begins = "de"
			return s
		}(), nil},
		"mixed, wrong way": {func() *Suite {
			s := pairs("en", item("b", "dog", "The dog came home after a long walk in the garden. After that she bought a", "Er kam nach einem langen Spaziergang im Garten nach Hause. After that she bought a", "l", "m"))
			s.Begins = "de"
			return s
		}(), []string{"b: the beginning of the test is in en; expected de"}},
	} {
		if got := remarks(c.s); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	s := pairs("en", good("a"), good("b"), good("c"), good("d"))
	s.Unusable = []string{"line 7: the concept is empty"}
	if got, want := Check(s), []string{"line 7: the concept is empty", "4 controls: intervals need at least 5", "4 items: intervals need at least 30"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

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

func TestCutLast(t *testing.T) {
	for text, want := range map[string]string{
		"One sentence": "|One sentence", "A. B c": "A.|B c", "A 3.5 b": "|A 3.5 b", "A.": "|A.", "A? B! C": "A? B!|C",
		"他走了。他买了": "他走了。|他买了", "": "|", "क। ख": "क।|ख",
	} {
		if before, last := cutLast(text); before+"|"+last != want {
			t.Errorf("%q: %q, %q", text, before, last)
		}
	}
}

func TestLimits(t *testing.T) {
	build := func(controls map[string]int) *Suite {
		s := pairs("en")
		for category, n := range controls {
			for i := range n {
				one := item(fmt.Sprint(category, i), "c", "t", fmt.Sprint(category, i))
				one.Cluster, one.Labels = one.ID, map[string]string{"category": category}
				s.Items.Add(one)
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

// An instruction that both prompts begin with is no part of their last
// sentences.
func TestCheckEndingsAfterAnInstruction(t *testing.T) {
	for _, c := range []struct {
		test, control string
		same          bool
	}{
		{"Complete this: The roof is teal. The kite is", "Complete this: The kite is", true},
		{"Complete this: The roof is teal. The kite was", "Complete this: The kite is", false},
		{"Complete it: The roof is teal. The kite is", "Complete this: The kite is", false},
	} {
		if _, _, same := endings(&crosstalk.Pair{Concept: "teal", Test: c.test, Control: c.control}, false); same != c.same {
			t.Errorf("%q, %q: same ending: %v", c.test, c.control, same)
		}
	}
}

// Text in another language is found in suites of every instrument.
func TestCheckLanguages(t *testing.T) {
	const english, german = "Why do the leaves of the trees turn red in autumn?", "Warum werden die Blätter der Bäume im Herbst rot?"
	prompt := func(id, task, text string) crosstalk.Item {
		return crosstalk.Item{ID: id, Labels: map[string]string{"task": task, "language": "de"},
			Prompt: &crosstalk.Prompt{Text: text, Language: "de"}}
	}
	confusion := &Suite{Instrument: "confusion", Items: ItemsOf(prompt("a", "monolingual", english), prompt("b", "monolingual", german), prompt("c", "crosslingual", english))}
	if got := remarks(confusion); !slices.Contains(got, "a: the prompt is in en; expected de") ||
		slices.ContainsFunc(got, func(r string) bool { return strings.HasPrefix(r, "b:") || strings.HasPrefix(r, "c: the") }) {
		t.Errorf("%q", got)
	}
	input := func(id, text string) crosstalk.Item {
		return crosstalk.Item{ID: id, Input: &crosstalk.Input{Task: "t", Texts: map[string][]string{"de": {text}}}}
	}
	consistency := &Suite{Instrument: "consistency", Tasks: []crosstalk.Task{{Name: "t"}},
		Items: ItemsOf(input("a", english), input("b", german))}
	if got := remarks(consistency); !slices.Contains(got, "a: the text in de is in en") ||
		slices.ContainsFunc(got, func(r string) bool { return strings.HasPrefix(r, "b:") }) {
		t.Errorf("%q", got)
	}
}

// What a test has in place of the concept is looked for in its control, without articles.
func TestCheckInserts(t *testing.T) {
	for _, c := range []struct {
		language, concept, insert, control string
		want                               bool
	}{
		{"en", "mouse", "mice", "Often she sees mice. Her lunch is", true},
		{"en", "mouse", "the old mice", "Often she sees a mouse. Her lunch is", true},
		{"en", "tooth", "teeth", "Her teeth hurt. Her lunch is", true},
		{"en", "rabbit", "a few hares", "She has a few hats. Her lunch is", false},
		{"fi", "punainen", "punaisesta", "Hän pitää punaisesta. Hänen lounaansa on", true},
		{"fi", "punainen", "punaisesta", "Hän pitää siitä. Hänen lounaansa on", false},
	} {
		_, end, _ := strings.Cut(c.control, ". ")
		file := fmt.Sprintf("suite: s\ninstrument: leakage\nlanguage: %s\ntemplates:\n  - id: t\n    test: \"It is {concept}. %s\"\n"+
			"    control: %q\n    fillings: [{id: f, concept: %s, insert: %s}]\n", c.language, end, c.control, c.concept, c.insert)
		s, err := Parse("s.yaml", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("t/f: the control mentions %q, which the test inserts", c.insert)
		if got := slices.Contains(Check(s), want); got != c.want {
			t.Errorf("%s, insert %s, control %q: %q", c.concept, c.insert, c.control, Check(s))
		}
	}
}
