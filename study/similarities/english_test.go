package similarities

import (
	"strings"
	"testing"
)

func TestCheckGloss(t *testing.T) {
	for _, c := range []struct {
		names, languages string
		pull, use        string // in the message; "" if gloss serves
	}{
		{"gloss", "zh", "models pull bertscore:bert-base-chinese\n", "--similarity bertscore,"},
		{"gloss", "zh-Hant", "models pull bertscore:bert-base-chinese\n", "--similarity bertscore,"},
		{"bertscore gloss", "he", "models pull bertscore:bert-base-multilingual-cased\n", "--similarity bertscore,"},
		{"gloss", "de fr", "models pull bertscore:bert-base-multilingual-cased\n", "--similarity bertscore:bert-base-multilingual-cased,"},
		{"gloss", "enm", "models pull bertscore:bert-base-multilingual-cased\n", "--similarity bertscore,"},
		{"gloss", "en", "", ""},
		{"gloss", "de en-GB", "", ""},
		{"gloss", "", "", ""},
		{"bertscore sbert", "zh", "", ""},
	} {
		err := CheckGloss(strings.Fields(c.names), "mine", strings.Fields(c.languages))
		switch {
		case c.pull == "" && err != nil:
			t.Errorf("%s for %q: %v", c.names, c.languages, err)
		case c.pull == "":
		case err == nil:
			t.Errorf("%s for %s: no error", c.names, c.languages)
		case !strings.Contains(err.Error(), "the suite mine is in "+strings.Join(strings.Fields(c.languages), ", ")+".") ||
			!strings.Contains(err.Error(), c.pull) || !strings.Contains(err.Error(), c.use):
			t.Errorf("%s for %s: %v; want %q and %q", c.names, c.languages, err, c.pull, c.use)
		}
	}
}
