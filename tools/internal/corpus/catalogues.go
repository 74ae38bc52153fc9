package corpus

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
)

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
