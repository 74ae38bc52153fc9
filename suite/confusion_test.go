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
