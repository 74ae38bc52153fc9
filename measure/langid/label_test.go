package langid

import (
	"testing"

	"golang.org/x/text/language"
)

func TestLabelOf(t *testing.T) {
	for _, c := range []struct {
		code, want string
		labels     []string
	}{
		{"de", "de", []string{"en", "de"}},
		{"nb", "no", []string{"no", "nn"}},
		{"no", "nb", []string{"nb"}},
		{"nn", "", []string{"no"}}, // is written otherwise
		{"fil", "tl", []string{"tl"}},
		{"tl", "fil", []string{"fil"}},
		{"cmn", "zh", []string{"zh", "yue"}},
		{"yue", "", []string{"zh"}},
		{"prs", "fa", []string{"fa"}},
		{"xx", "", []string{"en"}},
	} {
		if got, ok := LabelOf(c.code, c.labels); got != c.want || ok != (c.want != "") {
			t.Errorf("%s of %v: %q, %v; want %q", c.code, c.labels, got, ok, c.want)
		}
	}
}

func TestScript(t *testing.T) {
	for tag, want := range map[string]string{"zh": "", "zh-TW": "Hant", "zh-HK": "Hant", "zh-CN": "Hans", "zh-SG": "Hans", "zh-Hant": "Hant", "zh-Hans-TW": "Hans",
		"cmn-Hant": "Hant", "zh-Latn": "", "zh-u-co-pinyin": "", "sr": "", "sr-RS": "", "sr-ME": "", "sr-Latn": "Latn", "sr-Cyrl-ME": "Cyrl", "sh": "Latn",
		"pt-BR": "", "uz-Cyrl": "", "en": "", "und": ""} {
		if got := Script(language.MustParse(tag)); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// All spellings of a language are one.
func TestCanonical(t *testing.T) {
	for tag, want := range map[string][2]string{"de": {"de", "de"}, "de-DE": {"de", "de-DE"}, "DE_de": {"de", "de-DE"},
		" deu ": {"de", "de"}, "German": {"de", "de"}, "zh-Hans": {"zh", "zh-Hans"}, "zh_tw": {"zh", "zh-TW"}, "cmn": {"zh", "cmn"},
		"chinese": {"zh", "zh"}, "yue": {"yue", "yue"}, "nb-NO": {"no", "nb-NO"}, "Norwegian": {"no", "no"}, "nn": {"nn", "nn"}, "iw": {"he", "he"},
		"fil": {"tl", "fil"}, "Tagalog": {"tl", "fil"}, "": {"", ""}, "und": {"und", "und"}, "und-Hant": {"und-Hant", "und-Hant"},
		"Pig Latin": {"Pig Latin", "Pig Latin"}} {
		if code, locale := Canonical(tag); code != want[0] || locale != want[1] {
			t.Errorf("%q: %q, %q; want %q", tag, code, locale, want)
		}
		code, locale := Canonical(tag)
		if again, _ := Canonical(locale); again != code {
			t.Errorf("%q: %q, but %q of %q", tag, code, again, locale)
		}
	}
}
