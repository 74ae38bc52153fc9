package check

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"crosstalk/guard"

	"github.com/google/go-cmp/cmp"
)

func run(t *testing.T, o Options, in string, paths ...string) (out string, notes []string, r Result, err error) {
	t.Helper()
	var b strings.Builder
	o.Note = func(text string) { notes = append(notes, text) }
	r, err = o.Run(&b, strings.NewReader(in), paths)
	return b.String(), notes, r, err
}

// within writes files into a new current folder.
func within(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLines(t *testing.T) {
	out, _, _, err := run(t, Options{}, `{"id":7,"text":"You're welcome! Have a great day.","language":"it"}

{"id":"x","text":"<a>"}
`)
	if err == nil || !strings.HasPrefix(err.Error(), `standard input:3: expected a field "language"`) {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(out, `{"id":7,"verdict":"wrong","language":"en",`) || strings.Count(out, "\n") != 1 {
		t.Errorf("%s", out)
	}
	out, _, r, err := run(t, Options{Language: "it"}, "\ufeff{\"text\":\"42\"}\r\n{\"text\":\"<b>\",\"language\":\"user\",\"prompt\":\"1\"}")
	if err != nil || !strings.HasPrefix(out, `{"verdict":"cannot_tell"`) || r != (Result{2, 1, 0}) {
		t.Errorf("a byte order mark: %s, %v, %v", out, r, err)
	}
	for in, want := range map[string]string{
		"\n":                               "standard input: has no answers to check",
		`{"text":"` + "\xff" + `"}` + "\n": "standard input:1: is not valid UTF-8: save the file as UTF-8",
	} {
		if _, _, _, err := run(t, Options{Language: "it"}, in); err == nil || err.Error() != want {
			t.Errorf("%q: %v", in, err)
		}
	}
	within(t, map[string]string{"none.jsonl": "", "wide.jsonl": "\xff\xfe{\x00\"\x00t\x00e\x00x\x00t\x00\"\x00:\x00\"\x00\xe8\x00\"\x00}\x00"})
	if _, _, r, err := run(t, Options{Language: "it"}, "", "wide.jsonl", "none.jsonl"); err != nil || r.Answers != 1 {
		t.Errorf("UTF-16: %v, %v", r, err)
	}
	if _, _, _, err := run(t, Options{}, "", "none.jsonl"); err == nil || err.Error() != "none.jsonl: has no answers to check" {
		t.Errorf("%v", err)
	}
	if _, _, _, err := run(t, Options{}, "\n"+strings.Repeat(" ", longest+1)); err == nil ||
		err.Error() != "standard input:2: longer than 16 MB" {
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
	out, _, _, err := run(t, Options{}, record)
	if err != nil || !found || out != want+"\n" {
		t.Errorf("%v\n got %s\nwant %s", err, out, want)
	}
}

// Marked text shows the judgement's spans, and cannot control a terminal.
func TestText(t *testing.T) {
	for _, c := range []struct{ text, language, want string }{
		{"Voici votre facture du mois de mars.\n\nPlease pay it before the end of the month.\n", "fr",
			"Voici votre facture du mois de mars.\n\n[en: Please pay it before the end of the month.]\n\n" +
				"wrong (p 1.00, judged: words); in another language: lines: 1\n"},
		{"\ufeffMerci beaucoup pour votre aide !\r\nÀ bientôt.\r\n", "fr",
			"Merci beaucoup pour votre aide !\nÀ bientôt.\n\nright (p 0.96, judged: words)\n"},
		{"네, 알겠습니다.", "ko", "네, 알겠습니다.\n\nright (p 0.96, judged: script; not judged: words: no model for ko)\n"},
		{"42", "fr", "42\n\ncannot tell: too little to judge by\n"},
		{"Das ist ein kurzer Satz über das Wetter.\x1b[2J", "de", "Das ist ein kurzer Satz über das Wetter.␛[2J\n\nright (p "},
	} {
		var out strings.Builder
		if err := (Options{Language: c.language}).Text(&out, strings.NewReader(c.text)); err != nil ||
			!strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%q, %v; want %q", out.String(), err, c.want)
		}
	}
	words := guard.Judgement{Verdict: guard.Wrong, P: 0.9, Judged: guard.ByLines,
		Spans: []guard.Span{{Kind: guard.Word}, {Kind: guard.Line}, {Kind: guard.Word}}}
	if got := summary(words); got != "wrong (p 0.90, judged: lines); in another language: lines: 1, runs of words: 2" {
		t.Errorf("%s", got)
	}
	if err := (Options{Language: "de"}).Text(io.Discard, iotest.ErrReader(os.ErrClosed)); !errors.Is(err, os.ErrClosed) ||
		err.Error() != "standard input: file already closed" {
		t.Errorf("%v", err)
	}
	if err := (Options{Language: "x"}).Text(io.Discard, strings.NewReader("a")); err == nil {
		t.Error("no error for an unknown language")
	}
	if err := (Options{Language: "de"}).Text(io.Discard, strings.NewReader(strings.Repeat("a", longest+1))); err == nil ||
		err.Error() != "standard input: longer than 16 MB" {
		t.Errorf("%v", err)
	}
}

func TestLanguageOf(t *testing.T) {
	for path, want := range map[string]string{
		"docs/de/guide/install.md": "de", "docs/de/fr.md": "fr", "README.zh-TW.md": "zh-TW", "README_zh-CN.md": "zh-CN",
		"README-de.md": "de", "app.de.po": "de", "po/pt_BR.po": "pt-BR", "locale/ja/LC_MESSAGES/app.po": "ja",
		"locale/sr@latin/LC_MESSAGES/app.po": "sr-Latn", "sr@cyrillic/a.md": "sr-Cyrl", "po/sr@latin.po": "sr-Latn", "ch01.zh-tw.html": "zh-TW", "messages_de.json": "de",
		"locales/de.json": "de", "man/de.UTF-8/crosstalk.txt": "de", "fil/a.md": "fil", "docs/en/a.md": "en",
		"docs/sign-in.md": "", "docs/how_to.md": "", "src/lib/man/a.md": "", "docs/xx/a.md": "", "README.md": "", "de": "de",
		"/srv/it/a.md": "it", "guide.old.md": "", "notes/no-logo.md": "",
	} {
		if got := (Options{}).languageOf(path, false); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := (Options{}).languageOf("/srv/it/a.md", true); got != "" {
		t.Errorf("a folder elsewhere, beside --language: %q", got)
	}
	if got := (Options{}).languageOf("/srv/it/a.de.md", true); got != "de" {
		t.Errorf("the file's name, beside --language: %q", got)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if got := (Options{}).languageOf(filepath.Join(dir, "de", "a.md"), true); got != "de" {
		t.Errorf("a folder here: %q", got)
	}
}

// Lines and columns equal those counted from the start of the text, in any order of calls.
func TestAt(t *testing.T) {
	text := strings.Repeat("über\n", 3) + "\n" + strings.Repeat("ä b", 40) + "\nc"
	src := newSource(text)
	for i, offset := range rand.New(rand.NewPCG(1, 2)).Perm(len(text) + 1) {
		if i%2 == 0 {
			offset = len(text) * i / (len(text) + 1) // ascending, between jumps
		}
		for offset < len(text) && !utf8.RuneStart(text[offset]) {
			offset++
		}
		before := text[:offset]
		start := strings.LastIndexByte(before, '\n') + 1
		wantLine, wantColumn := 1+strings.Count(before, "\n"), 1+utf8.RuneCountInString(before[start:])
		if line, column := src.at(offset); line != wantLine || column != wantColumn {
			t.Fatalf("%d: %d:%d; want %d:%d", offset, line, column, wantLine, wantColumn)
		}
	}
}

// texts are passages with the places of the words that are asked for.
func texts(all []*passage) (list []string) {
	for _, p := range all {
		list = append(list, p.text.String())
	}
	return list
}

func TestProse(t *testing.T) {
	text := "---\ntitle: Ja\n---\n\n# Über uns\nWir sind\r\nhier und\n<!-- a\nb -->\ndort.  \nNeu.\n\n- eins\n  zwei\n- drei\n\n```\ncode\n\nmore\n```\nEnde\n"
	want := []string{"# Über uns\nWir sind  hier und\n", "dort.  \nNeu.\n", "- eins   zwei\n- drei\n", "Ende\n"}
	all := ofProse(text)
	if d := cmp.Diff(want, texts(all)); d != "" {
		t.Error(d)
	}
	src := newSource(text)
	line, column := src.at(all[0].from(strings.Index(all[0].text.String(), "hier")))
	if line != 7 || column != 1 {
		t.Errorf("hier is at %d:%d", line, column)
	}
	if line, column := src.at(all[0].from(strings.Index(all[0].text.String(), " uns"))); line != 5 || column != 7 {
		t.Errorf("uns is at %d:%d, counted in characters", line, column)
	}
	long := strings.Repeat("x", 1023) + "\n"
	for n, want := range map[int]int{63: 1, 64: 1, 65: 2, 128: 2, 129: 3} {
		if all := ofProse(strings.Repeat("- "+long[2:], n)); len(all) != want || all[want-1].text.Len()%1024 != 0 {
			t.Errorf("%d lines of a list are %d passages, want %d", n, len(all), want)
		}
	}
	if got := texts(ofProse("```\ncode\n```js\nmore\n```\nEnde\n")); !slices.Equal(got, []string{"Ende\n"}) {
		t.Errorf("a fence with a language closes: %q", got)
	}
	if got := ofProse(""); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestPage(t *testing.T) {
	text := `<!DOCTYPE html><html lang="de"><head><title>Titel &uuml;ber</title><style>p { x }</style></head>
<body><p>Das <em>ist</em> <code>a
b</code> gut.<br/>Ja.</p><pre>no <b>code</b></pre>
<p lang="en">not this <i>one</i></p><p translate="no">nor this</p><ul><li>eins</li><li>zwei</li></ul>
<div>nach<p>innen</p>au&#223;en</div></body></html>`
	all, stated := ofPage(text)
	want := []string{"Titel über", "Das *ist* `a b` gut.\nJa.", "- eins\n- zwei", "nach", "innen", "außen"}
	got := texts(all)
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if d := cmp.Diff(want, got); d != "" || stated != "de" {
		t.Error(d, stated)
	}
	src := newSource(text)
	for _, c := range []struct {
		passage      int
		word         string
		line, column int
	}{{0, "ber", 1, 57}, {1, "gut", 3, 10}, {2, "zwei", 4, 88}, {5, "en", 5, 30}} {
		at := strings.Index(all[c.passage].text.String(), c.word)
		if line, column := src.at(all[c.passage].from(at)); line != c.line || column != c.column {
			t.Errorf("%q is at %d:%d, want %d:%d", c.word, line, column, c.line, c.column)
		}
	}
}

func TestSubtitles(t *testing.T) {
	text := "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n<i>Ich weiß</i>\nnicht,\n\n2\n00:02.000 --> 00:03.000\nwas du willst.\n\n3\n00:00:04,000 --> 00:00:05,000\nNa gut\n"
	all := ofSubtitles(text)
	if d := cmp.Diff([]string{"Ich weiß nicht, was du willst. ", "Na gut "}, texts(all)); d != "" {
		t.Error(d)
	}
	if line, column := newSource(text).at(all[0].from(strings.Index(all[0].text.String(), "du"))); line != 10 || column != 5 {
		t.Errorf("du is at %d:%d", line, column)
	}
}

// What is too short is a name or a term. Lines that follow each other are one finding; a heading between them ends it.
func TestLongEnough(t *testing.T) {
	text := "Bonjour.\nThis is the first line of it.\nThis is the second line of it.\nEt voilà, le reste du texte."
	j, err := guard.Check(text, "fr")
	if err != nil {
		t.Fatal(err)
	}
	spans := longEnough(text, j)
	if len(spans) != 1 || text[spans[0].Start:spans[0].End] != "This is the first line of it.\nThis is the second line of it." {
		t.Errorf("%v", spans)
	}
	for text, want := range map[string]int{"": 0, "a b c": 0, "one two-three don't": 3, "apt-get et x86": 2, "関係です": 4, "한국어": 3, "12 34 5": 0} {
		if got := size(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
