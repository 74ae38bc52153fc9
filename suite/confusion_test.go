package suite

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"crosstalk"
)

const confusionHead = "suite: s\ninstrument: confusion\n"

// What the embedded suite promises: 15 languages, enough prompts of its own in
// each, and every cross-lingual prompt for every language but English.
func TestEmbeddedConfusion(t *testing.T) {
	s, err := Load("confusion")
	if err != nil {
		t.Fatal(err)
	}
	if s.License != "Apache-2.0" || len(s.Languages()) != 15 || len(s.Demonstrations) != 15 {
		t.Errorf("licence %s, %d languages, demonstrations in %d", s.License, len(s.Languages()), len(s.Demonstrations))
	}
	count := map[[2]string]int{}
	places, lengths := map[string]int{}, map[string]int{}
	latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	for _, i := range s.Items.All() {
		p, l := i.Prompt, i.Labels
		count[[2]string{l["task"], l["language"]}]++
		lengths[l["length"]]++
		if p.Language != l["language"] || l["source"] != "simple" && l["source"] != "complex" || l["length"] == "" {
			t.Errorf("%s: language %s, labels %v", i.ID, p.Language, l)
		}
		if strings.Contains(p.Text, "{") || strings.TrimSpace(p.Text) != p.Text {
			t.Errorf("%s: %q", i.ID, p.Text)
		}
		if l["task"] == "monolingual" {
			if i.Cluster != i.ID || p.Placed != nil || strings.Contains("ar hi ja ko ru zh", p.Language) && strings.ContainsFunc(p.Text, latin) {
				t.Errorf("%s: cluster %s, placed %v, %q", i.ID, i.Cluster, p.Placed, p.Text)
			}
			continue
		}
		if len(p.Placed) != 3 || i.ID != i.Cluster+"/"+p.Language {
			t.Errorf("%s: cluster %s, placed %v", i.ID, i.Cluster, p.Placed)
		}
		for place, text := range p.Placed {
			if text == p.Text {
				places[place]++
			}
		}
	}
	for _, language := range s.Languages() {
		mono, cross := count[[2]string{"monolingual", language}], count[[2]string{"crosslingual", language}]
		if mono < 20 || cross < 40 && language != "en" || cross > 0 && language == "en" || len(s.Demonstrations[language]) < 3 {
			t.Errorf("%s: %d monolingual and %d cross-lingual prompts, %d demonstrations", language, mono, cross, len(s.Demonstrations[language]))
		}
	}
	// Each place is drawn about as often: 616 items, a third each, within 3 standard deviations.
	for _, place := range []string{"start", "end", "integrated"} {
		if n := places[place]; n < 170 || n > 241 {
			t.Errorf("%s was drawn %d times of 616", place, n)
		}
	}
	if len(lengths) < 3 {
		t.Errorf("lengths %v", lengths)
	}
}

const confusionText = confusionHead + `monolingual:
  pt-BR:
    - {id: pt-1, source: simple, prompt: Oi?}
  fr:
    - id: fr-1
      prompt: "Ça va ? "
crosslingual:
  - {id: x-1, source: simple, prompt: Why?, integrated: "Say in {language} why."}
  - {id: x-2, prompt: How?}
names: {de: German, zh-Hans: Chinese}
amendments: ["Answer in {language}.", "Use {language}!"]
own_amendments:
  de: [Antworte auf Deutsch.]
demonstrations:
  pt-BR: [{question: a, answer: b}, {question: c, answer: d}]
`

func TestParseConfusion(t *testing.T) {
	s, err := Parse("s.yaml", []byte(confusionText))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range s.Items.All() {
		ids = append(ids, i.ID)
	}
	if want := []string{"pt-1", "fr-1", "x-1/de", "x-1/zh-Hans", "x-2/de", "x-2/zh-Hans"}; !reflect.DeepEqual(ids, want) {
		t.Fatalf("items %q, want %q", ids, want)
	}
	want := crosstalk.Item{ID: "pt-1", Cluster: "pt-1", Prompt: &crosstalk.Prompt{Text: "Oi?", Language: "pt"},
		Labels: map[string]string{"task": "monolingual", "language": "pt-BR", "source": "simple", "length": "up to 10"}}
	if !reflect.DeepEqual(s.Items.At(0), want) {
		t.Errorf("%+v, want %+v", s.Items.At(0), want)
	}
	x := s.Items.At(3)
	if x.Cluster != "x-1" || x.Prompt.Language != "zh" || x.Prompt.Tag != "zh-Hans" || x.Labels["language"] != "zh-Hans" || x.Labels["task"] != "crosslingual" {
		t.Errorf("%+v %+v", x, x.Prompt)
	}
	placed := x.Prompt.Placed
	if placed["integrated"] != "Say in Chinese why." {
		t.Errorf("integrated: %q", placed["integrated"])
	}
	wording := strings.TrimPrefix(placed["end"], "Why? ")
	if placed["start"] != wording+" Why?" || wording != "Answer in Chinese." && wording != "Use Chinese!" {
		t.Errorf("start %q, end %q", placed["start"], placed["end"])
	}
	if len(placed) != 3 || !slices.Contains(slices.Collect(maps.Values(placed)), x.Prompt.Text) {
		t.Errorf("%q is at none of the places %q", x.Prompt.Text, placed)
	}
	if p := s.Items.At(4).Prompt; len(p.Placed) != 2 || p.Text != p.Placed["start"] && p.Text != p.Placed["end"] {
		t.Errorf("%+v", p)
	}
	if d := s.Demonstrations["pt"]; len(s.Demonstrations) != 1 ||
		!reflect.DeepEqual(d, []crosstalk.Demonstration{{Question: "a", Answer: "b"}, {Question: "c", Answer: "d"}}) {
		t.Errorf("demonstrations %v", s.Demonstrations)
	}
}

// What is drawn for an item stays when the file changes around it, and the
// wordings of a language are all drawn.
func TestConfusionDraws(t *testing.T) {
	parse := func(text string) map[string]crosstalk.Item {
		s, err := Parse("s.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		items := map[string]crosstalk.Item{}
		for _, i := range s.Items.All() {
			items[i.ID] = i
		}
		return items
	}
	one := parse(confusionText)
	more := parse(strings.ReplaceAll(strings.Replace(confusionText, "crosslingual:\n", "crosslingual:\n  - {id: x-0, prompt: When?}\n", 1), "names: {", "names: {it: Italian, "))
	for id, item := range one {
		if !reflect.DeepEqual(item, more[id]) {
			t.Errorf("%s was %+v, now %+v", id, item.Prompt, more[id].Prompt)
		}
	}
	s, err := Load("confusion")
	if err != nil {
		t.Fatal(err)
	}
	wordings := map[string]bool{}
	for _, i := range s.Items.All() {
		if i.Labels["task"] == "crosslingual" && i.Prompt.Language == "fr" {
			a, b := i.Prompt.Placed["start"], i.Prompt.Placed["end"]
			n := len(a)
			for !strings.HasSuffix(b, a[:n]) { // what the one begins with, the other ends with
				n--
			}
			wordings[a[:n]] = true
		}
	}
	if len(wordings) != 7 {
		t.Errorf("%d wordings for French, want 7: %q", len(wordings), slices.Sorted(maps.Keys(wordings)))
	}
}

func TestConfusionIDIsTheContents(t *testing.T) {
	id := func(old, new string) string {
		t.Helper()
		if !strings.Contains(confusionText, old) {
			t.Fatalf("no %q", old)
		}
		s, err := Parse("s.yaml", []byte(strings.ReplaceAll(confusionText, old, new)))
		if err != nil {
			t.Fatal(err)
		}
		return s.ID()
	}
	base := id("Oi?", "Oi?")
	if got := id("source: simple", "source: other"); got != base {
		t.Error("another label changes the id")
	}
	for old, new := range map[string]string{"Oi?": "Oi!", "in {language} why": "why in {language}", "answer: b": "answer: c", "pt-1": "pt-2"} {
		if got := id(old, new); got == base {
			t.Errorf("%q for %q does not change the id", new, old)
		}
	}
}

func TestParseConfusionErrors(t *testing.T) {
	const mono = "monolingual:\n  fr:\n"
	const cross = "crosslingual:\n  - {id: x, prompt: Why?}\n"
	for text, want := range map[string]string{
		confusionHead:                                                                                                                      "1: expected monolingual or crosslingual prompts, found neither",
		confusionHead + "prompt: {chat: a}\n":                                                                                              `3: unknown field "prompt"`,
		confusionHead + "monolingual: [a]\n":                                                                                               "3: expected a map, found a list",
		confusionHead + "monolingual: {fr: a}\n":                                                                                           "3: expected a list, found text",
		confusionHead + "monolingual:\n  fr:\n  de: []\n":                                                                                  "4: monolingual: fr has no prompts",
		confusionHead + "monolingual:\n  français: [{id: a, prompt: b}]\n":                                                                 `4: monolingual: "français" is not a valid language; expected a code such as fr, zh or pt-BR`,
		confusionHead + mono + "    - {id: a, prompt: b, before: [{user: c}, {user: ' '}]}\n":                                              "5: prompt a: an entry of before is empty; expected user or assistant, or both",
		confusionHead + mono + "    - {id: a, prompt: b, before: [{tool: c}]}\n":                                                           `5: unknown field "tool"`,
		confusionHead + mono + "    - {id: a}\n":                                                                                           "5: prompt a has no text",
		confusionHead + mono + "    - {prompt: a}\n":                                                                                       "5: a prompt has no id",
		confusionHead + mono + "    - null\n":                                                                                              "4: a prompt is empty",
		confusionHead + mono + "    - {id: a, prompt: b, colour: red}\n":                                                                   `5: unknown field "colour"`,
		confusionHead + mono + "    - {id: a, prompt: b}\n    - {id: a, prompt: c}\n":                                                      `6: duplicate id "a" (first used in line 5)`,
		confusionHead + mono + "    - {id: a, prompt: b, integrated: c}\n":                                                                 "5: prompt a: only cross-lingual prompts can have integrated",
		confusionHead + "crosslingual: {}\n":                                                                                               "3: expected a list, found a map",
		confusionHead + cross:                                                                                                              "3: crosslingual needs names: the languages to answer in, each with the text that replaces {language}",
		confusionHead + cross + "names: {fr: French}\n":                                                                                    "4: prompt x does not say to answer in fr: expected amendments or integrated",
		confusionHead + cross + "names: {fr: }\n":                                                                                          "5: names: fr has no name",
		confusionHead + cross + "names: {fr: [a]}\n":                                                                                       "5: expected text, found a list",
		confusionHead + cross + "names:\n  x1: French\n":                                                                                   `6: names: "x1" is not a valid language; expected a code`,
		confusionHead + cross + "names: {fr: French}\namendments:\n  - Answer!\n":                                                          "7: an amendment contains {language} 0 times; expected once",
		confusionHead + cross + "names: {fr: French}\nown_amendments:\n  de: [a]\n":                                                        "7: own_amendments: de is not in names",
		confusionHead + cross + "names: {fr: French}\nown_amendments:\n  fr: [\"\"]\n":                                                     "7: own_amendments: an entry of fr is empty or contains {language}",
		confusionHead + cross + "names: {fr: French}\nown_amendments:\n  fr: [\"{language}!\"]\n":                                          "7: own_amendments: an entry of fr is empty or contains {language}",
		confusionHead + "crosslingual: [{id: x, prompt: \"In {language}?\"}]\nnames: {fr: French}\n":                                       "3: prompt x contains {language}, which only integrated may contain",
		confusionHead + "crosslingual: [{id: x, prompt: a, integrated: b}]\nnames: {fr: French}\n":                                         "3: prompt x: integrated contains {language} 0 times; expected once",
		confusionHead + "crosslingual: [null]\nnames: {fr: French}\n":                                                                      "3: a prompt is empty",
		confusionHead + mono + "    - {id: a, prompt: b}\ndemonstrations:\n  fr: [{question: a}]\n":                                        "7: demonstrations: an entry of fr lacks its question or answer",
		confusionHead + mono + "    - {id: a, prompt: b}\ndemonstrations:\n  fr: [null]\n":                                                 "7: demonstrations: an entry of fr lacks its question or answer",
		confusionHead + mono + "    - {id: a, prompt: b}\ndemonstrations:\n  f: [{}]\n":                                                    `7: demonstrations: "f" is not a valid language; expected a code`,
		confusionHead + mono + "    - {id: a, prompt: b}\n  fr:\n    - {id: c, prompt: d}\n":                                               `6: duplicate key "fr" (first used in line 4)`,
		confusionHead + cross + "names: {fr: French, de: German}\namendments: [\"{language}\"]\n" + mono + "    - {id: x/de, prompt: b}\n": `4: duplicate id "x/de" (first used in line 9)`,
	} {
		_, err := Parse("s.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "s.yaml:"+want) || len(err.Error()) > 300 {
			t.Errorf("%.200q:\n     %v\nwant s.yaml:%s", text, err, want)
		}
	}
}

func TestCheckConfusion(t *testing.T) {
	s, err := Parse("s.yaml", []byte(confusionText+"  fr: [{question: a, answer: b}]\n  de: [{question: a, answer: b}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Items.Add(crosstalk.Item{ID: "again", Cluster: "again", Labels: map[string]string{"language": "pt"},
		Prompt: &crosstalk.Prompt{Text: "Oi?", Language: "pt"}})
	want := []string{"again: same prompt as pt-1",
		"pt: too few items for a reliable figure (1)",
		"crosslingual de: too few items for a reliable figure (1)", "crosslingual zh: too few items for a reliable figure (1)",
		"crosslingual simple de: too few items for a reliable figure (1)", "crosslingual simple zh: too few items for a reliable figure (1)",
		"monolingual fr: too few items for a reliable figure (1)", "monolingual simple pt: too few items for a reliable figure (1)",
		"zh-Hans: no demonstrations, unlike other languages", "7 items: intervals need at least 30"}
	if got := Check(s); !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A prompt can have a system message and continue a conversation; both are part of
// what is asked.
func TestPromptBefore(t *testing.T) {
	s, err := Parse("x.yaml", []byte(confusionHead+"monolingual:\n  de:\n    - {id: a, prompt: d, system: s, before: [{user: b, assistant: c}, {user: e}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []crosstalk.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "b"}, {Role: "assistant", Content: "c"}, {Role: "user", Content: "e"}}
	if got := s.Items.At(0).Prompt.Before; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	other, err := Parse("x.yaml", []byte(confusionHead+"monolingual:\n  de:\n    - {id: a, prompt: d, system: t, before: [{user: b, assistant: c}, {user: e}]}\n"))
	if err != nil || other.ID() == s.ID() {
		t.Errorf("the suites have one id, %s, %v", s.ID(), err)
	}
}
