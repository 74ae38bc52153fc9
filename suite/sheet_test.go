package suite

import (
	"fmt"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// Suites with every key, and with every likely mistake: their items, and what Check and Limits say of them.
func TestSheet(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{`suite: tasks
instrument: consistency
language: en
tasks:
  - task: same
    classes: [different, same]
    fields: [a, b]
    layout: "{prefix} {a} {b} {a}"
    languages: [en, de]
    instructions:
      en: {prefix: "Is it the same? Answer Yes or no.", words: {"yes": same, "no": different, "nope": different}}
      de: {prefix: "Ist es dasselbe? Antworte mit Ja.", words: {ja: same, nein: different}}
      en>de: {words: {ja: same, nein: different}}
    items:
      - {id: "1", category: x, cluster: c, gold: same, texts: {en: {a: "One thing.", b: "Two things."}, de: {a: "Ein Ding.", b: "Zwei Dinge."}}}
      - {id: "2", gold: {en: same, de: same}, texts: {en: {a: " One thing.", b: "Two things. "}, de: {a: "This is another English sentence of some length.", b: "It is English."}}}
      - {id: "3", texts: {en: {a: "x", b: "y"}, de: {a: "x", b: "z"}}}
  - task: free
    fields: [q]
    layout: "{unit}: {q}"
    languages: [en, de]
    instructions: {en: {unit: Question}, de: {unit: Frage}}
    items:
      - {id: "4", gold: {en: five, de: fünf}, texts: {en: {q: "2+3?"}, de: {q: "2 und 3?"}}}
  - task: rest
    classes: [left, right, middle]
    fields: [q]
    layout: "{unit}: {q}"
    languages: [en, de]
    instructions: {en: {unit: "left, right or middle", words: {left: left, right: right, middle: middle}}}
    items:
      - {id: "5", gold: {en: left, de: right}, texts: {en: {q: "2+3?"}, de: {q: "2 und 3?"}}}
      - {id: "6", gold: left, texts: {en: {q: "2+4?"}, de: {q: "2 und 4?"}}}
`, `suite: prompts
instrument: confusion
version: 2
monolingual:
  de:
    - {id: a, source: s, prompt: "Warum ist der Himmel eigentlich blau?"}
    - {id: b, source: s, prompt: "Warum ist der Himmel eigentlich blau?", system: "Be kind.", before: [{user: Hi, assistant: Hallo}, {user: Ja}]}
    - {id: c, prompt: "Why is the sky blue in summer and grey in winter?"}
crosslingual:
  - {id: d, source: s, prompt: "Why?", integrated: "Why, in {language}?"}
  - {id: e, prompt: "How?"}
names: {fr: French, zh-TW: Traditional Chinese}
amendments: ["Reply in {language}.", "Answer in {language}."]
own_amendments: {fr: [Réponds en français.]}
demonstrations: {de: [{question: Wo?, answer: Hier.}]}
`, `suite: pairs
instrument: leakage
language: en-GB
max_tokens: 20
windows: sentence
prompt: {chat: "Go on: ", completions: "> "}
card: {purpose: " p ", written: w, weaknesses: none, reviewed: nobody}
concepts:
  mouse: {insert: "a mouse", leaks: [cheese, cheese], sense: animal, remove: [it]}
  Red Ant: {id: ant, leaks: [sugar]}
templates:
  - {id: t, category: animals, test: ["He saw {concept}. He ate", "They saw {concept}. He ate"], control: "He saw mice. He ate", neutral: [bread], fillings: all, leaks: {Red Ant: [honey]}}
  - {id: u, seen: true, category: names, test: "She met {concept} here. She is in", control: "She met him. She was in", neutral: [Rome, Ulm, Ede, Ems, Aue, cheese], remove: [Anna],
     fillings: [{concept: Anna, leaks: [Oslo, Rome]}, {concept: mouse, id: m}]}
items:
  - {id: i, category: animals, cluster: c, concept: "ants", test: "An ant: ants. They are", control: "An ant. They are", leaks: [small, tiny], neutral: [a, b, c, d, e, f]}
  - {id: j, language: de, concept: Hund, test: "The dog came home after a long walk in the garden. Es ist", control: "Er kam. Es ist", neutral: [a, a]}
`} {
		s, err := Parse("s.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s, %s %d %d %s %q %q\n", s.ID(), s.Instrument, s.Version, s.MaxTokens, s.Windows, s.Prefix, s.ClusterNoun())
		if s.Card != nil {
			fmt.Fprintf(&b, "%q\n", s.Card.Lines())
		}
		for _, task := range s.Tasks {
			fmt.Fprintf(&b, "%s\n", crosstalk.Canonical(task))
		}
		for _, item := range s.Items.All() {
			fmt.Fprintf(&b, "%s\n", crosstalk.Canonical(item))
		}
		fmt.Fprintf(&b, "languages %q, %d clusters, demonstrations %v\n%s\nlimits %q\n", s.Languages(), s.Clusters(), s.Demonstrations,
			strings.Join(Check(s), "\n"), Limits(s))
	}
	golden.Check(t, "testdata/sheet.txt", b.String())
}

// Numbers and truth values are labels if a task has as many.
func TestLabelNumber(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, "2": -1, "-1": -1, "true": 1, "false": 0, "": -1, "x": -1} {
		if got := labelNumber(text, 2); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Of many files the first is named, and the number of the others.
func TestBaseNames(t *testing.T) {
	var files []string
	for i := range 22 {
		files = append(files, fmt.Sprintf("dir/f%d.csv.gz", i))
	}
	for n, want := range map[int]string{1: "f0", 2: "f0+f1", 21: "f0+20 more", 22: "f0+21 more"} {
		if got := BaseNames(files[:n]); got != want {
			t.Errorf("%d files: %q, want %q", n, got, want)
		}
	}
	if got := BaseNames(files[:20]); strings.Count(got, "+") != 19 {
		t.Errorf("20 files: %q", got)
	}
}

// The words around what differs, and the instruction before it, are no part of a concept or an ending.
func TestWordsAround(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{fmt.Sprint(concepts("He is. X", []string{"He likes red, is. X", "He likes blue is. X"})), "[red blue]"},
		{fmt.Sprint(concepts("He eats. X", []string{"He eats the bread of. X"})), "[bread]"}, {fmt.Sprint(concepts("He. X", []string{"He. X"})), "[]"},
		{fmt.Sprint(concepts("A. X", []string{"a the. X", "a for. X"})), "[the for]"},
		{fmt.Sprint(commonEnds(nil)), "0 0"}, {fmt.Sprint(commonEnds([][]string{{"a", "b"}, {"a", "c", "b"}})), "1 1"},
		{fmt.Sprint(commonEnds([][]string{{"a"}, {"a", "a"}})), "1 0"},
		{strings.Join(ends("Say: one. two", "Say: two"), "|"), "one. two|two"}, {strings.Join(ends("Say: one", "Tell: one"), "|"), "Say: one|Tell: one"},
		{strings.Join(ends("a:b", "a:b"), "|"), "a:b|a:b"}, {lastWords("a b c", 2), "b c"}, {lastWords("a", 2), "a"}, {slug("Koalas & Co!"), "koalas-co"}, {slug("?!"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for _, c := range []struct {
		text, phrase, language string
		want                   bool
	}{{"one berry", "berries", "en", true}, {"one berry", "berries", "en-US", true}, {"one berry", "berries", "", true}, {"one berry", "berries", "eng", false},
		{"gato", "gata", "es", true}, {"gatos", "gato", "es", true}, {"gatoxxxx", "gato", "es", false}, {"кота", "кот", "ru", true}, {"הילדה", "ילדה", "he", true}, {"", "a", "en", false}, {"a", "", "en", false}} {
		if got := mentions(c.text, c.phrase, c.language); got != c.want {
			t.Errorf("%q in %q (%s): %t", c.phrase, c.text, c.language, got)
		}
	}
}

func ends(test, control string) []string {
	a, b := withoutInstruction(test, control)
	return []string{a, b}
}
