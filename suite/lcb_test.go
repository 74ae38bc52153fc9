package suite

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"
	"crosstalk/recorded"
)

const lcbCross = "prompt,location,phrasing,language,source\n" +
	"\"Reply in French. Why?\nAnd how?\",Start,reply in {language_requested},fr,tea\n" +
	"Why in French?,Middle,in {language_requested},fr,tea\n" +
	"Why? Write in French.,End,write in {language_requested},fr,tea\n"

// writeZip writes files in this order: name, content, name, content.
func writeZip(t testing.TB, files ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sets.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeFolder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImportLCB(t *testing.T) {
	files := []string{"x/test_sets/monolingual/dir/zh.csv", "prompt,source,language\n为什么？,tea_party,zh\n", "x/README.md", "no,csv", "x/outputs/fr.csv", "no",
		"x/test_sets/crosslingual/tea/fr.csv", lcbCross, "__MACOSX/x/test_sets/crosslingual/tea/._fr.csv", "\x00"}
	cross := func(n int, text, place, phrasing string) crosstalk.Item {
		return crosstalk.Item{ID: fmt.Sprintf("crosslingual/tea/fr/%d", n), Cluster: fmt.Sprintf("tea/%d", n),
			Labels: map[string]string{"task": "crosslingual", "source": "tea", "language": "fr", "phrasing": phrasing + " {language_requested}", "length": "up to 10"},
			Prompt: &crosstalk.Prompt{Text: text, Language: "fr", Placed: map[string]string{place: text}}}
	}
	want := []crosstalk.Item{
		cross(0, "Reply in French. Why?\nAnd how?", "start", "reply in"), cross(1, "Why in French?", "integrated", "in"), cross(2, "Why? Write in French.", "end", "write in"),
		{ID: "monolingual/tea_party/zh/0", Cluster: "tea_party/0", Labels: map[string]string{"task": "monolingual", "source": "tea_party", "language": "zh", "length": "up to 10"},
			Prompt: &crosstalk.Prompt{Text: "为什么？", Language: "zh"}},
	}
	unpacked := writeFolder(t, files...)
	id := ""
	for _, path := range []string{writeZip(t, files...), filepath.Join(unpacked, "x"), filepath.Join(unpacked, "x", "test_sets")} {
		s, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s.Items.List(), want) || s.Instrument != "confusion" {
			t.Errorf("%s: %s %+v", path, s.Instrument, s.Items)
		}
		if hash := strings.SplitAfter(s.ID(), "@")[1]; id != "" && hash != id {
			t.Errorf("%s: %s, before %s", path, hash, id)
		} else {
			id = hash
		}
	}
}

func TestImportLCBErrors(t *testing.T) {
	const name = "test_sets/crosslingual/tea/fr.csv"
	row := func(s string) []string { return []string{name, "prompt,source,language,location\n" + s} }
	many := make([]string, 0, 2*maxFiles+2)
	for i := range maxFiles + 1 {
		many = append(many, fmt.Sprint("f", i), "")
	}
	for want, files := range map[string][]string{
		"sets.zip: contains no file such as crosslingual/okapi/fr.csv": {"crosslingual/fr.csv", "prompt\n"},
		name + ":2: has no prompt; expected the columns":               row(" ,tea,fr,\n"),
		name + ":3: has no language; expected the columns":             row("a,tea,fr,\nb,tea,,\n"),
		name + ":2: has no source; expected the columns":               {name, "prompt,language\na,fr\n"},
		name + `:2: "Frnch" is not a valid language; expected a code`:  row("a,tea,Frnch,Start\n"),
		name + `:2: location is "Top"; expected Start, Middle`:         row("a,tea,fr,Top\n"),
		name + ":2: has 2 fields; the header has 4":                    row("a,tea\n"),
		name + `:2: the column "prompt" is not valid UTF-8`:            row("\xff,tea,fr,\n"),
		name + ":1: is empty":                                          {name, ""},
		"sets.zip: contains no prompts":                                row(""),
		"points outside the archive":                                   {"../../crosslingual/tea/fr.csv", lcbCross},
		`sets.zip: contains a file named "/crosslingual/`:              {"/crosslingual/tea/fr.csv", lcbCross},
		`named "crosslingual\\tea`:                                     {`crosslingual\tea\fr.csv`, lcbCross},
		`sets.zip: contains "` + name + `" twice`:                      {name, lcbCross, name, lcbCross},
		`duplicate item "crosslingual/tea/fr/0" (first used at `:       {name, lcbCross, "crosslingual/tea/fr.csv", lcbCross},
		name + ": the unpacked files are larger than 64 MiB":           {"crosslingual/a/fr.csv", strings.ReplaceAll(lcbCross, "tea", "a"), name, "prompt,source,language,location\n" + strings.Repeat(strings.Repeat("a", 8<<20)+",tea,fr,\n", 9)},
		"sets.zip: contains more than 10000 files":                     many,
	} {
		if _, err := Load(writeZip(t, files...)); err == nil || !strings.Contains(err.Error(), want) ||
			len(err.Error()) > 400 {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	for want, path := range map[string]string{
		"a.zip: zip: not a valid zip file": write(t, "a.zip", "x"),
		"b.zip: no such file or directory": filepath.Join(t.TempDir(), "b.zip"),
		"contains no file such as":         t.TempDir(),
		"tea/fr.csv:2: has 1 fields":       writeFolder(t, "crosslingual/tea/fr.csv", "prompt,language\na\n"),
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The published test sets, and the answers that were published with them, are
// about the same items.
func TestPublishedTestSets(t *testing.T) {
	s, err := Load(shared.File(t, "lcb/test_sets.zip"))
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]crosstalk.Item{}
	placed, lengths := map[string]int{}, map[string]int{}
	for _, i := range s.Items.All() {
		items[i.ID] = i
		lengths[i.Labels["length"]]++
		for place := range i.Prompt.Placed {
			placed[i.Labels["task"]+" "+place]++
		}
	}
	if s.Items.Len() != 6586 || len(s.Languages()) != 15 || len(placed) != 3 || len(lengths) != 5 {
		t.Errorf("%d items in %v, placed %v, lengths %v", s.Items.Len(), s.Languages(), placed, lengths)
	}
	answers, met := 0, map[string]bool{}
	for row, err := range (recorded.Reading{}).Confusion(shared.File(t, "lcb/outputs/command-r-plus.csv.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		answers++
		i, ok := items[row.Item.ID]
		if !ok || i.Cluster != row.Item.Cluster || i.Prompt.Language != row.Item.Prompt.Language {
			t.Fatalf("%+v is not an answer to %+v", row.Item, i)
		}
		for _, column := range []string{"task", "source", "language"} {
			if i.Labels[column] != row.Item.Labels[column] {
				t.Fatalf("%s: %s is %s and %s", i.ID, column, i.Labels[column], row.Item.Labels[column])
			}
		}
		met[i.ID] = true
	}
	t.Logf("%d answers to %d of %d items", answers, len(met), len(items))
	if len(met) < 6580 {
		t.Errorf("only %d items have an answer", len(met))
	}
}

func FuzzImportLCB(f *testing.F) {
	for _, name := range []string{"a/crosslingual/tea/fr.csv", "monolingual/x/y.csv"} {
		b, err := os.ReadFile(writeZip(f, name, lcbCross))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := write(t, "a.zip", string(b))
		s, err := Load(path)
		if err == nil {
			Check(s)
			_ = s.ID()
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%v names no file", err)
		}
	})
}
