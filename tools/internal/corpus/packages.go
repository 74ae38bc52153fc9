// Package corpus reads the sentences of translated text in Debian packages.
package corpus

import (
	"archive/tar"
	"fmt"
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
