package suite

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

const (
	taskHead = "suite: s\ninstrument: consistency\nlanguage: en\ntasks:\n  - task: t\n"
	twoWords = taskHead + `    classes: [no, yes]
    fields: [a, b]
    layout: "{prefix} {unit} 1: {a} {unit} 2: {b}{suffix}"
    instructions:
      en: {prefix: Same?, unit: Text, suffix: " Say yes or no.", words: {no: no, yes: yes}}
      de: {prefix: Gleich?, unit: Text, suffix: " Sag ja oder nein.", words: {nein: no, ja: yes}}
`
)

func TestParseTasks(t *testing.T) {
	s, err := ParseTasks("s.yaml", []byte(strings.ReplaceAll(twoWords+`    items:
      - {id: 1, gold: yes, category: swap, cluster: c, a: "One. ", b: "Two {suffix}"}
      - id: x
        a: >-
          Three
          three
        b: Four
  - task: sums
    fields: [formula]
    languages: [en, fr]
    layout: "{ask} {formula}"
    instructions:
      en: {ask: ""}
    items:
      - id: y
        gold: {en: five, fr: cinq}
        texts: {en: {formula: 2 + 3}, fr: {formula: 3 + 2}}
      - {id: z, gold: "7"}
`, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	tasks := []crosstalk.Task{
		{Name: "t", Classes: []string{"no", "yes"}, Fields: []string{"a", "b"}, Layout: "{prefix} {unit} 1: {a} {unit} 2: {b}{suffix}", Instructions: map[string]crosstalk.Instruction{
			"en": {Parts: map[string]string{"prefix": "Same?", "unit": "Text", "suffix": " Say yes or no."}, Words: []crosstalk.AnswerWord{{Word: "no", Class: "no"}, {Word: "yes", Class: "yes"}}},
			"de": {Parts: map[string]string{"prefix": "Gleich?", "unit": "Text", "suffix": " Sag ja oder nein."}, Words: []crosstalk.AnswerWord{{Word: "nein", Class: "no"}, {Word: "ja", Class: "yes"}}}}},
		{Name: "sums", Fields: []string{"formula"}, Layout: "{ask} {formula}",
			Instructions: map[string]crosstalk.Instruction{"en": {Parts: map[string]string{"ask": ""}}}},
	}
	items := []crosstalk.Item{
		{ID: "1", Cluster: "c", Labels: map[string]string{"task": "t", "category": "swap", "language": "en"},
			Input: &crosstalk.Input{Task: "t", Texts: map[string][]string{"en": {"One.", "Two {suffix}"}}, Gold: map[string]string{"en": "yes"}}},
		{ID: "x", Cluster: "x", Labels: map[string]string{"task": "t", "language": "en"},
			Input: &crosstalk.Input{Task: "t", Texts: map[string][]string{"en": {"Three three", "Four"}}}},
		{ID: "y", Cluster: "y", Labels: map[string]string{"task": "sums"},
			Input: &crosstalk.Input{Task: "sums", Texts: map[string][]string{"en": {"2 + 3"}, "fr": {"3 + 2"}}, Gold: map[string]string{"en": "five", "fr": "cinq"}}},
		{ID: "z", Cluster: "z", Labels: map[string]string{"task": "sums"}, Input: &crosstalk.Input{Task: "sums", Gold: map[string]string{"en": "7", "fr": "7"}}},
	}
	if !reflect.DeepEqual(s.Tasks, tasks) {
		t.Errorf("tasks %+v\nwant %+v", s.Tasks, tasks)
	}
	for i := range items {
		if i >= s.Items.Len() || !reflect.DeepEqual(s.Items.At(i), items[i]) {
			t.Errorf("item %d: %+v %+v\nwant %+v %+v", i, s.Items.At(i), s.Items.At(i).Input, items[i], items[i].Input)
		}
	}
	if s.Items.Len() != len(items) || s.Clusters() != 4 {
		t.Errorf("%d items, %d clusters", s.Items.Len(), s.Clusters())
	}
	rewritten := strings.Replace(twoWords, "de: {prefix: Gleich?, unit: Text", "en>de: {unit: Text", 1)
	if s, err := ParseTasks("s.yaml", []byte(rewritten)); err != nil || s.Tasks[0].Instructions["en>de"].Words[1].Word != "ja" {
		t.Errorf("with a rewritten instruction: %+v %v", s, err)
	}
	if s, err := ParseTasks("s.yaml", []byte(twoWords)); err != nil || len(s.Tasks) != 1 || s.Items.Len() != 0 {
		t.Errorf("without items: %+v %v", s, err)
	}
}

func TestParseTasksErrors(t *testing.T) {
	const top = "suite: s\ninstrument: consistency\n"
	// line 13 follows
	const items = twoWords + "    items:\n"
	const two = taskHead + "    languages: [en, de]\n    fields: [a]\n    layout: \"{a}{p}\"\n    instructions: {en: {p: x}}\n    items:\n" // line 11 follows
	for text, want := range map[string]string{
		"":             "1: expected suite: NAME",
		"suite: a b\n": `1: "a b" is not a valid suite name; use only letters, digits, -, _ and .`,
		"suite: s\n":   `1: instrument is ""; expected leakage or confusion or consistency`,
		head + "items: [{id: i, concept: c, test: t c, control: t}]\n": " is a leakage suite; expected a consistency suite",
		top:                               "1: expected tasks, found none",
		top + "tasks: t\n":                "3: expected a list, found text",
		top + "tasks: [null]\n":           "3: entry 1 is empty",
		top + "tasks:\n  - fields: [a]\n": "4: a task has no name; expected task: NAME",
		top + "tasks:\n  - task: t\n    fields: [a]\n    layout: \"{a}{p}\"\n    instructions: {en: {p: x}}\n    items: [{id: a}]\n": "4: task t: the language of its items is unknown; expected language",

		items + "      - null\n":                                                            "5: task t: item 1 is empty",
		items + "      - 5\n":                                                               "13: expected a map, found a whole number",
		items + "      - {a: x, b: y}\n":                                                    "13: an item has no id",
		items + "      - {id: [i], a: x, b: y}\n":                                           "13: expected text, found a list",
		items + "      - {id: i, a: x, b: y}\n      - {b: z, id: i}\n":                      `14: duplicate id "i" (first used in line 13)`,
		items + "      - id: i\n        a: x\n        b: y\n        c: z\n":                 `16: item i has the unknown field "c"; expected id, category, cluster, gold, texts, a, b`,
		items + "      - id: i\n        a: x\n":                                             "13: item i has no b in en",
		items + "      - {id: i, a: x, b: \" \"}\n":                                         "13: item i has no b in en",
		items + "      - {id: i, a: [x], b: y}\n":                                           "13: expected text, found a list",
		items + "      - id: i\n        a: x\n        b: y\n        gold: perhaps\n":        `16: item i: gold is the unknown class "perhaps"; choose one of: no, yes`,
		items + "      - {id: i, a: x, b: y, gold: }\n":                                     `13: item i: gold is the unknown class ""; choose one of: no, yes`,
		items + "      - {id: i, a: x, b: y, gold: [yes]}\n":                                "13: expected text, found a list",
		items + "      - {id: i, a: x, b: y, gold: {de: yes}}\n":                            `13: item i has a gold in the unknown language "de"; expected en`,
		items + "      - {id: i, a: x, b: y, gold: {}}\n":                                   "13: item i has no gold in en",
		items + "      - {id: i, a: x, texts: {en: {a: x, b: y}}}\n":                        "13: item i has both texts and fields; expected one of them",
		two + "      - {id: i, a: x}\n":                                                     "11: item i: its task has inputs in en, de; expected texts: {LANGUAGE: {a: ...}}",
		two + "      - {id: i, texts: x}\n":                                                 "11: expected a map, found text",
		two + "      - id: i\n        texts: {en: {a: x}}\n":                                "12: item i has no text in de",
		two + "      - {id: i, texts: {en: {a: x}, de: {a: x}, fr: {a: x}}}\n":              `11: item i has a text in the unknown language "fr"; expected en, de`,
		two + "      - id: i\n        texts:\n          en: {a: x}\n          de: {b: x}\n": `14: item i has the unknown field "b"; expected a`,
		two + "      - id: i\n        texts:\n          en: {a: x}\n          de: {}\n":     "14: item i has no a in de",
		two + "      - {id: i, gold: \"\"}\n":                                               "11: item i: gold is empty",
		two + "      - {id: i, gold: {en: x}}\n":                                            "11: item i has no gold in de",
	} {
		expectError(t, text, want)
	}
	// One thing wrong in a task that is right otherwise.
	for _, c := range [][3]string{
		{"language: en\n", "language: en>de\n", `3: "en>de" is not a valid language; expected a code such as en`},
		{"language: en\n", "version: -2\n", "3: version is -2; expected a whole number from 1"},
		{"language: en\n", "languag: en\n", `3: unknown field "languag"`},
		{"task: t\n", "tusk: t\n", `5: unknown field "tusk"`},
		{"task: t\n", "task: a b\n", `5: "a b" is not a valid task name; use only letters, digits, -, _ and .`},
		{"[no, yes]", "[no]", "6: task t has one class; expected two or more, or none for free answers"},
		{"[no, yes]", "[no, yes, no]", `6: duplicate class "no"`},
		{"[no, yes]", "[no, \" \"]", "6: a class has no name"},
		{"[no, yes]", "[no, null]", "5: a class has no name"},
		{"[no, yes]", "no", "6: expected a list, found text"},
		{"[no, yes]", "[no, yes, unsure]", "10: instruction en has no word for the class unsure"},
		{"    fields: [a, b]\n", "", "5: task t has no fields; expected the names of the texts in an input"},
		{"[a, b]", "[a, a]", `7: duplicate field "a"`},
		{"[a, b]", "[a, a b]", `7: "a b" is not a valid field name; use only letters, digits and _`},
		{"[a, b]", "[a, gold]", "7: a field cannot be named gold: items already have a key of that name"},
		{"[a, b]", "[a, b, c]", "8: the layout does not use the field {c}"},
		{"[a, b]", "[a, b, unit]", "8: the layout names {unit}, which is both a field and a part of the instructions"},
		{"{prefix} ", "{prefx} ", "8: the layout names {prefx}, which is neither a field nor a part of the instructions"},
		{"{prefix} ", "{} {prefix} ", "8: the layout names {}, which is neither"},
		{"{prefix} ", "{words} ", "8: the layout names {words}, which is neither"},
		{"{prefix} ", "", "10: instruction en: the layout does not use {prefix}"},
		{`    layout: "{prefix} {unit} 1: {a} {unit} 2: {b}{suffix}"` + "\n", "", "5: task t has no layout; expected the prompt"},
		{"de: {prefix: Gleich?, ", "de: {", "11: instruction de has no prefix, which the layout uses"},
		{"de: {prefix: Gleich?, ", "de: {prefix: [Gleich], ", "11: expected text, found a list"},
		{"de: {prefix", "en: {prefix", `11: duplicate key "en" (first used in line 10`},
		{"de: {prefix", "en>: {prefix", `11: "en>" is not a valid language of an instruction; expected a code such as en, or en>de for a rewritten instruction`},
		{"de: {prefix", "fr>de: {prefix", `11: instruction fr>de rewrites the one in fr, which the task does not have`},
		{"nein: no", "nein: maybe", `11: instruction de: the word "nein" has the unknown class "maybe"; choose one of: no, yes`},
		{"nein: no", "nein: no, JA: no", `11: instruction de: duplicate word "ja" (first used in line 11)`},
		{"nein: no", "\" \": no", "11: instruction de: an answer word is empty"},
		{"nein: no, ", "", "11: instruction de has no word for the class no"},
		{", words: {nein: no, ja: yes}", "", "11: instruction de has no word for the class no"},
		{"words: {nein: no, ja: yes}", "words: nein", "11: expected a map, found text"},
		{"    classes: [no, yes]\n", "", "9: instruction en has answer words, but the task has no classes"},
	} {
		if !strings.Contains(twoWords, c[0]) {
			t.Fatalf("no %q", c[0])
		}
		expectError(t, strings.Replace(twoWords, c[0], c[1], 1), c[2])
	}
	expectError(t, twoWords+"  - task: t\n", `12: duplicate task "t" (first used in line 5)`)
	expectError(t, taskHead+"    fields: [a]\n    layout: \"{a}\"\n", "5: task t has no instructions")
}

func expectError(t *testing.T, text, want string) {
	t.Helper()
	_, err := ParseTasks("s.yaml", []byte(text))
	if err == nil || !strings.HasPrefix(err.Error(), "s.yaml:"+want) || len(err.Error()) > 300 {
		t.Errorf("%.600s:\n     %v\nwant s.yaml:%s", text, err, want)
	}
}

// Whatever the text, reading tasks ends with an error or tasks and items that
// fit each other.
func FuzzParseTasks(f *testing.F) {
	f.Add([]byte(twoWords + "    items:\n      - {id: i, gold: {en: yes}, texts: {en: {a: x, b: y}}}\n"))
	f.Add([]byte(twoWords + "    data: {format: paws-x, pulled: paws-x, files: a.tsv}\n"))
	f.Add([]byte(taskHead + "    languages: [en, de]\n    fields: [a]\n    layout: \"{a}{p}\"\n    instructions: {en: {p: x}}\n    items:\n      - {id: i, gold: x}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseTasks("s.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Errorf("%v names no file", err)
			}
			return
		}
		tasks := map[string]crosstalk.Task{}
		for _, task := range s.Tasks {
			if task.Name == "" || len(task.Fields) == 0 || task.Layout == "" || len(task.Instructions) == 0 {
				t.Errorf("task %+v", task)
			}
			for _, i := range task.Instructions {
				for _, w := range i.Words {
					if w.Word == "" || !slices.Contains(task.Classes, w.Class) {
						t.Errorf("task %+v", task)
					}
				}
			}
			tasks[task.Name] = task
		}
		for _, item := range s.Items.All() {
			task, ok := tasks[item.Input.Task]
			for _, texts := range item.Input.Texts {
				ok = ok && len(texts) == len(task.Fields)
			}
			for _, gold := range item.Input.Gold {
				ok = ok && (len(task.Classes) == 0 || slices.Contains(task.Classes, gold))
			}
			if !ok || item.ID == "" || item.Cluster == "" {
				t.Errorf("item %+v %+v", item, item.Input)
			}
		}
		Check(s)
	})
}
