package suite

import (
	"reflect"
	"strings"
	"testing"

	"crosstalk"
)

// All that a leakage file can say beside what TestParse has.
const openEnded = `suite: stories
instrument: leakage
language: en
begins: zh
max_tokens: 300
windows: sentence
card:
  purpose: To show
    the format.
  written: By hand.
  weaknesses: Few items.
  reviewed: nobody
concepts:
  Coral: {sense: a reef animal, leaks: [reef, sea], remove: [Coral]}
  Rose Red: {id: rose, insert: a Rose Red, leaks: [garden, petal]}
templates:
  - id: t
    test: ["Of {concept}. It", "For {concept}. It"]
    control: It
    remove: [she]
    leaks: {Coral: [tide]}
    seen: true
    fillings: all
  - id: u
    test: "Of {concept}. It"
    control: It
    fillings:
      - {concept: Coral, sense: a colour, remove: [], leaks: [pink]}
      - {concept: Sky}
`

func TestFormat(t *testing.T) {
	s, err := Parse("s.yaml", []byte(openEnded))
	if err != nil {
		t.Fatal(err)
	}
	if s.MaxTokens != 300 || s.Windows != Sentences || s.Begins != "zh" ||
		*s.Card != (Card{"To show the format.", "By hand.", "Few items.", "nobody"}) {
		t.Errorf("%+v %+v", s, s.Card)
	}
	plain := map[string]string{"language": "en", "begins": "zh", "seen": "no"}
	seen := map[string]string{"language": "en", "begins": "zh", "seen": "yes"}
	pair := func(test, concept, sense string, remove []string, leaks ...string) *crosstalk.Pair {
		return &crosstalk.Pair{Concept: concept, Test: test, Control: "It", Sense: sense, Remove: remove, Leaks: leaks}
	}
	check(t, s.Items.List(), []crosstalk.Item{
		{ID: "t/coral", Cluster: "It", Labels: seen, Pair: pair("Of Coral. It", "Coral", "a reef animal", []string{"she", "Coral"}, "tide")},
		{ID: "t/coral/2", Cluster: "It", Labels: seen, Pair: pair("For Coral. It", "Coral", "a reef animal", []string{"she", "Coral"}, "tide")},
		{ID: "t/rose", Cluster: "It", Labels: seen, Pair: pair("Of a Rose Red. It", "Rose Red", "", []string{"she"}, "garden", "petal")},
		{ID: "t/rose/2", Cluster: "It", Labels: seen, Pair: pair("For a Rose Red. It", "Rose Red", "", []string{"she"}, "garden", "petal")},
		{ID: "u/coral", Cluster: "It", Labels: plain, Pair: pair("Of Coral. It", "Coral", "a colour", nil, "pink")},
		{ID: "u/sky", Cluster: "It", Labels: plain, Pair: pair("Of Sky. It", "Sky", "", nil)},
	})
}

const carried = `suite: context
instrument: leakage
language: en
templates:
  - id: n
    category: notes
    carrier: note
    prompt: "Where is Paris? "
    test: |
      Keeps {concept}, and likes {concept}.
    control: Keeps at it.
    fillings: [{concept: bees, insert: some bees}]
  - id: e
    carrier: example
    prompt: Where is Paris?
    test: {user: Who?, assistant: "{concept}."}
    control: {user: Who?, assistant: Nobody.}
    fillings: [{concept: Ann}]
`

func TestCarriers(t *testing.T) {
	s, err := Parse("s.yaml", []byte(carried))
	if err != nil {
		t.Fatal(err)
	}
	note := crosstalk.Context{Carrier: crosstalk.Note, Prompt: "Where is Paris?",
		Test: crosstalk.Carried{Text: "Keeps some bees, and likes some bees."}, Control: crosstalk.Carried{Text: "Keeps at it."}}
	example := crosstalk.Context{Carrier: crosstalk.Example, Prompt: "Where is Paris?",
		Test: crosstalk.Carried{User: "Who?", Assistant: "Ann."}, Control: crosstalk.Carried{User: "Who?", Assistant: "Nobody."}}
	const noteControl, exampleControl = "<memory>\nKeeps at it.\n</memory>\n\nQ: Where is Paris?\nA:", "Q: Who?\nA: Nobody.\n\nQ: Where is Paris?\nA:"
	check(t, s.Items.List(), []crosstalk.Item{
		{ID: "n/bees", Cluster: noteControl, Labels: map[string]string{"category": "notes", "language": "en", "carrier": "note"},
			Pair: &crosstalk.Pair{Concept: "bees", Control: noteControl, Context: &note,
				Test: "<memory>\nKeeps some bees, and likes some bees.\n</memory>\n\nQ: Where is Paris?\nA:"}},
		{ID: "e/ann", Cluster: exampleControl, Labels: map[string]string{"category": "example", "language": "en", "carrier": "example"},
			Pair: &crosstalk.Pair{Concept: "Ann", Control: exampleControl, Context: &example, Test: "Q: Who?\nA: Ann.\n\nQ: Where is Paris?\nA:"}},
	})
	other, err := Parse("s.yaml", []byte(strings.Replace(carried, "carrier: note", "carrier: system", 1)))
	if err != nil || other.ID() == s.ID() {
		t.Errorf("another carrier does not change the id: %v", err)
	}
}

func check(t *testing.T, got, want []crosstalk.Item) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d items, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("item %d: %+v\n%+v\nwant %+v\n%+v", i, got[i], got[i].Pair, want[i], want[i].Pair)
		}
	}
}

func TestFormatErrors(t *testing.T) {
	const item = "items:\n  - {id: a, concept: c, test: t c, control: t}\n"
	const card = head + "card: {purpose: p, written: w, weaknesses: x, reviewed: nobody}\n" + item
	if _, err := Parse("s.yaml", []byte(card)); err != nil {
		t.Fatal(err)
	}
	template := func(rest string) string { return head + "templates:\n  - id: t\n    control: t\n" + rest }
	const test = "    test: \"{concept} t\"\n"
	const context = head + "templates:\n  - id: t\n    carrier: "
	for text, want := range map[string]string{
		head + "max_tokens: -3\n" + item:                                                                         "3: max_tokens is -3; expected a number above 0",
		head + "max_tokens: 0\n" + item:                                                                          "3: max_tokens is 0; expected a number above 0",
		head + "max_tokens: many\n" + item:                                                                       "3: expected a whole number, found text",
		head + "windows: word\n" + item:                                                                          `3: windows is "word"; expected sentence`,
		head + "card: {purpose: p}\n" + item:                                                                     "3: card: written is missing",
		strings.Replace(card, "reviewed: nobody", "reviewed: \" \"", 1):                                          "3: card: reviewed is missing",
		strings.Replace(card, "reviewed: nobody", "reviewed: nobody, author: me", 1):                             `3: unknown field "author"`,
		"suite: s\ninstrument: confusion\nmax_tokens: 3\n":                                                       `3: unknown field "max_tokens"`,
		head + "concepts: {\" \": {}}\n" + item:                                                                  "3: concepts: a concept is empty",
		head + "concepts: {c: {leeks: [d]}}\n" + item:                                                            `3: unknown field "leeks"`,
		head + "concepts: [c]\n" + item:                                                                          "3: expected a map, found a list",
		template(test + "    fillings: all\n"):                                                                   `4: template t: fillings is "all", and the file has no concepts`,
		template(test + "    fillings: most\n"):                                                                  `7: fillings is "most"; expected a list or all`,
		template(test + "    fillings: {concept: c}\n"):                                                          "7: expected a list, found a map",
		template("    test: []\n    fillings: [{concept: c}]\n"):                                                 "4: template t needs a test and a control",
		template("    test: [\"{concept} t\", t]\n    fillings: []\n"):                                           "4: template t: test contains {concept} 0 times; expected once",
		template("    test: {user: a, assistant: b}\n    fillings: []\n"):                                        "4: template t: expected text in test and control",
		template("    test: {user: a, bot: b}\n"):                                                                `6: unknown field "bot"`,
		template("    test: [[a]]\n"):                                                                            "6: expected text, found a list",
		template(test + "    leaks: {d: [e]}\n    fillings: [{concept: c}]\n"):                                   `7: template t: leaks names the concept "d", which is not one of its fillings`,
		template(test + "    leaks: {c: [e]}\n    fillings: [{concept: c, leaks: [d]}]\n"):                       `7: template t: the leaks of "c" are given twice`,
		template(test + "    prompt: p\n    fillings: [{concept: c}]\n"):                                         "4: template t: only a template with a carrier can have a prompt",
		head + "templates:\n  - {id: t, test: \"{concept}\", control: [a, b]}\n":                                 "4: template t: control is a list; expected one text",
		head + "templates:\n  - {id: t, test: \"{concept}\"}\n":                                                  "4: template t needs a test and a control",
		context + "pigeon\n    prompt: p\n    test: \"{concept}\"\n    control: t\n":                             `4: template t: carrier is "pigeon"; choose one of: example, system, note, passage, turn`,
		context + "note\n    test: \"{concept}\"\n    control: t\n":                                              "4: template t has a carrier and no prompt",
		context + "note\n    prompt: \"{concept}?\"\n    test: \"{concept}\"\n    control: t\n":                  "4: template t: prompt contains {concept}; only test may contain it",
		context + "note\n    prompt: p\n    test: {user: a, assistant: b}\n    control: t\n":                     "4: template t: expected text in test and control",
		context + "turn\n    prompt: p\n    test: \"{concept}\"\n    control: t\n":                               "4: template t: expected user and assistant in test and control",
		context + "turn\n    prompt: p\n    test: {user: \"{concept}\"}\n    control: {user: a, assistant: b}\n": "4: template t: expected user and assistant in test and control",
		carried + "items:\n  - {id: a, concept: c, test: t c, control: t}\n":                                     "20: item a: items cannot be mixed with templates that have a carrier",
		carried + "  - {id: p, test: \"{concept} t\", control: t, fillings: [{concept: c}]}\n":                   "19: template p: either all templates have a carrier or none",
		openEnded + "  - {id: t, test: \"{concept} t\", control: t, fillings: all}\n":                            `30: duplicate id "t/coral" (first used in line 17)`,
	} {
		_, err := Parse("s.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "s.yaml:"+want) {
			t.Errorf("%s:\n     %v\nwant s.yaml:%s", text, err, want)
		}
	}
}
