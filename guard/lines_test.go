package guard

import (
	"io"
	"os"
	"strings"
	"testing"
)

func TestCheckLines(t *testing.T) {
	var out strings.Builder
	err := Checker{}.CheckLines(&out, strings.NewReader(`{"id":7,"text":"You're welcome! Have a great day.","language":"it"}

{"id":"x","text":"<a>"}
`), "answers.jsonl")
	if err == nil || !strings.HasPrefix(err.Error(), `answers.jsonl:3: expected a field "language"`) {
		t.Errorf("%v", err)
	}
	if got := out.String(); !strings.HasPrefix(got, `{"id":7,"verdict":"wrong","language":"en",`) || strings.Count(got, "\n") != 1 {
		t.Errorf("%s", got)
	}
	out.Reset()
	if err := (Checker{}).CheckLines(&out, strings.NewReader("\ufeff{\"text\":\"42\",\"language\":\"it\"}\r\n"), "windows.jsonl"); err != nil || !strings.HasPrefix(out.String(), `{"verdict":"cannot_tell"`) {
		t.Errorf("a byte order mark: %s, %v", out.String(), err)
	}
	if err := (Checker{}).CheckLines(io.Discard, strings.NewReader("\n"+strings.Repeat(" ", longestText+1)),
		"a"); err == nil || err.Error() != "a:2: longer than 16 MB" {
		t.Errorf("%v", err)
	}
}

// The first example of the manual: a record, and the line that check writes for it.
func TestManualExample(t *testing.T) {
	page, err := os.ReadFile("../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "\n```\n{\"id\":\"1\",")
	record, rest, _ := strings.Cut(`{"id":"1",`+example, "\n")
	want, _, found := strings.Cut(rest, "\n```")
	var out strings.Builder
	if err := (Checker{}).CheckLines(&out, strings.NewReader(record), "docs/check.md"); err != nil || !found || out.String() != want+"\n" {
		t.Errorf("%v\n got %s\nwant %s", err, out.String(), want)
	}
}

// What is marked is what the judgement says, and cannot control a terminal.
func TestCheckText(t *testing.T) {
	for _, c := range []struct{ text, language, want string }{
		{"Voici votre facture du mois de mars.\n\nPlease pay it before the end of the month.\n", "fr",
			"Voici votre facture du mois de mars.\n\n[en: Please pay it before the end of the month.]\n\nwrong (p 1.00, judged: words); in another language: lines: 1\n"},
		{"\ufeffMerci beaucoup pour votre aide !\r\nÀ bientôt.\r\n", "fr", "Merci beaucoup pour votre aide !\nÀ bientôt.\n\nright (p 0.96, judged: words)\n"},
		{"Uw bestelling is onderweg en komt morgen aan.", "nl", "Uw bestelling is onderweg en komt morgen aan.\n\nright (p 0.93, judged: words)\n"},
		{"네, 알겠습니다.", "ko", "네, 알겠습니다.\n\nright (p 0.96, judged: script)\n"},
		{"42", "fr", "42\n\ncannot tell: too little to judge by\n"},
		{"Das ist ein kurzer Satz über das Wetter.\x1b[2J", "de", "Das ist ein kurzer Satz über das Wetter.␛[2J\n\nright (p "},
	} {
		var out strings.Builder
		if err := (Checker{}).CheckText(&out, strings.NewReader(c.text), "a.txt", c.language); err != nil ||
			!strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%q, %v; want %q", out.String(), err, c.want)
		}
	}
	words := Judgement{Verdict: Wrong, P: 0.9, Judged: ByLines, Spans: []Span{{Kind: Word}, {Kind: Line}, {Kind: Word}}}
	if got := words.summary(); got != "wrong (p 0.90, judged: lines); in another language: lines: 1, runs of words: 2" {
		t.Errorf("%s", got)
	}
	if err := (Checker{}).CheckText(io.Discard, strings.NewReader(strings.Repeat("a", longestText+1)), "a.txt",
		"de"); err == nil || err.Error() != "a.txt: longer than 16 MB" {
		t.Errorf("%v", err)
	}
}
