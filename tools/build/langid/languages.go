package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
)

// How many training lines a language gets. The core is what the Language Confusion Benchmark asks for; its neighbours
// are there to be told apart from it, the others to be recognised at all. Twins are so close to a core language that
// software's texts do not tell the two apart in talk of daily life; a line is then taken for the core language.
const (
	coreLines    = 70_000
	englishLines = 180_000
	nearLines    = 12_000
	farLines     = 5_000
	twinLines    = 3_000
)

var (
	core = set("ar de es fr hi id it ja ko pt ru tr vi zh")
	near = set("af az be bg ca cs da el eo et eu fa fi he hr hu lt lv mk mr ne nl no pl ro sk sl sq sr sv sw tl uk ur")
	twin = set("ast gl ms oc")
	far  = set("am as bn br cy ga gd gu hy is ka kk km kn ml my or pa si ta te th uz")
)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func target(language string) int {
	switch {
	case language == "en":
		return englishLines
	case core[language]:
		return coreLines
	case near[language]:
		return nearLines
	case far[language]:
		return farLines
	case twin[language]:
		return twinLines
	}
	return 0
}

// language maps a locale, as packages write it, to lid.176's label: "" if it has none here.
func language(locale string) string {
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", "_"))
	base, variant, _ := strings.Cut(locale, "@")
	base, _, _ = strings.Cut(base, "_")
	switch {
	case locale == "c":
		return "en"
	case base == "sr" && (strings.Contains(locale, "latn") || variant == "latin"):
		return "hr"
	case variant == "valencia":
		return "ca"
	case variant != "":
		return ""
	}
	switch base {
	case "nb", "nn":
		return "no"
	case "bs":
		return "hr"
	case "iw":
		return "he"
	case "in":
		return "id"
	case "fil":
		return "tl"
	}
	if target(base) == 0 {
		return ""
	}
	return base
}

// scripts lists the scripts of the languages that are not written in Latin.
var scripts = map[string][]*unicode.RangeTable{
	"zh": {unicode.Han},
	"ja": {unicode.Han, unicode.Hiragana, unicode.Katakana},
	"ko": {unicode.Hangul},
}

func init() {
	for table, languages := range map[*unicode.RangeTable]string{
		unicode.Arabic:     "ar fa ur",
		unicode.Armenian:   "hy",
		unicode.Bengali:    "bn as",
		unicode.Cyrillic:   "ru uk bg sr mk be kk",
		unicode.Devanagari: "hi mr ne",
		unicode.Ethiopic:   "am",
		unicode.Georgian:   "ka",
		unicode.Greek:      "el",
		unicode.Gujarati:   "gu",
		unicode.Gurmukhi:   "pa",
		unicode.Hebrew:     "he",
		unicode.Kannada:    "kn",
		unicode.Khmer:      "km",
		unicode.Malayalam:  "ml",
		unicode.Myanmar:    "my",
		unicode.Oriya:      "or",
		unicode.Sinhala:    "si",
		unicode.Tamil:      "ta",
		unicode.Telugu:     "te",
		unicode.Thai:       "th",
	} {
		for language := range set(languages) {
			scripts[language] = []*unicode.RangeTable{table}
		}
	}
}

// unspaced languages put no space between words.
var unspaced = set("zh ja th km my")

// gettext calls yield with the translations of a GNU .mo catalogue that differ from their source.
func gettext(data []byte, yield func(string)) error {
	const magic = 0x950412de
	if len(data) < 20 || binary.LittleEndian.Uint32(data) != magic {
		return fmt.Errorf("not a little-endian gettext catalogue")
	}
	word := func(at uint32) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	text := func(at uint32) string {
		n, p := word(at), word(at+4)
		return string(data[p : p+n])
	}
	n, sources, translations := word(8), word(12), word(16)
	for i := range n {
		source, translation := text(sources+8*i), text(translations+8*i)
		if source == "" {
			continue // the header
		}
		if _, after, ok := strings.Cut(source, "\x04"); ok {
			source = after
		}
		forms := strings.Split(source, "\x00")
		for _, t := range strings.Split(translation, "\x00") {
			if t != forms[0] && t != forms[len(forms)-1] {
				yield(t)
			}
		}
	}
	return nil
}

// languagePack calls yield with the messages of a Firefox extension: Fluent and Java property files in a zip.
func languagePack(data []byte, yield func(string)) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		messages := map[string]func(string, func(string)){".ftl": fluent, ".properties": properties}[path.Ext(f.Name)]
		if messages == nil {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return err
		}
		messages(string(text), yield)
	}
	return nil
}

// fluent joins the lines of each message or attribute.
func fluent(s string, yield func(string)) {
	message := ""
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		body := strings.TrimSpace(line)
		name, value, ok := strings.Cut(body, "=")
		name = strings.TrimPrefix(strings.TrimSpace(name), ".")
		switch {
		case strings.HasPrefix(line, "#"):
		case ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "":
			yield(message)
			message = strings.TrimSpace(value)
		case strings.HasPrefix(line, " ") && body != "" && !strings.ContainsAny(body[:1], "[*}."):
			message = strings.TrimSpace(message + " " + body)
		default:
			yield(message)
			message = ""
		}
	}
	yield(message)
}

func properties(s string, yield func(string)) {
	for line := range strings.Lines(s) {
		if _, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			yield(strings.TrimSpace(value))
		}
	}
}

// pak calls yield with the strings of a Chromium data pack, version 5, UTF-8.
func pak(data []byte, yield func(string)) error {
	const header, entry = 12, 6
	if len(data) < header || binary.LittleEndian.Uint32(data) != 5 || data[4] != 1 {
		return fmt.Errorf("not a data pack of version 5 in UTF-8")
	}
	n := int(binary.LittleEndian.Uint16(data[8:]))
	offset := func(i int) uint32 { return binary.LittleEndian.Uint32(data[header+entry*i+2:]) }
	for i := range n {
		yield(string(data[offset(i):offset(i+1)]))
	}
	return nil
}
