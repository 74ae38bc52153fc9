package leakage

import (
	"crosstalk/internal/testing/golden"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

const prompt = "He likes koalas. His favourite food is"

// What is scored of answers, by each way to cut them, in languages of many scripts.
func TestPost(t *testing.T) {
	golden.Cases(t, "testdata/post.txt", func(input string) string {
		c := struct {
			Post                   Post
			Prompt, Prefix, Answer string
		}{Prompt: prompt}
		if err := json.Unmarshal([]byte(input), &c); err != nil {
			t.Fatal(err)
		}
		return c.Post.apply(c.Answer, strings.TrimSpace(c.Prompt), c.Prefix)
	})
}

func TestRemove(t *testing.T) {
	for _, c := range []struct {
		text  string
		words []string
		want  string
	}{
		{"Coral saw a coral reef.", []string{"Coral"}, "saw a reef."},
		{"Coral's hat, CORAL’S shoes", []string{"Coral"}, "hat, shoes"},
		{"Coral Coral Coral, Coral", []string{"Coral"}, ","},
		{"corals and coralline stay", []string{"Coral"}, "corals and coralline stay"},
		{"\"Coral!\" (Coral)", []string{"coral"}, "\"!\" ()"},
		{"coral-red", []string{"coral"}, "-red"},
		{"a blue  pan, Blue\npans, blue pan's lid", []string{"blue pan"}, "a , Blue pans, lid"},
		{"blue blue pan pan", []string{"blue pan"}, "blue pan"}, // the remainder is no occurrence
		{"a b a", []string{"a", "b"}, ""},
		{"  two  spaces ", []string{"x"}, "two spaces"},
		{"  two  spaces ", nil, "  two  spaces "},
		{"text", []string{"", " ", "\xff"}, "text"},
		{"Zoë, zoë and Zoe", []string{"Zoë"}, ", and Zoe"},
		{"Jose\u0301 is not Jose", []string{"Jose"}, "Jose\u0301 is not"}, // an accent belongs to its word
		{"कमला और कमल", []string{"कमल"}, "कमला और"},
		{"小红的帽子,红", []string{"小红"}, "的帽子,红"},
		{"1.5 (a+b)*", []string{"(a+b)*"}, "1.5"},
		{"a a a b", []string{"a b"}, "a a"},
		{"ba a b a b", []string{"a b"}, "ba"},
	} {
		if got := remove(c.text, c.words); got != c.want {
			t.Errorf("remove(%q, %q) = %q, want %q", c.text, c.words, got, c.want)
		}
	}
}

// No text makes post-processing panic, and it only ever cuts: what is left is
// no longer than the answer, has no white space around it and is as valid.
func FuzzPost(f *testing.F) {
	f.Add(prompt+" leaves. b", prompt, "koalas")
	f.Add("J. K. a... b… 1. z.B. etc. no. 5", "", "a b")
	f.Add("\"**他喜欢考拉。\xff\xfe", "他", "考拉's")
	f.Add("İİ. ſ's K", "i̇", "ss (?i)[")
	f.Fuzz(func(t *testing.T, answer, prompt, word string) {
		for _, p := range Posts {
			got := remove(p.apply(answer, prompt, word), []string{word, "a b"})
			if len(got) > len(answer) || got != strings.TrimSpace(got) {
				t.Errorf("%s(%q, %q) = %q", p, answer, prompt, got)
			}
			if utf8.ValidString(answer) && utf8.ValidString(prompt) && !utf8.ValidString(got) {
				t.Errorf("%s(%q, %q) = %q: not valid UTF-8", p, answer, prompt, got)
			}
		}
	})
}
