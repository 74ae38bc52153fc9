package crosstalk

import (
	"strings"
	"testing"
)

func TestLengthOf(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                                    "",
		" ?! … 。、":                            "",
		"Why?":                                "up to 10",
		"1 2 3 4 5 6 7 8 9 10":                "up to 10",
		"1 2 3 4 5 6 7 8 9 10 - !":            "up to 10", // no letter, no word
		"don't re-use l'eau x.y 5 6 7 8 9 10": "up to 10",
		"1 2 3 4 5 6 7 8 9 10 11":             "11 to 20",
		"1\n2\t3\u00a04 5 6 7 8 9 10\u300011": "11 to 20",
		strings.Repeat("word ", 20):           "11 to 20",
		strings.Repeat("word ", 21):           "21 to 50",
		strings.Repeat("слово ", 50):          "21 to 50",
		strings.Repeat("낱말 ", 51):             "51 to 100",
		strings.Repeat("word ", 100):          "51 to 100",
		strings.Repeat("word ", 101):          "over 100",
		strings.Repeat("字", 20):               "up to 10",
		strings.Repeat("字", 21):               "11 to 20",
		strings.Repeat("かナ", 20) + "。":        "11 to 20",
		strings.Repeat("字，", 20):              "up to 10",
		"Wi-Fi" + strings.Repeat("字", 18):     "up to 10",
		"Wi-Fi" + strings.Repeat("字", 19):     "11 to 20",
		strings.Repeat("คำ", 20):              "up to 10", // a letter and a vowel sign each
		strings.Repeat("คำ", 21):              "11 to 20",
	} {
		if got := LengthOf(prompt); got != want {
			t.Errorf("%.40q: %q, want %q", prompt, got, want)
		}
	}
}
