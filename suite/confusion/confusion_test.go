package confusion_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"
)

type prompt struct {
	ID         string `yaml:"id"`
	Source     string `yaml:"source"`
	Prompt     string `yaml:"prompt"`
	Integrated string `yaml:"integrated"`
}

type positions struct {
	Start []string `yaml:"start"`
	End   []string `yaml:"end"`
}

type file struct {
	Suite          string               `yaml:"suite"`
	Instrument     string               `yaml:"instrument"`
	Version        int                  `yaml:"version"`
	License        string               `yaml:"license"`
	Description    string               `yaml:"description"`
	Monolingual    map[string][]prompt  `yaml:"monolingual"`
	Crosslingual   []prompt             `yaml:"crosslingual"`
	Amendments     positions            `yaml:"amendments"`
	OwnAmendments  map[string]positions `yaml:"own_amendments"`
	Names          map[string]string    `yaml:"names"`
	Demonstrations map[string][]struct {
		Q string `yaml:"q"`
		A string `yaml:"a"`
	} `yaml:"demonstrations"`
}

func TestPrompts(t *testing.T) {
	text, err := os.ReadFile("confusion.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	ids, texts := map[string]bool{}, map[string]bool{}
	check := func(p prompt) {
		if p.ID == "" || ids[p.ID] || p.Prompt == "" || texts[p.Prompt] || p.Source != "simple" && p.Source != "complex" {
			t.Errorf("%s: no id or prompt, one that was there before, or the source %q", p.ID, p.Source)
		}
		ids[p.ID], texts[p.Prompt] = true, true
	}
	const languages = 15
	if len(f.Monolingual) != languages || len(f.Names) != languages || len(f.OwnAmendments) != languages || len(f.Demonstrations) != languages {
		t.Errorf("%d, %d, %d, %d languages; want %d", len(f.Monolingual), len(f.Names), len(f.OwnAmendments), len(f.Demonstrations), languages)
	}
	latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	for language, prompts := range f.Monolingual {
		if len(prompts) < 20 || len(f.Demonstrations[language]) < 3 {
			t.Errorf("%s: %d prompts, %d demonstrations", language, len(prompts), len(f.Demonstrations[language]))
		}
		for _, p := range prompts {
			check(p)
			if strings.Contains("ar hi ja ko ru zh", language) && strings.ContainsFunc(p.Prompt, latin) {
				t.Errorf("%s: Latin letters in %q", p.ID, p.Prompt)
			}
		}
	}
	if len(f.Crosslingual) < 40 {
		t.Errorf("%d cross-lingual prompts", len(f.Crosslingual))
	}
	for _, p := range f.Crosslingual {
		check(p)
		if strings.Count(p.Integrated, "{language}") != 1 {
			t.Errorf("%s: integrated: %q", p.ID, p.Integrated)
		}
	}
	for _, a := range append(f.Amendments.Start, f.Amendments.End...) {
		if strings.Count(a, "{language}") != 1 {
			t.Errorf("amendment %q", a)
		}
	}
}
