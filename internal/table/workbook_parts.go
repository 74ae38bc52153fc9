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

// archive is the zip file of a workbook (ECMA-376, Part 2: Open Packaging
// Conventions): XML parts, and relationships that say what they are.
type archive struct {
	parts map[string]*zip.File // by name in lower case, without a leading slash
}

// openWorkbook reads the directory of a workbook, at most maxWorkbook of it.
func openWorkbook(in io.Reader) (*archive, error) {
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
	b, size := &archive{map[string]*zip.File{}}, uint64(0)
	for _, f := range z.File {
		name := partName(strings.ReplaceAll(f.Name, `\`, "/"))
		if b.parts[name] != nil {
			return nil, fmt.Errorf("duplicate part %s", f.Name)
		}
		if b.parts[name] = f; f.UncompressedSize64 > maxWorkbook-size {
			return nil, fmt.Errorf("unpacks to more than %d MiB", maxWorkbook>>20)
		}
		size += f.UncompressedSize64
	}
	return b, nil
}

func partName(name string) string { return strings.ToLower(strings.TrimPrefix(path.Clean(name), "/")) }

// relationship is what one part says of another.
type relationship struct{ ID, Type, Target string }

// relationships are those of a part, or of the whole workbook (""); none if it
// has none.
func (b *archive) relationships(of string) ([]relationship, error) {
	dir, base := path.Split(of)
	p, err := b.open(path.Join(dir, "_rels", base+".rels"))
	if err != nil || p == nil {
		return nil, err
	}
	defer p.close()
	var list []relationship
	return list, p.each("Relationship", func(t xml.StartElement) {
		target := attribute(t, "Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(dir, target)
		}
		list = append(list, relationship{attribute(t, "Id"), attribute(t, "Type"), partName(target)})
	})
}

// firstSheet opens the first sheet with the strings that it may refer to.
func (b *archive) firstSheet() (*sheet, error) {
	top, err := b.relationships("")
	if err != nil {
		return nil, err
	}
	book := ""
	for _, r := range top {
		if strings.HasSuffix(r.Type, "/officeDocument") {
			book = r.Target
			break
		}
	}
	p, err := b.open(book)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, errors.New("has no workbook part")
	}
	defer p.close()
	id, name, found := "", "", false
	err = p.each("sheet", func(t xml.StartElement) {
		if !found {
			id, name, found = attribute(t, "id"), attribute(t, "name"), true
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errors.New("has no sheet")
	}
	related, err := b.relationships(book)
	if err != nil {
		return nil, err
	}
	s, strs := &sheet{}, ""
	for _, r := range related {
		switch {
		case r.ID == id && s.part == nil:
			if s.part, err = b.open(r.Target); err != nil {
				return nil, err
			}
		case strings.HasSuffix(r.Type, "/sharedStrings"):
			strs = r.Target
		}
	}
	if s.part == nil {
		return nil, fmt.Errorf("its first sheet, %q, is missing", name)
	}
	if s.shared, err = b.sharedStrings(strs); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// maxStrings bounds the shared strings: an empty one takes five bytes of XML and
// more of memory.
const maxStrings = 1 << 24

// sharedStrings reads the part of that name; there are none if there is no part.
func (b *archive) sharedStrings(name string) ([]string, error) {
	p, err := b.open(name)
	if err != nil || p == nil {
		return nil, err
	}
	defer p.close()
	var list []string
	for {
		token, err := p.token()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("after shared string %d: %w", len(list), err)
		}
		t, ok := token.(xml.StartElement)
		switch {
		case !ok || p.depth == 1:
		case t.Name.Local != "si":
			err = p.skip()
		case len(list) == maxStrings:
			err = fmt.Errorf("there are more than %d", maxStrings)
		default:
			var text string
			text, err = p.richText()
			list = append(list, text)
		}
		if err != nil {
			return nil, fmt.Errorf("shared string %d: %w", len(list), err)
		}
	}
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
func (b *archive) open(name string) (*part, error) {
	f := b.parts[partName(name)]
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

func (p *part) close() { p.file.Close() }

// token returns the next token, io.EOF at the end of a whole document. The zip
// file's checksum is verified there.
func (p *part) token() (xml.Token, error) {
	p.record.reset()
	t, err := p.xml.Token()
	if err == io.EOF && !p.rooted {
		err = io.ErrUnexpectedEOF
	}
	if err == io.EOF {
		return nil, err
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

// skip reads to the end of the element that began last.
func (p *part) skip() error {
	for outside := p.depth - 1; p.depth > outside; {
		if _, err := p.token(); err != nil {
			return err
		}
	}
	return nil
}

// each calls use with all elements of a name, to the end of the part.
func (p *part) each(name string, use func(xml.StartElement)) error {
	for {
		token, err := p.token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if t, ok := token.(xml.StartElement); ok && t.Name.Local == name {
			use(t)
		}
	}
}

// text is the text of the element that began last, without that of elements in
// it.
func (p *part) text() (string, error) {
	var b strings.Builder
	for inside := p.depth; ; {
		token, err := p.token()
		if err != nil {
			return "", err
		}
		if text, ok := token.(xml.CharData); ok && p.depth == inside {
			if b.Len()+len(text) > maxRecord {
				return "", tooLong(maxRecord)
			}
			b.Write(text)
		}
		if p.depth < inside {
			return b.String(), nil
		}
	}
}

// richText is the text of a string item (CT_Rst) that began last: its own, and
// that of its runs, but not how it is pronounced.
func (p *part) richText() (string, error) {
	var b strings.Builder
	for inside := p.depth; ; {
		token, err := p.token()
		if err != nil {
			return "", err
		}
		if p.depth < inside {
			return unescape(b.String()), nil
		}
		t, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch t.Name.Local {
		case "r":
		case "t":
			text, err := p.text()
			if err != nil {
				return "", err
			}
			if b.Len()+len(text) > maxRecord {
				return "", tooLong(maxRecord)
			}
			b.WriteString(text)
		default:
			if err := p.skip(); err != nil {
				return "", err
			}
		}
	}
}

// attribute is the value of an attribute, whatever its name space; "" if there
// is none.
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
