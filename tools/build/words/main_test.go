package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"crosstalk/measure/langid/words/levels"
)

// The embedded file is what the builder makes.
func TestCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	command.Current(t)
}

func TestUnpackList(t *testing.T) {
	// [{"format":"cB","version":1}, [], ["the"], ["of", "and"]]
	data := []byte("\x94\x82\xa6format\xa2cB\xa7version\x01\x90\x91\xa3the\x92\xa2of\xd9\x03and")
	words, err := unpackList(data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range words {
		got = append(got, w.text)
	}
	if strings.Join(got, " ") != "the of and" || words[0].frequency < 0.977 || words[0].frequency > 0.978 {
		t.Errorf("%v", words)
	}
	for n := range len(data) - 1 {
		if _, err := unpackList(data[:n]); err == nil {
			t.Errorf("%d bytes of %d were read", n, len(data))
		}
	}
}

func TestKeep(t *testing.T) {
	words := []word{{"der", 0.1}, {"и", 0.1}, {"don't", 0.1}, {"b2b", 0.1}, {"straße", 0.1}, {"last", 0.1}}
	var got []string
	for _, w := range keep(words, []*unicode.RangeTable{unicode.Latin}, 3) {
		got = append(got, w.text)
	}
	if strings.Join(got, " ") != "der don't straße" {
		t.Errorf("%q", got)
	}
}

func TestDictionary(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, dictionaries["tr"])
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "! [P:Punc]\nakıl [A:LastVowelDrop]\ngelmek\nAnkara [P:Noun]\nev\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dictionary(nil, dir, "tr"); err == nil || !strings.Contains(err.Error(), "take the version") {
		t.Errorf("another file: error %v", err)
	}
	var got []string
	for _, w := range unlistedWords(text, []word{{"gelmek", 1e-5}}) {
		got = append(got, w.text)
	}
	if strings.Join(got, " ") != "akıl gel" {
		t.Errorf("%q", got)
	}
}

// A word that is as frequent as quotations explain goes; one that is more frequent stays.
func TestClean(t *testing.T) {
	english := make([]word, 60)
	german := make([]word, 60, 62)
	for i := range english {
		english[i] = word{string(rune('a'+i%26)) + strings.Repeat("x", i/26), 0.01}
		german[i] = word{english[i].text, 0.01 * 0.005}
	}
	english = append(english, word{"weather", 1e-4}, word{"login", 1e-5})
	german = append(german, word{"weather", 5e-7}, word{"login", 5e-6})
	lists := [][]word{german, english}
	clean(lists, lists, []string{"de", "en"}, &bytes.Buffer{})
	var got []string
	for _, w := range lists[0] {
		got = append(got, w.text)
	}
	if strings.Join(got, " ") != "login" {
		t.Errorf("%q", got)
	}
}

// Shares of the letters after a context and the rest for unseen ones add up to about one.
func TestLetters(t *testing.T) {
	shares, rests := letters([]word{{"abab", 0.5}, {"abc", 0.1}}, 1000)
	sum := 0.0
	for _, next := range []string{"a", "c", "$"} {
		if level, ok := shares[reversed([]rune("b"+next)).Sum()]; ok {
			sum += levels.Share(int(level))
		}
	}
	rest, ok := rests[reversed([]rune("b")).Sum()]
	if !ok || sum < 0.8 || sum > 1.15 || levels.Share(int(rest)) > 0.5 {
		t.Errorf("after b: %v in all, rest %v, %v", sum, rest, ok)
	}
}

func TestLevelOf(t *testing.T) {
	for p, want := range map[float64]int{1: 0, 0.1: 10, 1e-6: 60, 0: 254, 2: 0, 1e-30: 254} {
		if got := levelOf(p); got != want {
			t.Errorf("level of %g is %d, want %d", p, got, want)
		}
	}
}

// Words of texts are counted in lower case, those of held-out origins are not.
func TestCount(t *testing.T) {
	list := count(map[string]string{"Ava l’aken, ava!": "office", "Sulge AKEN ja ava": "help", "sulge sulge": "gnome"})
	got := ""
	for _, w := range list {
		got += fmt.Sprintf("%s %.3f ", w.text, w.frequency)
	}
	if got != "ava 0.429 " {
		t.Errorf("%q", got)
	}
}

// English words go from the words of a program's texts unless they are far more frequent there.
func TestUntranslated(t *testing.T) {
	english := []word{{"settings", 1e-4}, {"mail", 1e-6}, {"son", 1e-3}, {"data", 2e-4}}
	got := ""
	for _, w := range untranslated([]word{{"settings", 1e-3}, {"mail", 1e-3}, {"son", 1e-4}, {"data", 5e-3}, {"ayar", 1e-3}}, english) {
		got += w.text + " "
	}
	if got != "mail son data ayar " {
		t.Errorf("%q", got)
	}
}

func TestInCyrillic(t *testing.T) {
	if got := inCyrillic([]word{{"ljubičnjak", 1}, {"džak", 1}, {"đuro", 1}}); got[0].text+" "+got[1].text+" "+got[2].text != "љубичњак џак ђуро" {
		t.Errorf("%v", got)
	}
}

func TestSourceOf(t *testing.T) {
	for language, want := range map[string]string{"de": "large_de", "no": "large_nb", "hr": "small_sh", "tl": "small_fil", "et": "", "sr": "small_sh"} {
		if got := sourceOf(language); got != want {
			t.Errorf("%s: %q, want %q", language, got, want)
		}
	}
}
