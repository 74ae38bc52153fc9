package table

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// archive is the zip file of a workbook (ECMA-376, Part 2: Open Packaging Conventions): XML parts by name in
// lower case, without a leading slash, and relationships that say what they are.
type archive map[string]*zip.File

// openWorkbook reads the directory of a workbook, at most maxWorkbook of it.
func openWorkbook(in io.Reader) (archive, error) {
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")) {
		return nil, errors.New("it is encrypted, or in the old format .xls: save it as .xlsx without a password")
	}
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	b, size := archive{}, uint64(0)
	for _, f := range z.File {
		name := partName(strings.ReplaceAll(f.Name, `\`, "/"))
		if b[name] != nil {
			return nil, fmt.Errorf("duplicate part %s", f.Name)
		}
		if b[name] = f; f.UncompressedSize64 > maxWorkbook-size {
			return nil, fmt.Errorf("unpacks to more than %d MiB", maxWorkbook>>20)
		}
		size += f.UncompressedSize64
	}
	return b, nil
}

func partName(name string) string { return strings.ToLower(strings.TrimPrefix(path.Clean(name), "/")) }

// relationship links one part to another.
type relationship struct{ id, kind, target string }

// relationships returns the relationships of a part, or of the whole workbook for "".
func (b archive) relationships(of string) ([]relationship, error) {
	dir, base := path.Split(of)
	var list []relationship
	_, err := b.read(path.Join(dir, "_rels", base+".rels"), func(t xml.StartElement) {
		r := relationship{attribute(t, "Id"), attribute(t, "Type"), attribute(t, "Target")}
		if !strings.HasPrefix(r.target, "/") {
			r.target = path.Join(dir, r.target)
		}
		r.target = partName(r.target)
		list = append(list, r)
	})
	return list, err
}

// firstSheet opens the first sheet with the strings that it may refer to.
func (b archive) firstSheet() (*sheet, error) {
	top, err := b.relationships("")
	if err != nil {
		return nil, err
	}
	book := ""
	for _, r := range top {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			book = r.target
			break
		}
	}
	var sheets []xml.StartElement
	switch found, err := b.read(book, func(t xml.StartElement) {
		if t.Name.Local == "sheet" && sheets == nil {
			sheets = append(sheets, t.Copy())
		}
	}); {
	case err != nil:
		return nil, err
	case !found:
		return nil, errors.New("has no workbook part")
	case sheets == nil:
		return nil, errors.New("has no sheet")
	}
	related, err := b.relationships(book)
	if err != nil {
		return nil, err
	}
	file, texts := "", ""
	for _, r := range related {
		switch {
		case r.id == attribute(sheets[0], "id") && file == "":
			file = r.target
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			texts = r.target
		}
	}
	s := &sheet{}
	if s.shared, err = b.sharedStrings(texts); err != nil {
		return nil, err
	}
	if s.part, err = b.open(file); err == nil && s.part == nil {
		err = fmt.Errorf("its first sheet, %q, is missing", attribute(sheets[0], "name"))
	}
	return s, err
}

// sharedStrings reads the part of that name; there are none if there is no part.
func (b archive) sharedStrings(name string) (list []string, err error) {
	p, err := b.open(name)
	if err != nil || p == nil {
		return nil, err
	}
	defer p.file.Close()
	in := 0 // the string that is read
	err = p.children(func(xml.StartElement) error {
		return p.children(func(t xml.StartElement) error {
			if t.Name.Local != "si" {
				return nil
			}
			if in = len(list) + 1; in > maxStrings {
				return fmt.Errorf("there are more than %d", maxStrings)
			}
			text, err := p.rich()
			if err == nil {
				list, in = append(list, text), 0
			}
			return err
		})
	})
	switch {
	case err != nil && in > 0:
		err = fmt.Errorf("shared string %d: %w", in, err)
	case err != nil:
		err = fmt.Errorf("after shared string %d: %w", len(list), err)
	}
	return list, err
}

// part reads one XML part, strictly and to its end.
type part struct {
	name   string
	file   io.ReadCloser
	record bounded // of one token
	xml    *xml.Decoder
	depth  int // of the element that the last token began or is in
	rooted bool
}

// open opens a part; nil if the workbook does not have it.
func (b archive) open(name string) (*part, error) {
	f := b[partName(name)]
	if f == nil {
		return nil, nil
	}
	file, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	p := &part{name: f.Name, file: file, record: bounded{in: file, most: maxRecord}}
	p.xml = xml.NewDecoder(&p.record)
	return p, nil
}

// read calls use with all elements of a part; found is false if the workbook does not have it.
func (b archive) read(name string, use func(xml.StartElement)) (found bool, err error) {
	p, err := b.open(name)
	if err != nil || p == nil {
		return false, err
	}
	defer p.file.Close()
	var all func(xml.StartElement) error
	all = func(t xml.StartElement) error {
		use(t)
		return p.children(all)
	}
	return true, p.children(all)
}

// token returns the next token, io.EOF at the end of a whole document. The zip file's checksum is verified there.
func (p *part) token() (xml.Token, error) {
	p.record.reset()
	t, err := p.xml.Token()
	switch {
	case err == io.EOF && p.rooted:
		return nil, err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	switch t.(type) {
	case xml.StartElement:
		if p.depth == 0 && p.rooted {
			return nil, fmt.Errorf("%s: has a second root element", p.name)
		}
		p.depth++
		p.rooted = true
	case xml.EndElement:
		p.depth--
	}
	return t, nil
}

// children calls use with each element in the one that the last token began, or at first with the root, to its
// end. What use does not read is passed over.
func (p *part) children(use func(xml.StartElement) error) error {
	for inside := p.depth; ; {
		t, err := p.token()
		if err == io.EOF {
			return nil
		}
		if err != nil || p.depth < inside {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		for err = use(start); err == nil && p.depth > inside; {
			_, err = p.token()
		}
		if err != nil {
			return err
		}
	}
}

// text is the text of the element that began last, without the elements in it.
func (p *part) text() (string, error) {
	var b []byte
	for inside := p.depth; ; {
		t, err := p.token()
		if err != nil || p.depth < inside {
			return string(b), err
		}
		if text, ok := t.(xml.CharData); ok && p.depth == inside {
			if b = append(b, text...); len(b) > maxRecord {
				return "", tooLong(maxRecord)
			}
		}
	}
}

// rich is the text of a string item (CT_Rst) that began last: its own, and that of its runs, but not how it is
// pronounced.
func (p *part) rich() (string, error) {
	text := ""
	var add func(xml.StartElement) error
	add = func(t xml.StartElement) error {
		switch t.Name.Local {
		case "r":
			return p.children(add)
		case "t":
			more, err := p.text()
			if text += more; len(text) > maxRecord {
				return tooLong(maxRecord)
			}
			return err
		}
		return nil
	}
	err := p.children(add)
	return unescape(text), err
}

// attribute is the value of an attribute, whatever its name space; "" if there is none.
func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var escaped = regexp.MustCompile(`(_x[0-9A-Fa-f]{4}_)+`)

// unescape resolves what XML cannot hold and workbooks write as _xHHHH_ (ST_Xstring).
func unescape(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escaped.ReplaceAllStringFunc(text, func(run string) string {
		var units []uint16
		for at := 0; at < len(run); at += len("_x0000_") {
			n, _ := strconv.ParseUint(run[at+2:at+6], 16, 16)
			units = append(units, uint16(n))
		}
		return string(utf16.Decode(units))
	})
}
