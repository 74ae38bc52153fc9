package guard

import (
	"strings"
	"testing"

	"crosstalk/measure/langid"
)

// labelled identifies one language, which no other identifier may know.
type labelled struct{ guess langid.Guess }

func (labelled) Name() string                   { return "labelled" }
func (l labelled) Identify(string) langid.Guess { return l.guess }
func (labelled) Labels() []string               { return []string{"yo"} }

// The languages of an identifier can be expected besides those that are always known.
func TestLanguagesOfIdentifier(t *testing.T) {
	known := Checker{Identifier: labelled{langid.Guess{Language: "yo", Probability: 1}}}
	for language, want := range map[string][2]bool{"yo": {true, false}, "": {true, true}, User: {true, true}, "de": {true, true},
		"nb": {true, true}, "nn": {true, true}, "bs": {true, true}, "tlh": {false, false}, "x!": {false, false}} {
		for i, k := range []Checker{known, {}} {
			err := k.CheckLanguage(language)
			if (err == nil) != want[i] || err != nil && !strings.HasPrefix(err.Error(), "language: ") {
				t.Errorf("%q, %d: %v", language, i, err)
			}
		}
	}
}

// A request without a language has the default one.
func TestDefaultLanguage(t *testing.T) {
	for data, want := range map[string]string{`{"text":"a"}`: "de", `{"text":"a","language":"fr"}`: "fr",
		`{"text":"a","language":"user","prompt":"b"}`: User} {
		r, err := ParseRequest([]byte(data), "de")
		if err != nil || r.Language != want || r.Text != "a" {
			t.Errorf("%s: %+v, %v", data, r, err)
		}
		if r, err = ParseStream([]byte(data), "de"); err != nil || r.Language != want {
			t.Errorf("%s: %+v, %v", data, r, err)
		}
	}
	if r, err := ParseStream([]byte(`{}`), "de"); err != nil || r.Language != "de" || r.Text != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
