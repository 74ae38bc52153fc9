package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"crosstalk/ask"
	"crosstalk/compare"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
	"crosstalk/study"
)

// answered is a run of recorded chats in three languages, of which so many answers are in English, or empty.
func answered(t *testing.T, path string, wrong, empty int) string {
	t.Helper()
	right := map[string]string{"de": "Die Bestellung kommt morgen früh bei Ihnen an.",
		"fr": "Votre commande arrivera chez vous demain matin.", "ko": "주문하신 물건은 내일 아침에 도착합니다."}
	var b strings.Builder
	b.WriteString("id,model,prompt,completion,language,source\n")
	for i := range 90 {
		language := []string{"de", "fr", "ko"}[i%3]
		answer := right[language]
		switch {
		case i%30 < wrong && i%3 < 2:
			answer = "Your order will arrive tomorrow morning, number " + strconv.Itoa(i) + "."
		case 89-i < empty:
			answer = ""
		}
		fmt.Fprintf(&b, "%d,old,Wann kommt Paket %d?,%q,%s,%s\n", i, i, answer, language, []string{"shop", "chat"}[i%2])
		if i%2 == 0 {
			fmt.Fprintf(&b, "%d,new,Wann kommt Paket %d?,%q,%s,shop\n", i, i, right[language], language)
		}
	}
	file := filepath.Join(filepath.Dir(path), "answers.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := study.Confusion{}.Recorded([]string{file}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

var signed = regexp.MustCompile(`\w+\|suite:[^,\n]*`)

// Verdicts and histories of runs read, to the letter, as they did when their figures and words were checked by hand.
// With -update the sheet is written anew: look at what differs.
func TestSheet(t *testing.T) {
	file, err := filepath.Abs("testdata/sheet.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var sheet bytes.Buffer
	paths := []string{answered(t, "2026-11-01", 1, 0), answered(t, "2026-11-02", 0, 0), answered(t, "2026-11-03", 2, 1),
		answered(t, "20261104-b", 9, 0), answered(t, "2026-11-04", 10, 5)}
	leaks := make([]int, 30)
	few := runOf(t, ".", "few-leaks", leaks...)
	for i := range leaks {
		leaks[i] = i % 2
	}
	many := runOf(t, ".", "many-leaks", leaks...)
	unfinished := answered(t, "2026-11-05", 0, 0)
	if err := os.Remove(filepath.Join(unfinished, "estimates.json")); err != nil {
		t.Fatal(err)
	}
	across := compare.Options{Across: []string{"suite"}}
	night := func(n int) Options { return Options{Night: n, MaxUnjudged: .1} }
	for i, c := range []struct {
		run   string
		rules Rules
	}{
		{paths[0], Rules{Require: []string{"lpr>=90%", "faults<=2%", "wpr>=0.5 by language"}, Options: Options{MaxUnjudged: .1}}},
		{paths[4], Rules{Require: []string{"lpr>=90% by language,source", "faults<=2%", "lpr<60 where language=de, model=old"}, Options: Options{MaxUnjudged: .01}}},
		{paths[4], Rules{Require: []string{"lpr>=60% by language"}, Options: Options{Point: true, MaxUnjudged: 1}}},
		{paths[1], Rules{Require: []string{"lpr>=99%"}, Options: Options{Level: .8, MaxUnjudged: 1}}},
		{paths[1], Rules{NoWorseThan: paths[0], Margin: .01, Compare: across}},
		{paths[2], Rules{NoWorseThan: paths[0], Margin: .05, Compare: across, By: []string{"language"},
			Options: Options{MaxUnjudged: .1}}},
		{paths[3], Rules{NoWorseThan: paths[0], Margin: .05, Compare: across, By: []string{"language"},
			Options: Options{MaxUnjudged: .1}}},
		{paths[3], Rules{Require: []string{"faults<=5%"}, NoWorseThan: paths[1], Margin: .3, Compare: across,
			Options: Options{MaxUnjudged: .1}}},
		{paths[1], Rules{NoWorseThan: paths[3], Margin: .02, Compare: across, Options: Options{MaxUnjudged: .1}}},
		{paths[3], Rules{NoWorseThan: paths[0], Margin: .02, Nights: paths[1:3], Compare: across, Options: night(3)}},
		{paths[2], Rules{NoWorseThan: paths[0], Margin: .05, Nights: paths[1:2], Compare: across, Options: night(2)}},
		{unfinished, Rules{Require: []string{"lpr>=60%"}, NoWorseThan: paths[0], Margin: .05, Compare: across}},
		{paths[2], Rules{NoWorseThan: paths[0], Margin: .05, Nights: []string{unfinished, paths[1]},
			Compare: across, Options: night(3)}},
		{many, Rules{NoWorseThan: few, Margin: .05, Compare: across}},
		{few, Rules{NoWorseThan: many, Margin: .05, Compare: across, Require: []string{"leak_rate<=60% by category"}}},
		{few, Rules{NoWorseThan: many, Margin: .05}},
		{paths[0], Rules{NoWorseThan: many, Margin: .05}},
		{paths[0], Rules{Require: []string{"leak_rate<=60%", "lpr>=60% by nothing"}}},
		{paths[0], Rules{Require: []string{"lpr>60% by language", "faults<2% by nothing"}}},
	} {
		c.rules.Compare.Level = cmp.Or(c.rules.Level, .95)
		v, err := c.rules.Check(c.run)
		fmt.Fprintf(&sheet, "\n== %s: %q no worse than %q by %g, %+v\n%v\n%s\n", c.run, c.rules.Require, c.rules.NoWorseThan,
			c.rules.Margin, c.rules.Options, err, v.Headline())
		for _, format := range []string{"table", "csv"} {
			Write(&sheet, format, v)
		}
		WriteSummary(&sheet, v)
		if i%3 == 0 {
			WriteJUnit(&sheet, v)
			WriteAnnotations(&sheet, v)
		}
	}
	for _, list := range [][]string{paths, paths[:3], {paths[0], unfinished, paths[4]}, {few, paths[0]},
		paths[:1], {paths[0], "nowhere"}} {
		h, err := Histories(list)
		fmt.Fprintf(&sheet, "\n== history of %q: %v\n", list, err)
		if err != nil {
			continue
		}
		fmt.Fprintf(&sheet, "%v\n%s\n%q\n", h.FindChange(), Shown(h).Title(), Shown(h).Last())
		for _, format := range []string{report.Formats[0], "markdown", "csv"} {
			Shown(h).Write(&sheet, format)
		}
		for _, p := range Shown(h).Plots() {
			fmt.Fprintln(&sheet, p.Name, p.Title, p.Note)
		}
	}
	got := signed.ReplaceAllString(sheet.String(), "SIGNATURE")
	golden.Check(t, file, golden.Rounded(got))
}
