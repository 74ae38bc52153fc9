package guard

import (
	"strings"
	"testing"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// A sentence of a word or two that is the whole answer needs less than a line; either limit has a case on each side.
func TestLineLimits(t *testing.T) {
	for _, c := range []struct {
		tag, text string
		want      Verdict
	}{
		{"de", "Hello.", Wrong},     // log odds 2.57 of a sentence
		{"de", "Nice.", Wrong},      // 3.23
		{"de", "Nice", CannotTell},  // the same of a line
		{"de", "Okay.", CannotTell}, // 0.25
		{"de", "No.", Wrong},        // 5.54 of a line
		{"de", "Das house", CannotTell},
		{"de", "Der Hund", Right},
		{"es", "a casa", CannotTell}, // 1.32
		{"ko", "ok", CannotTell},     // an answer in most languages
		{"ru", "Okay.", CannotTell},
		{"ru", "no", Wrong}, // a function word
		{"ko", "yes", Wrong},
		{"ko", "ok\n\nok", Wrong},
		{"ko", "Okay thanks", Wrong},
	} {
		if j, err := Check(c.text, c.tag); err != nil || j.Verdict != c.want {
			t.Errorf("%s %q: %s, %v; want %s", c.tag, c.text, j.Verdict, err, c.want)
		}
	}
}

// A word of another script that only a list from texts about programs has is a term.
func TestTermOfPrograms(t *testing.T) {
	j, err := Check("Twip 是一個與螢幕無關的單位。1 twip 等於 1 英吋的 1/1440，所以用於定義螢幕元素的位置和大小。", "zh-TW")
	if err != nil || j.Verdict != Right || len(j.Spans) == 0 || j.Spans[0].Excuse != Loan {
		t.Errorf("%+v, %v", j, err)
	}
}

// Each further word of a run must add to the odds; a function word alone needs less, Chinese characters more.
func TestDoubtful(t *testing.T) {
	const start, end = 0, 3
	for _, c := range []struct {
		words    int
		language string
		share    float64 // of the first word
		least    float64 // log odds
	}{
		{1, "en", 1e-5, -1.4637}, {2, "en", 1e-5, -0.9637}, {4, "en", 1e-5, 0.0363}, {9, "en", 1e-5, 0.0363},
		{1, "en", 0.9e-3, -1.4637}, {1, "en", 1e-3, -2.0637}, {2, "en", 1e-3, -0.9637},
		{1, "zh", 0, -0.4637}, {3, "zh", 0, -0.4637}, {1, "ja", 0, -0.4637},
	} {
		r := run{words: make([]words.Word, c.words), start: start, end: end, language: c.language}
		r.words[0].Share = c.share
		for by, want := range map[float64]bool{-1e-3: true, 1e-3: false} {
			if r.odds = c.least + by; r.doubtful() != want {
				t.Errorf("%+v, log odds %.4f: doubtful %v", c, r.odds, !want)
			}
		}
	}
	r := run{words: []words.Word{{Share: 1e-3}}, end: 2, language: "en", odds: -1.5}
	if !r.doubtful() {
		t.Error("a function word of two letters needs no less than other words")
	}
}

// What was judged has the probability that its odds give, and 0.5 where they are even.
func TestProbability(t *testing.T) {
	for x, want := range map[float64]float64{0: 0.5, 1.3863: 0.8, -1.3863: 0.2, 7: 0.9991, 50: 0.9999} {
		if got := probability(x); got != want {
			t.Errorf("probability(%g) = %g, want %g", x, got, want)
		}
	}
}

// Which texts are capitalized like a name, on both sides of each limit.
func TestCapitals(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "Bank": false, "A": false, "A A": false, "Bank A": true, "Bank of America": true, "bank of America": false,
		"Bank 24": true, "24 Bank": true, "Bank 9": true, "Bank 0": true, "Bank :": false, "Bank and those America": true,
		"Bank without America": false, "Bank of the America": true, "Bank of the old America": false, "Bank of America!": false, "Bank of America?": false,
		"Bank Corpo.": true, "Bank Corpor.": false, "Bank Corporat.": false, "Bank Ltd.": true, "Bank Number.": false,
		"A B C D E F G H": true, "Ab B C D E F G H": true, "Ab B C D E F G H I": false, "Ab of Cd of": true, "Ab of Cd of of": false,
	} {
		if got := capitals(text); got != want {
			t.Errorf("capitals(%q) = %v", text, got)
		}
	}
	for text, want := range map[string]bool{"": false, "The": false, "the Bank": false, "Bank is.": true, "is;": true, "Is": false} {
		if got := spoken(text); got != want {
			t.Errorf("spoken(%q) = %v", text, got)
		}
	}
	for text, want := range map[string]int{"": 0, "abc": 3, "ab cd": 3, " ab": 1, "日本。日": 9, "あ！い": 6, "a？b": 4} {
		if got := breakAt(text); got != want {
			t.Errorf("breakAt(%q) = %d; want %d", text, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "Anna ": "Anna", "an Anna ": "Anna", "Anna  ": "", "a, ": "", "d'Anna": "Anna",
		strings.Repeat("é", 25) + " ": strings.Repeat("é", 19)} {
		c := check{text: text}
		if got := strings.ToValidUTF8(c.before(len(text)), ""); got != want {
			t.Errorf("before(%q) = %q; want %q", text, got, want)
		}
	}
	word := strings.Repeat("字", 49)
	for text, want := range map[string]bool{"": false, "嘅": false, "嘅咗": true, "嘅" + word: false, "嘅咗" + word + word: false,
		"嘅咗" + word + word[3:] + "字": false, "嘅咗" + strings.Repeat("字", 98): true, "嘅咗" + strings.Repeat("字", 99): false,
		"嘅咗abc" + strings.Repeat("x字", 98): true} {
		if got := cantonese(text); got != want {
			t.Errorf("cantonese(%.30q of %d) = %v", text, len(text), got)
		}
	}
}

// The levels used to measure the rates in docs/check.md. A change of one changes the verdicts for that language.
func TestLevels(t *testing.T) {
	odds := map[float64]string{1.5: "fi lt", 1.6: "hr", 1.7: "ro", 1.8: "bg", 2.3: "is", 2.5: "nl", 2.6: "da", 2.9: "ca", 3.1: "sv",
		3.3: "uk", 4: "sk hi", 4.4: "pl", 4.6: "no tl", 4.8: "cs", 4.85: "af ast be br cy eo et eu ga gd oc sw", 4.9: "sr",
		5: "sq", 5.1: "gl", 5.2: "kk", 6: "mr uz", 7: "az", 8: "ne"}
	n := 0
	for want, languages := range odds {
		for _, l := range strings.Fields(languages) {
			if n++; leastOdds[l] != want {
				t.Errorf("words in %s count from %v; want %v", l, leastOdds[l], want)
			}
		}
	}
	for l, want := range map[string]float64{"af": 8, "az": 8, "be": 8, "gl": 8, "sr": 8, "sw": 8, "tl": 4} {
		if leastRatios[l] != want {
			t.Errorf("lines beside %s count from %v; want %v", l, leastRatios[l], want)
		}
	}
	if n != len(leastOdds) || len(leastRatios) != 7 || usualRatio != 1 {
		t.Errorf("%d and %d levels", len(leastOdds), len(leastRatios))
	}
}

// A line is short up to eight words and 60 characters, and if it is no sentence.
func TestShort(t *testing.T) {
	const block = "here"
	for line, want := range map[string]bool{"": false, "a b c d e f g h": true, "a b c d e f g h i": false, "a.": false, "a?": false,
		"a, b": true, strings.Repeat("é", 60): true, strings.Repeat("é", 61): false} {
		for _, text := range []string{line + "\n" + block, block + "\n" + line, "A sentence!\n" + block + "\n" + line, line + "\n" + block + "\nWhat?"} {
			at := strings.Index(text, block)
			c := check{text: text}
			if got := c.short(prose.Span{Start: at, End: at + len(block)}); got != want {
				t.Errorf("%q: %v", text, got)
			}
		}
	}
}

// A line announces up to mostQuoted lines in another language.
func TestAnnouncedLines(t *testing.T) {
	for lines, want := range map[int]Verdict{1: Right, mostQuoted: Right, mostQuoted + 1: Wrong} {
		text := "Hier ist der Brief auf Englisch:\n\n" + strings.Repeat("We would like to thank you for your letter\n", lines) +
			"\nIch hoffe, dass er Ihnen so gefällt und dass Sie ihn heute noch abschicken können."
		if j, err := Check(text, "de"); err != nil || j.Verdict != want {
			t.Errorf("%d lines: %s %v", lines, j.Verdict, err)
		}
	}
}
