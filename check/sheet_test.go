package check

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"crosstalk/internal/testing/golden"
	"crosstalk/recorded"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestSheet runs the commands of testdata/sheet.txtar on its files, and reads each of the files. It compares all that
// comes of it with the sheet. Read what differs and write it with -update.
//
// A command has options (language, format, baseline, completion, stdin: a file; save: a file for what is printed) and
// paths. What is printed is followed by notes (#), the numbers of answers, unchecked ones and findings, and the error.
func TestSheet(t *testing.T) {
	sheet, err := filepath.Abs("testdata/sheet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(sheet)
	if err != nil {
		t.Fatal(err)
	}
	files, kept := map[string]string{}, archive.Files[:0:0]
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "$ ") {
			kept = append(kept, f)
			files[f.Name] = string(f.Data)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintln(z, `{"id":1,"text":"Your order is on its way.","language":"de"}`)
	z.Close()
	// What an archive of texts cannot hold.
	maps.Copy(files, map[string]string{
		"odd/mark.de.md": "\ufeffDas ist gut.\r\n\r\nPlease keep the receipt,\r\nyou need it later.\r\n", "odd/latin.de.md": "caf\xe9",
		"odd/packed.de.md.gz": "no", "packed/answers.jsonl.gz": packed.String(), "packed/Answers.JSONL.GZ": packed.String(),
		"packed/broken.jsonl.gz": "no", "de/mark.json": "\ufeff {\"a\": \"Please keep the receipt, you need it.\"}\n",
		"de/deep50.json": nested(50), "de/deep51.json": nested(51),
	})
	within(t, files)
	add := func(name, text string) { kept = append(kept, txtar.File{Name: name, Data: []byte(text)}) }
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add("$ read "+name, reading(name, strings.TrimPrefix(files[name], "\ufeff")))
	}
	for line := range strings.Lines(string(archive.Comment)) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		o, stdin, save := Options{Columns: map[string]string{}}, "", ""
		var paths []string
		for _, word := range strings.Fields(command) {
			name, value, option := strings.Cut(word, "=")
			to := map[string]*string{"language": &o.Language, "format": &o.Format, "baseline": &o.Baseline, "stdin": &stdin, "save": &save}[name]
			switch {
			case to != nil:
				*to = value
			case option:
				o.Columns[name] = value
			default:
				paths = append(paths, word)
			}
		}
		out, notes, r, err := run(t, o, files[stdin], paths...)
		if save != "" {
			if err := os.WriteFile(save, []byte(out), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, note := range notes {
			out += "# " + note + "\n"
		}
		out += fmt.Sprintf("= %d %d %d", r.Answers, r.Unchecked, r.Findings)
		if err != nil {
			out += fmt.Sprintf("\n! %v", err)
		}
		add("$ "+strings.TrimSpace(command), out)
	}
	golden.Check(t, sheet, string(txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: kept})))
}

// nested is JSON with a message so deep.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + `"Please keep the receipt, you need it."` + strings.Repeat("}", depth)
}

// reading shows what a file is taken for, and what is read of it with the places in the file.
func reading(path, text string) string {
	open := func(o Options) file {
		r := recorded.Reading{}
		f, err := o.open(r, path)
		if err == nil {
			f.Close()
		}
		return f
	}
	if _, err := (recorded.Reading{}).Open(path); err != nil {
		return err.Error()
	}
	f, given := open(Options{}), open(Options{Language: "en"})
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q, with a language %s\n", name(f.kind), f.language, name(given.kind))
	src := newSource(text)
	show := func(at int, text string) {
		line, column := src.at(at)
		fmt.Fprintf(&b, " %d:%d %q", line, column, text)
	}
	passages := ofProse(text)
	switch f.kind {
	case page:
		var stated string
		passages, stated = ofPage(text)
		fmt.Fprintf(&b, "states %q\n", stated)
	case subtitles:
		passages = ofSubtitles(text)
	case catalogue:
		m, err := parse(path, text)
		fmt.Fprintf(&b, "in %q from %q, %v", m.language, m.source, err)
		for _, one := range m.all {
			fmt.Fprintf(&b, "\n%s %q", one.key, one.source)
			show(one.at, one.value)
		}
		return b.String()
	case logs, records:
		return b.String()
	}
	for _, p := range passages {
		for i, piece := range p.pieces {
			end := p.text.Len()
			if i+1 < len(p.pieces) {
				end = p.pieces[i+1].start
			}
			show(piece.from, p.text.String()[piece.start:end])
			if p.from(piece.start) != piece.from || p.from(max(piece.start, end-1)) != piece.from+max(0, end-1-piece.start) {
				b.WriteString(" elsewhere")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func name(kind int) string {
	return []string{"logs", "records", "document", "page", "subtitles", "catalogue"}[kind]
}

// Files of more than 16 MB are not read, and those that have as much are.
func TestLongFiles(t *testing.T) {
	const english = "Please keep the receipt, you need it."
	fill := func(before, after string, n int) string {
		return before + strings.Repeat(" ", n-len(before+after)) + after
	}
	within(t, map[string]string{
		"a.de.md": fill("", english, longest), "b.de.md": fill("", english, longest+1),
		"de.json": fill(`{"a": "Please wait until it is done, please."`, "}", 100), "en.json": fill(`{"a": "`+english+`"`, "}", longest+1),
		"c/de.json": fill(`{"a": "`+english+`"`, "}", longest), "c/en.json": fill(`{"a": "`+english+`"`, "}", longest),
		"c/fr.json": fill(`{"a": "`+english+`"`, "}", longest+1),
	})
	out, _, r, err := run(t, Options{}, "", "a.de.md", "b.de.md", "de.json", "c/de.json")
	const want = `a.de.md:1:16777180: wrong language: en, expected de: "Please keep the receipt, you need it."
b.de.md:1:1: longer than 16 MB
de.json:1:8: a: wrong language: en, expected de: "Please wait until it is done, please."
c/de.json:1:8: a: untranslated: en, expected de: "Please keep the receipt, you need it."
`
	if out != want || r.Findings != 4 || err != nil {
		t.Errorf("%s %v %v", out, r, err)
	}
	if _, _, _, err := run(t, Options{}, "", "c/fr.json"); err == nil || !strings.Contains(err.Error(), "c/fr.json:1: expected an array of objects") {
		t.Errorf("a file that is too long is a catalogue: %v", err)
	}
	var text strings.Builder
	if err := (Options{Language: "de"}).Text(&text, strings.NewReader(fill("Das ist gut.", "", longest))); err != nil {
		t.Error(err)
	}
}

// What ends a command of GitHub, or what a terminal would obey, is written otherwise. What cannot be written is an
// error.
func TestWriter(t *testing.T) {
	f := finding{File: "a\n:,%\r\x1b", Line: 1, Column: 2, EndLine: 3, Kind: unreadable, Error: "1\n2%\r\x1b"}
	for format, want := range map[string]string{"": "a␊:,%␍␛:1:2: 1␊2%␍␛\n",
		"github": "::error file=a%0A%3A%2C%25%0D\x1b,line=1,col=2,endLine=3,title=unreadable::1%0A2%25␍␛\n"} {
		var b strings.Builder
		w := &writer{w: &b, format: format, result: &Result{}, with: map[string]bool{}}
		if err := w.finding(f); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v; want %q", format, b.String(), err, want)
		}
	}
	for _, format := range Formats {
		w := &writer{w: full{}, format: format, result: &Result{}, with: map[string]bool{}, note: func(string) {}}
		err := w.finding(f)
		if format == "sarif" {
			err = w.end()
		}
		if err != io.ErrShortWrite {
			t.Errorf("%s: %v", format, err)
		}
	}
	within(t, map[string]string{"a.de.md": "Please keep the receipt, you need it.", "de.json": `{"a": "Please keep the receipt, you need it."}`,
		"a.jsonl": `{"text":"Please keep the receipt, you need it.","language":"de"}`, "b.de.md": "\xff"})
	for _, path := range []string{"a.de.md", "de.json", "a.jsonl", "b.de.md"} {
		if _, err := (Options{Format: "text", Note: func(string) {}}).Run(full{}, nil, []string{path}); err != io.ErrShortWrite {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := (Options{Language: "de"}).Text(full{}, strings.NewReader("Gut.")); err != io.ErrShortWrite {
		t.Errorf("%v", err)
	}
	// Of a long part the beginning is shown.
	for text, want := range map[string]string{strings.Repeat("ü", longestShown): strings.Repeat("ü", longestShown),
		strings.Repeat("ü", longestShown+1): strings.Repeat("ü", longestShown-1) + "…"} {
		if got := (finding{Kind: "line", Expected: "de", Text: text}).message(); got != `wrong language: expected de: "`+want+`"` {
			t.Errorf("%s", got)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Records and findings may be longer than a line of text is.
func TestLongRecords(t *testing.T) {
	long := strings.Repeat("Please keep the receipt, you need it. ", 4000)
	record := `{"text":"` + long + `","language":"de"}`
	within(t, map[string]string{"a.jsonl": record, "old.jsonl": `{"file":"b.md","text":"` + long + `"}`})
	out, _, r, err := run(t, Options{Format: "github"}, "", "a.jsonl")
	if err != nil || r != (Result{1, 0, 1}) || !strings.Contains(out, "wrong language") {
		t.Errorf("%s %v %v", out, r, err)
	}
	_, notes, _, err := run(t, Options{Format: "text", Baseline: "old.jsonl"}, "", "a.jsonl")
	if want := "0 accepted by the baseline, 1 of the baseline not found any more"; err != nil || len(notes) != 2 || notes[0] != want {
		t.Errorf("%q %v", notes, err)
	}
	broken := iotest.ErrReader(os.ErrClosed)
	if _, err := (Options{}).Run(io.Discard, broken, nil); err == nil || err.Error() != "standard input: file already closed" {
		t.Errorf("%v", err)
	}
}
