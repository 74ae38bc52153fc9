package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// all shows a catalogue's messages with their places.
func all(text string, m messages) (list []string) {
	src := newSource(text)
	for _, one := range m.all {
		line, column := src.at(one.at)
		list = append(list, fmt.Sprintf("%d:%d %s|%s|%s", line, column, one.key, one.source, one.value))
	}
	return list
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		path, text       string
		want             []string
		language, source string
	}{
		{"head.po", "msgid \"\"\nmsgstr \"Language: de\\n\"\n#, fuzzy\nmsgid \"Not sure\"\nmsgstr \"Unsicher\"\n" +
			"#~ msgid \"Gone\"\n#~ msgstr \"Weg\"\n# last\nmsgid \"Here\"\nmsgstr \"Hier\"\n", []string{"10:9 ||Hier"}, "de", ""},
		{"gone.po", "#, fuzzy\n#~ msgid \"Gone\"\n#~ msgstr \"Weg\"\n\nmsgid \"Here\"\nmsgstr \"Hier\"\n",
			[]string{"6:9 ||Hier"}, "", ""},
		{"a.po", `# a comment
msgid ""
msgstr ""
"Language: pt_BR\n"
"X-Source-Language: fr\n"

#: a.c:1
msgctxt "menu"
msgid "Open the file"
msgstr ""
"Abrir "
"o \"arquivo\""

#, fuzzy
msgid "Not sure yet"
msgstr "Incerto"
#, c-format
msgid "One file here"
msgid_plural "%d files here"
msgstr[0] "Um arquivo"
msgstr[1] "%d arquivos"

msgid "dialog.title.key"
msgstr "Um título"

msgid "Nothing yet"
msgstr ""

#~ msgid "Old one"
#~ msgstr "Antigo"
`, []string{`11:2 |Open the file|Abrir o "arquivo"`, "20:12 |One file here|Um arquivo", "21:12 |%d files here|%d arquivos",
			"24:9 ||Um título"}, "pt_BR", "fr"},
		{"a.json", `{"a": "x\"y", "b": {"c": ["eins", 2, null, "z\\"]},
 "@b": {"description": "no"}, "d": "ü"}`, []string{`1:8 a||x"y`, "1:28 b.c.0||eins", `1:45 b.c.3||z\`, "2:37 d||ü"}, "", ""},
		{"a.yml", "de:\n  a: Hallo Welt\n  b:\n    - \"zwei\"\n    - 3\n  c: |\n    Block\n    text\n",
			[]string{"2:6 de.a||Hallo Welt", "4:7 de.b.0||zwei", "6:6 de.c||Block\ntext\n"}, "", ""},
		{"a.xlf", `<xliff version="1.2"><file source-language="en" target-language="de"><body>
<trans-unit id="k1"><source>Save <g id="1">it</g></source><target>Sichern &amp; <ph id="2">%s</ph>fertig</target>
<alt-trans><target>Nein</target></alt-trans></trans-unit>
<trans-unit id="k2"><source>None</source></trans-unit>
<trans-unit id="k3" translate="no"><source>Kept</source><target>Kept</target></trans-unit></body></file></xliff>`,
			[]string{"2:67 k1|Save it|Sichern & fertig"}, "de", "en"},
		{"b.xliff", `<xliff version="2.0" srcLang="en" trgLang="fr"><file><unit id="u"><segment><source>One</source><target>Un</target></segment>
<segment><source>Two</source><target>Deux</target></segment></unit></file></xliff>`,
			[]string{"1:104 u|One|Un", "2:38 u|Two|Deux"}, "fr", "en"},
	} {
		m, err := parse(c.path, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if d := cmp.Diff(c.want, all(c.text, m)); d != "" || m.language != c.language || m.source != c.source {
			t.Errorf("%s: %s %q %q", c.path, d, m.language, m.source)
		}
	}
	for path, text := range map[string]string{"a.po": "msgid \"a\nmsgstr \"b\"", "b.po": "\"lost\"\n", "a.json": `{"a": }`,
		"b.json": `{} {}`, "a.xliff": "not XML", "b.xliff": "", "deep.json": `{"a":` + strings.Repeat("[", 1<<20), "a.yml": "a: [1\n", "a.xlf": "<xliff><file></xliff>"} {
		if m, err := parse(path, text); err == nil {
			t.Errorf("%s: %v, expected an error", path, m)
		}
	}
}

func TestMessage(t *testing.T) {
	const long = "Your file was saved in the folder of the project."
	for _, c := range []struct{ source, value, from, to, want string }{
		{long, long, "en", "de", untranslated},
		{long, "Ihre Datei wurde im Ordner des Projekts gespeichert.", "en", "de", ""},
		{long, long, "en", "en-GB", ""},                                                                        // the source's language
		{"Save as", "Save as", "en", "de", ""},                                                                 // too short to tell
		{"Debian GNU/Linux Kernel Mozilla Firefox", "Debian GNU/Linux Kernel Mozilla Firefox", "en", "de", ""}, // names
		{"{name}: %(count)s, %d {{x}} <b>", "{name}: %(count)s, %d {{x}} <b>", "en", "de", ""},
		{"Save", "The file has been saved in this folder.", "en", "de", "line"}, // English, though not the source
		{"", long, "en", "fr", "line"},
		{"Open _File of this person now", "Open &File of this person now", "en", "fr", untranslated}, // accelerators
	} {
		f, err := Options{}.message(message{source: c.source, value: c.value}, c.from, c.to)
		if err != nil || f.Kind != c.want {
			t.Errorf("%+v: %v %v", c, f, err)
		}
	}
}

// The English file beside a catalogue has its sources.
func TestSources(t *testing.T) {
	const saved = "Your file was saved in the folder of the project."
	within(t, map[string]string{
		"locales/en.json": `{"a": "` + saved + `", "b": "Save"}`, "locales/de.json": `{"a": "` + saved + `", "b": "Save"}`,
		"i18n/en/app.yml": "en:\n  a: " + saved + "\n", "i18n/de/app.yml": "de:\n  a: " + saved + "\n",
		"m/app_en.arb": `{"a": "` + saved + `"}`, "m/app_pt_BR.arb": `{"a": "` + saved + `", "@a": {"description": "` + saved + `"}}`,
		"config.json": `{"a": "` + saved + `"}`,
	})
	out, _, r, err := run(t, Options{}, "", "locales", "i18n", "m")
	if want := "i18n/de/app.yml:2:6: de.a: untranslated: en, expected de: "; err != nil || r.Findings != 3 || !strings.Contains(out, want) ||
		!strings.Contains(out, `locales/de.json:1:8: a: untranslated: en, expected de: "`) ||
		!strings.Contains(out, `m/app_pt_BR.arb:1:8: a: untranslated: en, expected pt-BR: "`) {
		t.Errorf("%s %v %v", out, r, err)
	}
	if _, _, _, err := run(t, Options{}, "", "config.json"); err == nil ||
		err.Error() != "config.json: no language in its path; say which with --language" {
		t.Errorf("%v", err)
	}
	if out, _, r, err := run(t, Options{Language: "de"}, "", "config.json"); err != nil || r.Findings != 1 {
		t.Errorf("%s %v %v", out, r, err)
	}
}

// Messages of many parts are put together, and each target of XLIFF is one.
func TestPartsOfMessages(t *testing.T) {
	const unit = `<xliff><trans-unit id="a"><source>one <x/>two</source><target>eins <x/>zwei<g>!</g></target>` +
		`<target>drei</target></trans-unit></xliff>`
	for name, c := range map[string]struct{ text, want string }{
		"a.po": {"msgid \"\"\n\"one \"\n\"two\"\nmsgstr \"\"\n\"eins \"\n\"zwei\"\n", "one two=eins zwei@33"},
		"b.po": {"msgid \"one\"\nmsgid_plural \"all of \"\n\"them\"\nmsgstr[0] \"eins\"\nmsgstr[1] \"\"\n\"alle\"\n",
			"=eins@53 all of them=alle@73"},
		"a.xliff": {unit, "one two=eins zwei!@62 one two=drei@100"},
	} {
		m, err := parse(name, c.text)
		var got []string
		for _, one := range m.all {
			got = append(got, fmt.Sprintf("%s=%s@%d", one.source, one.value, one.at))
		}
		if all := strings.Join(got, " "); err != nil || all != c.want {
			t.Errorf("%s: %s, %v; want %s", name, all, err, c.want)
		}
	}
}
