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
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Limits of a sheet. The first two are Excel's.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
	maxStrings = 1 << 24 // shared: an empty one takes five bytes of XML and more of memory
)

// maxCells is the most cells that are read from a sheet, including blank ones: more than fit in maxWorkbook. It
// changes only in tests.
var maxCells = 1 << 26

type sheet struct {
	path     string
	yield    func(Row) bool
	shared   []string
	columns  []string
	repeated []string
	row      int // the last row read
	cells    int // in all rows so far
	values   []string
}

// readWorkbook reads the first sheet of a workbook (ECMA-376, Part 1, section 18.3) to its end. Anything that could
// lose a row or a value is an error: the sheet's XML must be well-formed to its last byte, its rows and cells in
// order, and all its shared strings present. (excelize reads a truncated sheet as a shorter one.)
//
// Values are returned as stored: a number as written, a date as a number, true as 1, and a formula's cached result.
func readWorkbook(f *File, yield func(Row) bool) error {
	path, s := f.Path, &sheet{path: f.Path, yield: yield}
	book, err := openWorkbook(&bounded{in: &f.text, most: maxWorkbook})
	file := ""
	if err == nil {
		file, s.shared, err = book.firstSheet()
	}
	if err != nil {
		return fmt.Errorf("%s: is not a readable workbook: %w", path, err)
	}
	switch _, err = book.read(file, s.read); {
	case err == errStop:
		return nil
	case err != nil:
		return fmt.Errorf("%s:%d: %w", path, max(1, s.row), err)
	case s.row == 0:
		return fmt.Errorf("%s: the first sheet is empty", path)
	}
	return nil
}

func (s *sheet) read(p *part, t xml.StartElement) error {
	if t.Name.Local != "worksheet" {
		return fmt.Errorf("the first sheet is a %s; expected a worksheet", t.Name.Local)
	}
	begun := false
	return p.children(func(t xml.StartElement) error {
		switch {
		case t.Name.Local != "sheetData":
			return p.decode(&struct{}{}, t)
		case begun:
			return errors.New("the sheet has a second sheetData")
		}
		begun = true
		return p.children(func(t xml.StartElement) error {
			if t.Name.Local != "row" {
				return fmt.Errorf("unexpected element %s; expected row", t.Name.Local)
			}
			return s.readRow(p, t)
		})
	})
}

// readRow yields a row, after the blank rows before it that the file omits. The first row is the header.
func (s *sheet) readRow(p *part, t xml.StartElement) error {
	text := strconv.Itoa(s.row + 1) // a row without a number follows the one before
	for _, a := range t.Attr {
		if a.Name.Local == "r" {
			text = a.Value
		}
	}
	number, _ := strconv.Atoi(text) // 0 if it is not a number
	if number <= s.row || number > maxRows {
		return fmt.Errorf("after this row comes row %s; expected %d to %d", text, s.row+1, maxRows)
	}
	line := s.row + 1
	s.row = number
	err := s.readCells(p)
	if err != nil {
		return err
	}
	for ; line <= number; line++ {
		var values []string
		if line == number {
			values = s.values
		}
		if line == 1 {
			s.columns = slices.Clone(values)
			if s.repeated, err = checkHeader(s.columns); err != nil {
				return err
			}
			continue
		}
		if s.cells += max(1, len(s.columns)); s.cells > maxCells {
			return fmt.Errorf("has more than %d cells up to here", maxCells)
		}
		if len(values) > len(s.columns) && strings.Join(values[len(s.columns):], "") != "" {
			return fmt.Errorf("has %d cells; the header has %d", len(values), len(s.columns))
		}
		if !s.yield(rowOf(s.path, line, 1, s.columns, s.repeated, values)) {
			return errStop
		}
	}
	return nil
}

// readCells reads the values of a row to its end; empty ones at the end are dropped.
func (s *sheet) readCells(p *part) error {
	size, column := 0, 0
	s.values = s.values[:0]
	return p.children(func(t xml.StartElement) (err error) {
		if t.Name.Local == "row" {
			return errors.New("unexpected element row inside of a row")
		}
		if t.Name.Local != "c" {
			return p.decode(&struct{}{}, t)
		}
		var c cell
		if err := p.decode(&c, t); err != nil {
			return err
		}
		if column, err = s.column(c.Ref, column); err != nil {
			return err
		}
		value, err := c.text(s.shared)
		if err != nil {
			return fmt.Errorf("column %d: %w", column, err)
		}
		if size += len(value); size > maxRecord {
			return tooLong(maxRecord)
		}
		if value != "" || c.Formula != nil { // a formula without a result counts as a cell of the header
			s.values = append(append(s.values, make([]string, column-1-len(s.values))...), value)
		}
		return nil
	})
}

// column returns the column of a cell, from 1. It must follow the column before; a cell without a reference is in the
// next one.
func (s *sheet) column(ref string, before int) (int, error) {
	letters := strings.TrimRight(ref, "0123456789")
	column := 0
	for _, c := range []byte(strings.ToUpper(letters)) {
		if c < 'A' || c > 'Z' || column > maxColumns {
			column = 0
			break
		}
		column = 26*column + int(c-'A') + 1
	}
	switch {
	case ref == "" && before < maxColumns:
		return before + 1, nil
	case ref == "":
		return 0, fmt.Errorf("has more than %d columns", maxColumns)
	case column <= before || column > maxColumns || ref[len(letters):] != strconv.Itoa(s.row):
		return 0, fmt.Errorf("has the cell %q after column %d; expected cells in ascending order, up to XFD%d",
			ref, before, s.row)
	}
	return column, nil
}

type cell struct {
	Ref     string     `xml:"r,attr"`
	Type    string     `xml:"t,attr"`
	Values  []string   `xml:"v"`
	Inline  []richText `xml:"is"`
	Formula *struct{}  `xml:"f"`
}

func (c *cell) text(shared []string) (string, error) {
	value := strings.Join(c.Values, "")
	switch {
	case max(len(c.Values), len(c.Inline)) > 1:
		return "", errors.New("a cell has two values")
	case c.Type == "inlineStr" && c.Inline != nil:
		return c.Inline[0].text(), nil
	case c.Type == "s" && value != "":
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n >= len(shared) {
			return "", fmt.Errorf("refers to the shared string %q; the workbook has %d of them", value, len(shared))
		}
		return shared[n], nil
	case !slices.Contains([]string{"", "n", "b", "d", "e", "s", "str", "inlineStr"}, c.Type):
		return "", fmt.Errorf("a cell has the unknown type %q", c.Type)
	}
	return value, nil
}

// richText is a string item (CT_Rst): its own text and the text of its runs, without the phonetic text.
type richText struct {
	Own  []string `xml:"t"`
	Runs []struct {
		Text string `xml:"t"`
	} `xml:"r"`
}

var escaped = regexp.MustCompile(`(_x[0-9A-Fa-f]{4}_)+`)

// text decodes characters that XML cannot contain and that workbooks write as _xHHHH_ (ST_Xstring).
func (r richText) text() string {
	for _, run := range r.Runs {
		r.Own = append(r.Own, run.Text)
	}
	text := strings.Join(r.Own, "")
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

// archive is the zip file of a workbook (ECMA-376, Part 2: Open Packaging Conventions): XML parts by name in lower
// case, without a leading slash, and the relationships between them.
type archive map[string]*zip.File

// openWorkbook reads the directory of a workbook's zip file, at most maxWorkbook bytes of the file.
func openWorkbook(in io.Reader) (archive, error) {
	start := make([]byte, 4)
	n, err := io.ReadFull(in, start)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	case bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		return nil, errors.New("it is encrypted, or in the old format .xls: save it as .xlsx without a password")
	case !bytes.HasPrefix(start, []byte("PK")):
		return nil, zip.ErrFormat
	}
	content, err := io.ReadAll(io.MultiReader(bytes.NewReader(start[:n]), in))
	if err != nil {
		return nil, err
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

// relation is a relationship of the workbook, or a part of it, with another part.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:",attr"`
	Target string `xml:",attr"`
}

func (r relation) is(kind string) bool { return strings.HasSuffix(r.Type, "/"+kind) }

// related returns the part to which a part, or the workbook for "", has a relationship that satisfies is; "" if none.
func (b archive) related(of string, is func(relation) bool) (string, error) {
	dir, base := path.Split(of)
	var list struct{ Relationship []relation }
	_, err := b.decode(path.Join(dir, "_rels", base+".rels"), &list)
	i := slices.IndexFunc(list.Relationship, is)
	if i < 0 {
		return "", err
	}
	target := list.Relationship[i].Target
	if !strings.HasPrefix(target, "/") {
		target = path.Join(dir, target)
	}
	return partName(target), err
}

// firstSheet returns the name of the first sheet's part, and the strings that the sheet may refer to.
func (b archive) firstSheet() (file string, shared []string, err error) {
	book, err := b.related("", func(r relation) bool { return r.is("officeDocument") })
	if err != nil {
		return "", nil, err
	}
	var list struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	switch found, err := b.decode(book, &list); {
	case err != nil:
		return "", nil, err
	case !found:
		return "", nil, errors.New("has no workbook part")
	case list.Sheets == nil:
		return "", nil, errors.New("has no sheet")
	}
	first := list.Sheets[0]
	if file, err = b.related(book, func(r relation) bool { return r.ID == first.ID }); err != nil {
		return "", nil, err
	}
	if b[file] == nil {
		return "", nil, fmt.Errorf("its first sheet, %q, is missing", first.Name)
	}
	texts, _ := b.related(book, func(r relation) bool { return r.is("sharedStrings") }) // no error: see above
	_, err = b.read(texts, func(p *part, _ xml.StartElement) error {
		return p.children(func(t xml.StartElement) error {
			if len(shared) == maxStrings {
				return fmt.Errorf("there are more than %d", maxStrings)
			}
			var text richText
			err := p.decode(&text, t)
			if err == nil && t.Name.Local == "si" {
				shared = append(shared, text.text())
			}
			return err
		})
	})
	if err != nil {
		err = fmt.Errorf("after shared string %d: %w", len(shared), err)
	}
	return file, shared, err
}

// part reads one XML part, strictly and to its end.
type part struct {
	name   string
	record bounded // limits the bytes between two elements
	xml    *xml.Decoder
}

// decode reads a part into to.
func (b archive) decode(name string, to any) (found bool, err error) {
	return b.read(name, func(p *part, t xml.StartElement) error { return p.decode(to, t) })
}

// read calls root with the root element of a part; root must read it to its end. found is false if the workbook has
// no such part.
func (b archive) read(name string, root func(*part, xml.StartElement) error) (found bool, err error) {
	f := b[partName(name)]
	if f == nil {
		return false, nil
	}
	file, err := f.Open()
	if err != nil {
		return true, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer file.Close()
	p := &part{name: f.Name, record: bounded{in: file, most: maxRecord}}
	p.xml = xml.NewDecoder(&p.record)
	roots := 0
	err = p.children(func(t xml.StartElement) error {
		if roots++; roots > 1 {
			return p.wrong(errors.New("has a second root element"))
		}
		return root(p, t)
	})
	if err == nil && roots == 0 {
		err = p.wrong(io.ErrUnexpectedEOF)
	}
	return true, err
}

// children calls use with each child of the open element, or with the root element at first; use must read it to its
// end.
func (p *part) children(use func(xml.StartElement) error) error {
	for {
		p.record.reset()
		t, err := p.xml.Token()
		if err == io.EOF { // the whole document was read, and the zip file's checksum verified
			return nil
		}
		if err != nil {
			return p.wrong(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := use(t); err != nil {
				return err
			}
		}
	}
}

// decode reads the open element to its end, into to.
func (p *part) decode(to any, t xml.StartElement) error {
	p.record.reset()
	if err := p.xml.DecodeElement(to, &t); err != nil {
		return p.wrong(err)
	}
	return nil
}

func (p *part) wrong(err error) error { return fmt.Errorf("%s: %w", p.name, err) }
