package wordlist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/measure/segment"
)

func TestEnglish(t *testing.T) {
	list := English()
	if got, want := list.Len(), 83010; got != want {
		t.Errorf("%d words, want %d", got, want)
	}
	for _, word := range []string{"about", "people", "cafeteria", "zoom", "aardvark's", "éclair"} {
		if !list.Contains(word) {
			t.Errorf("%q is missing", word)
		}
	}
	for _, word := range []string{"", "the", "cat", "About", "PEOPLE", "Paris", "about ", "qwxz", "eclair s"} {
		if list.Contains(word) {
			t.Errorf("%q is in the list", word)
		}
	}
}

func TestUses(t *testing.T) {
	for word, want := range map[string]bool{
		"word": true, "don't": true, "1234": false, "a123": true, "été": false, "étés": true,
		"iPod": false, "Word": false, "ǅabc": false, "ⅷabc": true, "ⅧabC": false, "ªªªª": true, "": false,
		"漢字漢字": false,
	} {
		if got := Uses(word); got != want {
			t.Errorf("Uses(%q) = %v, want %v", word, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	list, err := Read(strings.NewReader("\uFEFFalpha\r\nBeta\n\n  gamma\t\ncat\nalpha\ndelta"))
	if err != nil {
		t.Fatal(err)
	}
	if list.Len() != 3 || !list.Contains("alpha") || !list.Contains("gamma") || !list.Contains("delta") {
		t.Errorf("got %v, want alpha, gamma and delta", list.words())
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(file, []byte("alpha\ngamma\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if list.Len() != 2 || list.Name() != "words@17cbbec0" { // printf 'alpha\ngamma\n' | sha256sum
		t.Errorf("%d words, name %q", list.Len(), list.Name())
	}
	if name, want := English().Name(), "english@"+readEnglish().Name(); name != want {
		t.Errorf("the embedded list is called %s; expected %s", name, want)
	}
	if err := os.WriteFile(file, []byte("alpha\nice cream\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.HasPrefix(err.Error(), file+": line 2: ") {
		t.Errorf("a list with a line of two words: %v", err)
	}
	if _, err := Load(file + ".gz"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	for input, want := range map[string]string{
		"":                        "0 lines without a lower-case word",
		"Paris\ncat\n":            "2 lines without a lower-case word",
		"word\ncaf\xe9s\n":        `line 2: "caf\xe9s" is not valid UTF-8`,
		"word\n\nice cream\n":     `line 3: "ice cream" is not a word`,
		"word\nab\x00cd\n":        `line 2: "ab\x00cd" is not a word`,
		"word\n" + long:           "line 2: longer than 1024 bytes",
		"word\nwords\n\n" + long:  "line 4: longer than 1024 bytes",
		"word,frequency\nword 12": `line 2: "word 12" is not a word`,
	} {
		if _, err := Read(strings.NewReader(input)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Read(%.20q): %v, want %q", input, err, want)
		}
	}
}

var long = strings.Repeat("a", maxLine+1)

// answer is an answer of the reference decisions.
type answer struct {
	Language string
	Lines    []struct {
		Text    string
		Tokens  int
		EnWords []string `json:"en_words"`
	}
}

// TestGolden reads the published list and finds with it, in the answers of
// four models in the languages with spaces, the very words that the published
// script found; and with the embedded list as good as the same decisions.
func TestGolden(t *testing.T) {
	published, err := Read(shared.Open(t, "lcb/words"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(list *List, text string) []string {
		return slices.DeleteFunc(segment.Words(segment.Space{}, text), func(w string) bool { return !list.Contains(w) })
	}
	answers, agree := 0, 0
	for _, model := range []string{"command-r-base", "command-r-plus", "gpt-3.5-turbo", "llama-3-instruct"} {
		for _, a := range shared.Lines[answer](t, "lcb/golden/"+model+".jsonl.gz") {
			if !slices.Contains([]string{"ar", "hi", "ko", "ru"}, a.Language) {
				continue
			}
			want, got := false, false
			for _, line := range a.Lines {
				if n := len(segment.Words(segment.Space{}, line.Text)); n != line.Tokens {
					t.Errorf("%s: %d words in %q, want %d", model, n, line.Text, line.Tokens)
				}
				if line.Tokens < 5 {
					continue
				}
				if words := find(published, line.Text); !slices.Equal(words, line.EnWords) {
					t.Errorf("%s: in %q the words %q, want %q", model, line.Text, words, line.EnWords)
				}
				want = want || len(line.EnWords) > 0
				got = got || len(find(English(), line.Text)) > 0
			}
			answers++
			if got == want {
				agree++
			}
		}
	}
	t.Logf("embedded list: same decision on %d of %d answers", agree, answers)
	if float64(agree) < 0.999*float64(answers) {
		t.Errorf("embedded list: same decision on %d of %d answers, want 99.9 %%", agree, answers)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "word\n", "\uFEFFword\r\nother", "caf\xe9\n", "a b\n", "\x00", "ªªªª\nⅧⅧⅧⅧ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		list, err := Read(strings.NewReader(input))
		if err != nil {
			return
		}
		if list.Len() == 0 {
			t.Error("an empty list without an error")
		}
		for word := range list.words() {
			if !Uses(word) || !strings.Contains(input, word) {
				t.Errorf("%q is in the list", word)
			}
		}
	})
}
