// Package corpus reads the sentences of translated text in Debian packages.
package corpus

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"html"
	"io"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

// Text is a paragraph or message of a package, not yet cleaned.
type Text struct {
	language string
	origin   string // the project: help, office, firefox, ...
	body     string
}

// HeldOut are origins that are not trained on: they tell how the model does on text of another kind. The training text
// is under the Mozilla Public License 2.0, the 3-clause BSD licence, WordNet's or in the public domain; these are under
// CC BY-SA 3.0.
var HeldOut = Set("gnome handbook novels")

// Novels of php-faker whose author had died by 1943; the others are held out.
var books = Set("cs_CZ de_DE en_US es_ES fr_CA fr_FR hu_HU ja_JP nl_BE pl_PL pt_BR zh_TW")

// ReadPackage calls yield with the texts of a Debian package.
func ReadPackage(deb string, yield func(Text)) error {
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	pkg, _, _ := strings.Cut(path.Base(deb), "_")
	files := tar.NewReader(out)
	for {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", deb, err)
		}
		if h.Typeflag != tar.TypeReg || strings.HasPrefix(h.Name, "./usr/share/doc/"+pkg+"/copyright") {
			continue
		}
		if err := readFile(pkg, h.Name, files, yield); err != nil {
			return fmt.Errorf("%s: %s: %w", deb, h.Name, err)
		}
	}
	return cmd.Wait()
}

var (
	messages = regexp.MustCompile(`/([^/]+)/LC_MESSAGES/[^/]+\.mo$`)
	locale   = regexp.MustCompile(`/locales/([A-Za-z0-9-]+)\.pak$`)
	manual   = regexp.MustCompile(`^\./usr/share/help/([^/]+)/.*\.page$`)
	chapter  = regexp.MustCompile(`/html/([a-z]+)-[A-Z]+/[^/]+\.html$`)
	novel    = regexp.MustCompile(`/Provider/([a-z]+_[A-Z]+)/Text\.php$`)
)

func readFile(pkg, name string, r io.Reader, yield func(Text)) error {
	var origin, code string
	var parse func(data []byte, yield func(string)) error
	prose := func(data []byte, yield func(string)) error {
		paragraphs(string(data), yield)
		return nil
	}
	match := func(re *regexp.Regexp) bool {
		m := re.FindStringSubmatch(name)
		if m != nil {
			code = m[1]
		}
		return m != nil
	}
	switch {
	case strings.HasPrefix(pkg, "libreoffice-help-") && strings.HasSuffix(name, ".html"):
		origin, code, parse = "help", strings.TrimPrefix(pkg, "libreoffice-help-"), helpPage
	case strings.HasPrefix(pkg, "libreoffice-l10n-") && match(messages):
		origin, parse = "office", gettext
	case strings.HasPrefix(pkg, "firefox-esr-l10n-") && strings.HasSuffix(name, ".xpi"):
		origin, code, parse = "firefox", strings.TrimPrefix(pkg, "firefox-esr-l10n-"), languagePack
	case pkg == "chromium-l10n" && match(locale):
		origin, parse = "chromium", pak
	case pkg == "wordnet-base" && strings.HasPrefix(path.Base(name), "data."):
		origin, code, parse = "wordnet", "en", glosses
	case pkg == "gnome-user-docs" && match(manual):
		origin, parse = "gnome", prose
	case pkg == "debian-handbook" && match(chapter):
		origin, parse = "handbook", prose
	case pkg == "php-faker" && match(novel):
		origin, parse = "novels", novelText
		if books[code] {
			origin = "books"
		}
	default:
		return nil
	}
	if code = languageOf(code); code == "" {
		return nil
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return parse(data, func(s string) {
		if s != "" {
			yield(Text{code, origin, s})
		}
	})
}

// helpPage leaves the navigation around a page of LibreOffice help out.
func helpPage(data []byte, yield func(string)) error {
	_, page, _ := strings.Cut(string(data), `<div id="DisplayArea"`)
	paragraphs("<div"+page, yield)
	return nil
}

// glosses reads definitions and examples.
func glosses(data []byte, yield func(string)) error {
	for line := range strings.Lines(string(data)) {
		if _, gloss, ok := strings.Cut(line, " | "); ok && !strings.HasPrefix(line, "  ") {
			for part := range strings.SplitSeq(gloss, `"`) {
				yield(strings.Trim(part, "; \n"))
			}
		}
	}
	return nil
}

// novelText is the string between the markers of a PHP document.
func novelText(data []byte, yield func(string)) error {
	_, body, _ := strings.Cut(string(data), "<<<'EOT'")
	body, _, _ = strings.Cut(body, "EOT;")
	for p := range strings.SplitSeq(body, "\n\n") {
		yield(p)
	}
	return nil
}

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

// Elements whose text is no prose, and elements that end a paragraph.
var (
	dropped = Set(`script style pre programlisting screen synopsis svg nav info credit revision legalnotice head code
		aside`)
	blocks = Set(`p li td th tr h1 h2 h3 h4 h5 h6 dt dd div title para listitem entry term caption desc item section
		table ul ol dl br hr body subtitle note figure text blockquote`)
)

// paragraphs calls yield with the paragraphs of HTML, DocBook or Mallard.
func paragraphs(s string, yield func(string)) {
	var b strings.Builder
	flush := func() {
		if text := strings.TrimSpace(html.UnescapeString(b.String())); text != "" {
			yield(text)
		}
		b.Reset()
	}
	for s != "" {
		text, rest, found := strings.Cut(s, "<")
		b.WriteString(text)
		if !found {
			break
		}
		if after, ok := strings.CutPrefix(rest, "!--"); ok {
			_, s, _ = strings.Cut(after, "-->")
			continue
		}
		tag, after, _ := strings.Cut(rest, ">")
		s = after
		name := strings.TrimPrefix(tag, "/")
		name = strings.ToLower(name[:wordEnd(name)])
		switch {
		case dropped[name] && !strings.HasSuffix(tag, "/") && !strings.HasPrefix(tag, "/"):
			if name != "code" {
				flush()
			}
			_, s, _ = strings.Cut(s, "</"+name)
			_, s, _ = strings.Cut(s, ">")
		case blocks[name]:
			flush()
		}
	}
	flush()
}

func wordEnd(s string) int {
	for i := range len(s) {
		if !('a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z' || '0' <= s[i] && s[i] <= '9') {
			return i
		}
	}
	return len(s)
}
