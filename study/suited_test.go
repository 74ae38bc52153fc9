package study

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"crosstalk/instrument/leakage"
)

// What a suite says of its answers applies unless the user says otherwise.
func TestSuited(t *testing.T) {
	const template = "suite: s\ninstrument: leakage\n%stemplates:\n  - {id: t, test: \"A {concept}. He\", control: He, neutral: [a], fillings: [{concept: c, leaks: [b]}]}\n"
	const around = "suite: s\ninstrument: leakage\ntemplates:\n  - {id: t, carrier: note, prompt: Why?, test: \"A {concept}.\", control: He, neutral: [a], fillings: [{concept: c, leaks: [b]}]}\n"
	plain, open := fmt.Sprintf(template, ""), fmt.Sprintf(template, "max_tokens: 300\nwindows: sentence\n")
	for _, c := range []struct {
		name, text string
		of         Leakage
		tokens     int
		post       leakage.Post
		windows    string
	}{
		{"plain", plain, Leakage{}, 100, leakage.Sentence, ""},
		{"open", open, Leakage{}, 300, leakage.None, leakage.Sentences},
		{"open, the user's", open, Leakage{Sweep: Sweep{MaxTokens: 50}, Options: leakage.Options{Post: "stop", Windows: "none"}}, 50, leakage.Stop, ""},
		{"open, a paper's", open, Leakage{Options: leakage.Options{Protocols: []string{"smilga-2025"}}}, 300, leakage.None, leakage.Sentences},
		{"around", around, Leakage{}, 100, leakage.None, ""},
		{"around, the user's", around, Leakage{Options: leakage.Options{Post: "stop", Windows: "sentence"}}, 100, leakage.Stop, leakage.Sentences},
	} {
		c.of.Suite = filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(c.of.Suite, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := c.of.Open()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p := s.Protocols[0]
		rules := p.Rules.(leakage.Rules)
		if tokens := p.Conditions[0].Prompting.Decoding.MaxTokens; tokens != c.tokens || rules.Post != c.post ||
			rules.Windows != c.windows {
			t.Errorf("%s: %d tokens, post %s, windows %q; want %d, %s, %q", c.name, tokens, rules.Post, rules.Windows, c.tokens, c.post, c.windows)
		}
	}
}
