package corpus

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

func collect(read func(yield func(string))) []string {
	var all []string
	read(func(s string) { all = append(all, s) })
	return all
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestParagraphs(t *testing.T) {
	page := `<head><title>no</title></head><h1 id="a>b">One</h1><!-- <p>no</p> --><p>Two <b>bold</b> &amp; <code>x()</code>end</p><pre>no</pre>three<br/>four`
	expect(t, "paragraphs", collect(func(y func(string)) { paragraphs(strings.ReplaceAll(page, "a>b", "ab"), y) }),
		"One", "Two bold & end", "three", "four")
	expect(t, "unclosed", collect(func(y func(string)) { paragraphs("a < b <p", y) }), "a")
}

func TestSentences(t *testing.T) {
	for in, want := range map[string][]string{
		"First one. Second one! and more":      {"First one.", "Second one! and more"},
		"He said “Stop.” She went.":            {"He said “Stop.”", "She went."},
		"最初の文です。次の文です。":                        {"最初の文です。", "次の文です。"},
		"Open %PRODUCTNAME in {0} of ${x}":     {"Open in of"},
		"_Save the ~File(F)":                   {"Save the File"},
		"See https://example.org. Plain text.": {"Plain text."},
		"call f() now":                         nil,
	} {
		expect(t, in, collect(func(y func(string)) { sentences(in, y) }), want...)
	}
}

func TestUsable(t *testing.T) {
	for _, c := range []struct {
		language, line string
		want           bool
	}{
		{"en", "This is a plain line", true},
		{"en", "too short", false},
		{"en", "A B C D E F G H I", false},
		{"en", "ALL OF THIS IS LOUD", false},
		{"en", "это не английский язык", false},
		{"ru", "это русский язык Linux", true},
		{"ru", "this is not Russian at all", false},
		{"zh", "这是一个很短的句子", true},
		{"zh", "これは日本語の文です", false},
		{"ja", "これは日本語の文です", true},
		{"vi", "Tie\u0302\u0301ng Vie\u0323\u0302t ta\u0301ch da\u0302\u0301u", false},
		{"ko", "짧은 문장 하나", true},
	} {
		if got := usable(c.line, c.language); got != c.want {
			t.Errorf("%s %q: usable %v, expected %v", c.language, c.line, got, c.want)
		}
	}
}

func TestLanguage(t *testing.T) {
	for in, want := range map[string]string{
		"C": "en", "pt-BR": "pt", "zh_TW": "zh", "nb-no": "no", "sr@latin": "hr", "ca@valencia": "ca", "fil": "tl", "de@x": "", "xx": "",
	} {
		if got := languageOf(in); got != want {
			t.Errorf("%s: %q, expected %q", in, got, want)
		}
	}
}

func TestCatalogues(t *testing.T) {
	u32 := binary.LittleEndian.AppendUint32
	var table, strs []byte
	pairs := []string{"", "head", "file\x00files", "Datei\x00Dateien", "menu\x04same", "same"}
	const header = 28
	for _, column := range []int{0, 1} {
		for i := column; i < len(pairs); i += 2 {
			table = u32(u32(table, uint32(len(pairs[i]))), uint32(header+len(pairs)*8+len(strs)))
			strs = append(append(strs, pairs[i]...), 0)
		}
	}
	mo := u32(u32(u32(u32(u32(nil, 0x950412de), 0), 3), header), header+24)
	mo = append(append(append(mo, make([]byte, 8)...), table...), strs...)
	expect(t, "gettext", collect(func(y func(string)) {
		if err := gettext(mo, y); err != nil {
			t.Error(err)
		}
	}), "Datei", "Dateien")

	messages := collect(func(y func(string)) {
		fluent("# no\n\nopen = Öffnen\n    .label = Datei\n      weiter\nlast =\n    Ende\n", y)
	})
	expect(t, "fluent", slices.DeleteFunc(messages, func(s string) bool { return s == "" }), "Öffnen", "Datei weiter", "Ende")
	expect(t, "properties", collect(func(y func(string)) { properties("# a=b\nx = Text hier\n", y) }), "Text hier")

	u16 := binary.LittleEndian.AppendUint16
	p := u16(u16(append(u32(nil, 5), 1, 0, 0, 0), 2), 0)
	for i, at := range []uint32{30, 33, 36} {
		p = u32(u16(p, uint16(i)), at)
	}
	p = append(p, "onetwo"...)
	expect(t, "pak", collect(func(y func(string)) {
		if err := pak(p, y); err != nil {
			t.Error(err)
		}
	}), "one", "two")
	if pak([]byte("other"), nil) == nil || gettext([]byte("other"), nil) == nil {
		t.Error("other files are taken for catalogues")
	}
}

func TestPurge(t *testing.T) {
	c := Texts{}
	for _, x := range []Text{
		{"en", "office", "Open the document with a password"},
		{"de", "office", "Open the document, with a password"},
		{"de", "office", "Das Dokument mit einem Kennwort öffnen"},
		{"de", "gnome", "Das Dokument mit einem Kennwort öffnen"},
		{"de", "gnome", "Nur zum Prüfen behaltener Satz"},
		{"zh", "office", "文件打开密码"},
		{"ja", "office", "文件打开密码"},
	} {
		c.Add(x)
	}
	c.Purge()
	if len(c["de"]) != 2 || c["de"]["Das Dokument mit einem Kennwort öffnen"] != "office" || len(c["ja"]) != 0 || len(c["zh"]) != 1 {
		t.Errorf("purged to %v", c)
	}
}
