package guard

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"crosstalk/internal/testing/golden"
)

// forms are the places of other words in a text: its words come before and after them.
var forms = []string{
	"%[1]s %[2]s %[3]s.", "%[1]s \"%[2]s\" %[3]s.", "%[1]s (%[2]s) %[3]s.", "%[1]s: %[2]s, %[3]s.", "%[1]s **%[2]s** %[3]s.",
	"%[1]s %[3]s. %[2]s.", "%[1]s %[3]s.\n\n%[2]s", "# %[2]s\n\n%[1]s %[3]s.", "- %[1]s\n- %[2]s\n- %[3]s\n",
	"| %[1]s | %[2]s |\n|---|---|\n| %[3]s | 12 |\n", "%[1]s %[2]s. %[3]s.", "%[1]s %[3]s %[2]s", "%[2]s %[1]s %[3]s.",
	"%[1]s `%[2]s` %[3]s.", "%[1]s %[2]s 5%% %[3]s!", "%[1]s – %[2]s – %[3]s…", "%[1]s/%[2]s %[3]s?", "%[2]s: %[1]s %[3]s.",
}

// TestEachLanguage judges a sentence of testdata/market.txt in each language with words of the same sentence in others
// among it: one to seven, in several places, in lower case, as names and in capitals. A letter for each says what was
// judged and, in lower case, that something was found; two bytes of a hash stand for the rest of the judgements.
func TestEachLanguage(t *testing.T) {
	if testing.Short() {
		t.Skip("much text")
	}
	file, err := os.ReadFile("testdata/market.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list [][]string
	for line := range strings.Lines(string(file)) {
		list = append(list, strings.Split(strings.TrimSpace(line), "|"))
	}
	english := slices.IndexFunc(list, func(l []string) bool { return l[0] == "en" })
	var sheet strings.Builder
	for i, own := range list {
		for _, k := range []int{english, (i + 1) % len(list), (i + len(list) - 1) % len(list), (i*11 + 5) % len(list)} {
			other := strings.FieldsFunc(list[k][1]+" "+list[k][2], func(r rune) bool { return r == ' ' || r == ',' })
			if k == i {
				continue
			}
			fmt.Fprintf(&sheet, "%s %s ", own[0], list[k][0])
			h := sha256.New()
			for f, form := range forms {
				for n := 1; n <= 7; n += 1 + n/2 {
					at := (f*5 + n) % max(1, len(other)-7)
					insert := strings.Join(other[at:min(at+n, len(other))], " ")
					switch (f + n) % 5 {
					case 2:
						insert = strings.ToLower(insert)
					case 3:
						insert = cases.Title(language.Und).String(insert)
					case 4:
						insert = strings.ToUpper(insert)
					}
					j, err := Check(fmt.Sprintf(form, own[1], insert, own[2]), own[0])
					if err != nil {
						t.Fatal(err)
					}
					letter := map[Verdict]string{Right: "R", Wrong: "W", CannotTell: "C"}[j.Verdict]
					if len(j.Spans) > 0 {
						letter = strings.ToLower(letter)
					}
					sheet.WriteString(letter)
					fmt.Fprintln(h, summary(j), details(j))
				}
			}
			stream, err := Checker{}.Stream(own[0])
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%s. %s.\n\n%s %s %s.\n\n%s", own[1], other[i%len(other)], own[2], strings.Join(other[:min(3, len(other))], " "), own[1],
				strings.Join(other, " "))
			for ; text != ""; text = text[min(len(text), 7):] {
				for _, s := range stream.Write(text[:min(len(text), 7)]) {
					fmt.Fprintln(h, len(text), s.Start, s.End, s.Language, s.Kind, s.P)
				}
			}
			fmt.Fprintln(h, summary(stream.Close()))
			fmt.Fprintf(&sheet, " %x\n", h.Sum(nil)[:2])
		}
		fmt.Fprintf(&sheet, "%s as a user's:", own[0])
		for n := range strings.Fields(own[1]) {
			fmt.Fprint(&sheet, " ", Checker{}.UserLanguage(strings.Join(strings.Fields(own[1])[:n+1], " ")))
		}
		fmt.Fprintln(&sheet)
	}
	golden.Check(t, "testdata/languages.txt", sheet.String())
}
