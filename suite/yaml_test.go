package suite

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
)

const head = "suite: s\ninstrument: leakage\n"

func TestParse(t *testing.T) {
	s, err := Parse("s.yaml", []byte("\ufeff"+strings.ReplaceAll(`# a comment
---
suite: my-suite
instrument: leakage
version: 3
language: en
license: CC0-1.0
description: >-
  One
  line.
prompt: {chat: "Go on: ", completion: "> "}
templates:
  - id: t
    category: animals
    test: "He likes {concept}. He eats"
    control: He eats
    neutral: [bread, rice]
    remove: [he]
    fillings:
      - {concept: Koalas & Co, leaks: [leaves]}
      - {id: mouse, concept: mouse, insert: a mouse, remove: [mouse]}
items:
  - id: i
    language: de
    cluster: c
    concept: 7
    test: " 7 ist "
    control: ist
    leaks: [acht]
    neutral: [rot]
`, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "my-suite" || s.Version != 3 || s.License != "CC0-1.0" || s.Description != "One line." || s.Clusters() != 2 ||
		!reflect.DeepEqual(s.Prefix, map[crosstalk.API]string{crosstalk.Chat: "Go on: ", crosstalk.Completions: "> "}) {
		t.Errorf("%+v", s)
	}
	animals := map[string]string{"category": "animals", "language": "en"}
	want := []crosstalk.Item{
		{ID: "t/koalas-co", Cluster: "He eats", Labels: animals, Pair: &crosstalk.Pair{Concept: "Koalas & Co", Test: "He likes Koalas & Co. He eats", Control: "He eats",
			Remove: []string{"he"}, Leaks: []string{"leaves"}, Neutral: []string{"bread", "rice"}}},
		{ID: "t/mouse", Cluster: "He eats", Labels: animals, Pair: &crosstalk.Pair{Concept: "mouse", Test: "He likes a mouse. He eats", Control: "He eats",
			Remove: []string{"he", "mouse"}, Neutral: []string{"bread", "rice"}}},
		{ID: "i", Cluster: "c", Labels: map[string]string{"language": "de"}, Pair: &crosstalk.Pair{Concept: "7", Test: "7 ist", Control: "ist",
			Leaks: []string{"acht"}, Neutral: []string{"rot"}}},
	}
	for i := range want {
		if i >= s.Items.Len() || !reflect.DeepEqual(s.Items.At(i), want[i]) {
			t.Errorf("item %d: %+v, want %+v %+v", i, s.Items.At(i), want[i], want[i].Pair)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const item = "items:\n  - {id: a, concept: c, test: t c, control: t}\n"
	const template = head + "templates:\n  - id: t\n    test: \"{concept} t\"\n    control: t\n    fillings:\n"
	for text, want := range map[string]string{
		"":                                   "1: expected suite: NAME",
		"# nothing\n":                        "1: expected suite: NAME",
		"just text":                          "1: expected a map, found text",
		"- a\n":                              "1: expected a map, found a list",
		"instrument: leakage\n":              "1: expected suite: NAME",
		"suite: s\n" + item:                  `1: instrument is ""; expected leakage`,
		"suite: s\ninstrument: taste\n":      `2: instrument is "taste"; expected leakage or confusion`,
		"suite: ../s\ninstrument: leakage\n": `1: "../s" is not a valid suite name; use only letters, digits, -, _ and .`,
		"instrument: leakage\nsuite: a b\n":  `2: "a b" is not a valid suite name; use only letters, digits, -, _ and .`,
		head:                                 "1: expected templates or items, found neither",
		head + "version: -1\n" + item:        "3: version is -1; expected a whole number from 1",
		head + "version: one\n" + item:       "3: expected a whole number, found text",
		head + "prompt: {talk: a}\n" + item:  `3: prompt has the unknown key "talk"; choose one of: chat, completion`,
		head + "prompt: [a]\n" + item:        "3: expected a map, found a list",
		head + "colour: red\n" + item:        `3: unknown field "colour"`,
		head + "suite: t\n" + item:           `3: duplicate key "suite" (first used in line 1)`,
		head + "items: 5\n":                  "3: expected a list, found a whole number",
		head + "items: []\n":                 "1: expected templates or items, found neither",
		head + "items:\n  - a\n":             "4: expected a map, found text",
		head + "items:\n  -\n  -\n":          "4: an entry is empty",
		head + "items: [null]\n":             "3: entry 1 is empty",
		head + item + "  - concept: c\n    test: t c\n    control: t\n":                  "5: an item has no id",
		head + item + "  - {id: b, test: t c, control: t}\n":                             "5: item b has no concept",
		head + item + "  - {id: b, concept: \" \", test: t c, control: t}\n":             "5: item b has no concept",
		head + item + "  - {id: b, concept: c, control: t}\n":                            "5: item b needs a test and a control prompt",
		head + item + "  - {id: b, concept: c, test: t c}\n":                             "5: item b needs a test and a control prompt",
		head + item + "  - {id: b, concept: c, test: t, control: t}\n":                   "5: item b: test and control are the same prompt",
		head + item + "  - {id: a, concept: c, test: t c, control: t}\n":                 `5: duplicate id "a" (first used in line 4)`,
		head + item + "  - {id: b, concept: c, test: t c, control: t, leaks: d}\n":       "5: expected a list, found text",
		head + item + "  - {id: b, concept: [c], test: t c, control: t}\n":               "5: expected text, found a list",
		head + item + "  - {id: b, concept: c, test: t c, control: t, leaks: [\"\"]}\n":  "5: item b: an entry of leaks is empty",
		head + item + "  - {id: b, concept: c, test: t c, control: t, neutral: [\" \"]}": "5: item b: an entry of neutral is empty",
		head + item + "  - id: b\n    concept: c\n    leeks: [d]\n":                      `7: unknown field "leeks"`,
		head + "templates:\n  - test: a\n":                                               "4: a template has no id",
		head + "templates: [null]\n":                                                     "3: entry 1 is empty",
		head + "templates:\n  - {id: t, test: a, control: b, fillings: [{concept: c}]}":  "4: template t: test contains {concept} 0 times; expected once",
		template: "4: template t has no fillings",
		template + "      - {concept: c, colour: red}\n":          `8: unknown field "colour"`,
		template + "      - {insert: c}\n":                        "8: item t/ has no concept",
		template + "      - {concept: \"?!\"}\n":                  `8: template t: the concept "?!" has no letters to build an id from: give the filling an id`,
		template + "      - {concept: c}\n      - {concept: C}\n": `9: duplicate id "t/c" (first used in line 8)`,
		template + "      - null\n":                               "4: template t: a filling is empty",
		head + "templates:\n  - {id: t, test: \"{concept} {concept}\", control: b, fillings: [{concept: c}]}":     "4: template t: test contains {concept} 2 times; expected once",
		head + "templates:\n  - {id: t, test: \"{concept} a\", control: \"{concept}\", fillings: [{concept: c}]}": "4: template t: control contains {concept}; a control must not mention the concept",
		"suite: s\n\tinstrument: leakage\n":                      `2: found character '␉' that cannot start any token`,
		"suite: \"s\n":                                           "1: could not find end character of double-quoted text",
		head + "items:\n  - {id: \"\xff\"}\n":                    "4: is not valid UTF-8: save the file as UTF-8",
		"suite: s\x00\n":                                         "1: is not valid UTF-8: save the file as UTF-8",
		head + item + "---\nsuite: t\n":                          "5: a second document begins here; expected one suite per file",
		head + "items:\n  - &a {id: a}\n":                        "4: anchors and aliases are not supported: write the value out",
		head + "items:\n  - *a\n":                                "4: anchors and aliases are not supported: write the value out",
		head + "items:\n  - {<<: {id: a}}\n":                     "4: anchors and aliases are not supported: write the value out",
		"suite: !!binary aGk=\n":                                 "1: tags are not supported: write the value without !!binary",
		head + "items: !!set {a}\n":                              "3: tags are not supported: write the value without !!set",
		head + "]\n":                                             "3: unexpected closing bracket",
		"suite: " + strings.Repeat("s", 100) + " s\n" + head[9:]: `1: "` + strings.Repeat("s", 40) + `" is not a valid suite name`,
		head + strings.Repeat("k", 1000) + ": 1\n":               `3: unknown field "` + strings.Repeat("k", 100),
	} {
		_, err := Parse("s.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "s.yaml:"+want) || len(err.Error()) > 300 {
			t.Errorf("%.200q:\n     %v\nwant s.yaml:%s", text, err, want)
		}
	}
}

// Text that is small to write and endless to read is refused at once.
func TestParseBombs(t *testing.T) {
	const many = 100000
	lines := func(format func(i int) string) string {
		var b strings.Builder
		for i := range many {
			b.WriteString(format(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"brackets":     head + "items: " + strings.Repeat("[", many),
		"maps":         head + "items: " + strings.Repeat("{a: ", many),
		"dashes":       head + "items:\n " + strings.Repeat("- ", many) + "a",
		"empty dashes": strings.Repeat("-\n", many),
		"questions":    strings.Repeat("? ", many),
		"indentation": head + "items:\n" + func() (s string) {
			for i := range 1000 {
				s += strings.Repeat(" ", i+1) + "a:\n"
			}
			return s
		}(),
		"keys":    "prompt:\n" + lines(func(i int) string { return "  k" + strings.Repeat("k", i%7) + string(rune('a'+i%26)) + ":\n" }),
		"aliases": "a: &a [x, x]\n" + lines(func(int) string { return "b: [*a, *a]\n" }),
		"long":    "# " + strings.Repeat("x", maxYAML),
	} {
		done := make(chan error, 1)
		go func() {
			_, err := Parse("s.yaml", []byte(text))
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: it does not end", name)
		}
	}
}

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The manual's examples are complete suites, and good ones but for their size.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../docs/suites.md")
	if err != nil {
		t.Fatal(err)
	}
	var instruments []string
	for _, found := range example.FindAllStringSubmatch(string(manual), -1) {
		s, err := Parse("suites.md", []byte(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		instruments = append(instruments, s.Instrument)
		for _, r := range Check(s) {
			if !strings.Contains(r, "intervals need at least") {
				t.Errorf("%s: %s", s.Name, r)
			}
		}
	}
	for _, want := range []string{"leakage", "confusion", "consistency"} {
		if !slices.Contains(instruments, want) {
			t.Errorf("no example for %s", want)
		}
	}
}

// Whatever the text, parsing ends with an error or a suite whose items are
// whole and have names of their own.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "prompt: {chat: a}\ntemplates:\n  - {id: t, test: \"{concept} a\", control: a, neutral: [b], fillings: [{concept: c, leaks: [d]}]}\n"))
	f.Add([]byte(head + "items:\n  - id: a\n    concept: c\n    test: >-\n      t\n      c\n    control: |\n      t\n"))
	f.Add([]byte("suite: !!binary aGk=\nitems: !!set {a}\n? b\n: - c\n"))
	f.Add([]byte("a: &a [*a]\n<<: *a\n--- x\n...\n%YAML 1.2\n"))
	f.Add([]byte(openEnded))
	f.Add([]byte(carried))
	f.Add([]byte(confusionText))
	f.Add([]byte(twoWords + "    items:\n      - {id: i, gold: yes, a: x, b: y}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("s.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Errorf("%v names no file", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, item := range s.Items.All() {
			whole := item.Pair != nil && item.Pair.Concept != "" && item.Pair.Test != "" && item.Pair.Control != "" ||
				item.Prompt != nil && item.Prompt.Text != "" && item.Prompt.Language != "" ||
				item.Input != nil && item.Input.Task != "" && len(item.Input.Texts) > 0
			if item.ID == "" || seen[item.ID] || item.Cluster == "" || !whole {
				t.Errorf("item %+v %+v %+v %+v", item, item.Pair, item.Prompt, item.Input)
			}
			seen[item.ID] = true
		}
		Check(s)
	})
}
