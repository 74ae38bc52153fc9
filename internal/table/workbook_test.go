package table

import (
	"archive/zip"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

const (
	topRels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`
	bookXML = `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="first" sheetId="2" r:id="rId1"/><sheet name="second" sheetId="1" r:id="rId3"/></sheets></workbook>`
	bookRels = `<Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="/xl/strings.xml"/></Relationships>`
	sheetHead = `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1"/><sheetData>`
	sheetTail = `</sheetData><pageMargins left="0.7"/></worksheet>`
	header    = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="str"><v>b</v></c></row>`
)

// zipped is a workbook of these parts, given in pairs of name and content.
func zipped(t testing.TB, parts ...string) []byte { return archived(t, zip.Deflate, parts) }

func archived(t testing.TB, method uint16, parts []string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i], Method: method})
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ofSheet is a workbook with this XML of its first sheet and of its shared
// strings.
func ofSheet(t testing.TB, sheet, shared string) []byte {
	t.Helper()
	return zipped(t, partsOf(sheet, shared)...)
}

func partsOf(sheet, shared string) []string {
	parts := []string{"_rels/.rels", topRels, "xl/workbook.xml", bookXML, "xl/_rels/workbook.xml.rels", bookRels, "xl/worksheets/sheet1.xml", sheet}
	if shared != "" {
		parts = append(parts, "xl/strings.xml", shared)
	}
	return parts
}

// All kinds of values, gaps of rows and cells, rows and cells without numbers,
// and elements that say nothing about values.
func TestWorkbookValues(t *testing.T) {
	content := ofSheet(t, sheetHead+header+
		`<row r="3"><c r="B3" t="s"><v> 1 </v></c></row>`+
		`<row><c><v>1.50</v></c><c t="b"><v>1</v></c></row>`+
		`<row r="5" spans="1:2"><c r="A5" t="s"><f>A1</f><v>0</v></c><c r="B5" t="d"><v>2026-11-22</v></c></row>`+
		`<row r="6"><c r="A6" s="3"/><c r="B6" t="e"><v>#N/A</v></c><c r="C6"/><extLst><ext><row/></ext></extLst></row>`+
		`<row r="7"><c r="A7" t="inlineStr"><is><r><rPr><b/></rPr><t>bo</t></r><r><t xml:space="preserve">ld </t></r><rPh sb="0"><t>no</t></rPh></is></c></row>`+
		`<row r="8"/>`+`<row><c t="s"/><c t="s"><v>1</v></c><c><f>A1</f><v></v></c></row>`+sheetTail,
		`<sst count="9"><extLst><t>no</t></extLst><si><t>zero_x000D__xD83D__xDE00_ _x005F_x000D_</t></si><si><r><t>o</t></r><r><t>ne</t></r></si></sst>`)
	rows, err := readAll(write(t, "a.xlsx", content))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{2: "|", 3: "|one", 4: "1.50|1", 5: "zero\r😀 _x000D_|2026-11-22", 6: "|#N/A", 7: "bold |", 8: "|", 9: "|one"}
	if len(rows) != 8 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if got := r.Values["a"] + "|" + r.Values["b"]; got != want[r.Line] {
			t.Errorf("row %d: %q, want %q", r.Line, got, want[r.Line])
		}
	}
}

// A column whose name is a formula without a result has no name and is left out, with what is below it.
func TestHeaderOfFormulas(t *testing.T) {
	content := ofSheet(t, sheetHead+`<row><c><v>a</v></c><c><f>X1</f><v></v></c></row><row><c><v>1</v></c><c><v>2</v></c></row>`+sheetTail, "")
	rows, err := readAll(write(t, "a.xlsx", content))
	if err != nil || len(rows) != 1 || len(rows[0].Values) != 1 || rows[0].Values["a"] != "1" {
		t.Errorf("%+v, %v", rows, err)
	}
}

// A workbook that is damaged anywhere is an error that says where: no row and no
// value is lost in silence.
func TestDamagedWorkbooks(t *testing.T) {
	row := `<row r="2"><c r="A2" t="inlineStr"><is><t>x</t></is></c><c r="B2"><v>2</v></c></row>`
	damaged := func(cell string) string {
		return sheetHead + header + strings.Replace(row, "x</t>", cell+"</t>", 1) + sheetTail
	}
	cellOf := func(cell string) string { return sheetHead + header + `<row r="2">` + cell + `</row>` + sheetTail }
	whole := sheetHead + header + row + sheetTail
	good := ofSheet(t, whole, "")
	if rows, err := readAll(write(t, "a.xlsx", good)); err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for name, c := range map[string]struct{ sheet, shared, want string }{
		"cut before a row":      {sheetHead + header, "", ":1: .*unexpected EOF"},
		"cut in a row":          {sheetHead + header + row[:30], "", ":2: .*unexpected EOF"},
		"cut after a row":       {sheetHead + header + row, "", ":2: .*unexpected EOF"},
		"cut after sheetData":   {sheetHead + header + row + "</sheetData>", "", ":2: .*unexpected EOF"},
		"empty":                 {"", "", ":1: .*unexpected EOF"},
		"ampersand":             {damaged("fish & chips"), "", ":2: .*invalid character entity"},
		"entity":                {damaged("fish&nbsp;chips"), "", ":2: .*invalid character entity"},
		"control character":     {damaged("fish\x0bchips"), "", ":2: .*illegal character code U\\+000B"},
		"no UTF-8":              {damaged("fish\xff"), "", ":2: .*invalid UTF-8"},
		"external entity":       {`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + damaged("&e;"), "", ":2: .*invalid character entity"},
		"two documents":         {whole + whole, "", ":2: .*second root element"},
		"two sheetData":         {strings.Replace(whole, "<pageMargins", "<sheetData>"+row+"</sheetData><pageMargins", 1), "", ":2: the sheet has a second sheetData"},
		"a chart":               {"<chartsheet></chartsheet>", "", ":1: the first sheet is a chartsheet; expected a worksheet"},
		"row too far":           {strings.Replace(whole, `row r="2"`, `row r="99999999999"`, 1), "", ":1: after this row comes row 99999999999; expected 2 to 1048576"},
		"row 1048577":           {strings.Replace(whole, `row r="2"`, `row r="1048577"`, 1), "", ":1: after this row comes row 1048577; expected 2 to 1048576"},
		"row number 0":          {strings.Replace(whole, `row r="2"`, `row r="0"`, 1), "", `:1: after this row comes row 0; expected 2 to`},
		"row number x":          {strings.Replace(whole, `row r="2"`, `row r="x"`, 1), "", `:1: after this row comes row x; expected 2 to`},
		"row twice":             {sheetHead + header + row + row + sheetTail, "", ":2: after this row comes row 2; expected 3 to 1048576"},
		"row in a row":          {sheetHead + header + `<row r="2"><row r="3"></row></row>` + sheetTail, "", ":2: unexpected element row"},
		"cell in sheetData":     {sheetHead + header + `<c r="A2"/>` + sheetTail, "", ":1: unexpected element c; expected row"},
		"column too far":        {cellOf(`<c r="XFE2"/>`), "", `:2: has the cell "XFE2" after column 0; expected cells in ascending order, up to XFD2`},
		"column far too far":    {cellOf(`<c r="ZZZZZZZZZZZZZZZZZZZZ2"/>`), "", `:2: has the cell "Z+2" after column 0; expected`},
		"no column":             {cellOf(`<c r="2"/>`), "", `:2: has the cell "2" after column 0; expected`},
		"cell of another row":   {cellOf(`<c r="A3"/>`), "", `:2: has the cell "A3" after column 0; expected`},
		"cells in disorder":     {cellOf(`<c r="B2"/><c r="A2"/>`), "", `:2: has the cell "A2" after column 2`},
		"cell twice":            {cellOf(`<c r="A2"><v>1</v></c><c r="A2"><v>2</v></c>`), "", `:2: has the cell "A2" after column 1`},
		"two values":            {cellOf(`<c r="A2"><v>1</v><v>2</v></c>`), "", `:2: column 1: a cell has two values`},
		"unknown type":          {cellOf(`<c r="A2" t="q"><v>1</v></c>`), "", `:2: column 1: a cell has the unknown type "q"`},
		"no shared strings":     {cellOf(`<c r="A2" t="s"><v>0</v></c>`), "", `:2: column 1: refers to the shared string "0"; the workbook has 0`},
		"shared string -1":      {cellOf(`<c r="A2" t="s"><v>-1</v></c>`), "<sst><si/></sst>", `:2: column 1: refers to the shared string "-1"; the workbook has 1`},
		"shared string 1 of 1":  {cellOf(`<c r="A2" t="s"><v>1</v></c>`), "<sst><si/></sst>", `:2: column 1: refers to the shared string "1"; the workbook has 1`},
		"shared string x":       {cellOf(`<c r="A2" t="s"><v>x</v></c>`), "<sst><si/></sst>", `:2: column 1: refers to the shared string "x"`},
		"strings that are cut":  {whole, "<sst><si><t>a</t></si>", ": is not a readable workbook: after shared string 1: .*unexpected EOF"},
		"a string that is cut":  {whole, "<sst><si><t>a</si></sst>", ": is not a readable workbook: after shared string 0: .*element <t> closed by </si>"},
		"a row of 20 MiB":       {cellOf(strings.Repeat(`<c t="str"><v>`+strings.Repeat("x", 1<<20)+`</v></c>`, 20)), "", ":2: is longer than 16 MiB"},
		"a cell of 20 MiB":      {cellOf(`<c t="str"><v>` + strings.Repeat("x", 20<<20) + `</v></c>`), "", ":2: .*is longer than 16 MiB"},
		"a cell of many pieces": {cellOf(`<c t="str"><v>` + strings.Repeat(strings.Repeat("x", 1<<20)+"<!-- -->", 20) + `</v></c>`), "", ":2: .*is longer than 16 MiB"},
		"more than all columns": {cellOf(strings.Repeat("<c/>", maxColumns+1)), "", ":2: has more than 16384 columns"},
	} {
		path := write(t, "a.xlsx", ofSheet(t, c.sheet, c.shared))
		rows, err := readAll(path)
		if err == nil || !strings.HasPrefix(err.Error(), path) ||
			!regexp.MustCompile("^"+c.want).MatchString(strings.TrimPrefix(err.Error(), path)) {
			t.Errorf("%s: %d rows, %v; want %s", name, len(rows), err, c.want)
		}
	}
	wide := `<row r="1">`
	for i := range 17 {
		wide += fmt.Sprintf(`<c t="str"><v>a%d</v></c>`, i)
	}
	for cells, fits := range map[int]bool{16: true, 17: false} { // of 1 MiB each
		row := strings.Repeat(`<c t="str"><v>`+strings.Repeat("x", 1<<20)+`</v></c>`, cells)
		content := ofSheet(t, sheetHead+wide+"</row><row>"+row+"</row>"+sheetTail, "")
		if _, err := readAll(write(t, "a.xlsx", content)); (err == nil) != fits {
			t.Errorf("a row of %d MiB: %v", cells, err)
		}
	}
	spoilt := bytes.Replace(good, []byte("PK\x03\x04"), []byte("PK\x03\x04"), 1)
	at := bytes.Index(spoilt, []byte("xl/worksheets/sheet1.xml")) + len("xl/worksheets/sheet1.xml") + 40
	spoilt[at] ^= 0x10
	twice := []string{"_rels/.rels", topRels, "xl/workbook.xml", bookXML, "xl/_rels/workbook.xml.rels", bookRels, "xl/worksheets/sheet1.xml", whole, "XL/Worksheets/sheet1.xml", whole}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"a header with blanks": {ofSheet(t, sheetHead+`<row><c><v>a</v></c><c><v></v></c></row><row><c><v>1</v></c><c><v></v></c><c><v>2</v></c></row>`+sheetTail, ""),
			":2: has 3 cells; the header has 1"},
		"a truncated zip": {good[:len(good)-30], ": is not a readable workbook: "},
		"a changed byte":  {spoilt, ":"},
		"a part twice":    {zipped(t, twice...), ": is not a readable workbook: duplicate part XL/Worksheets/sheet1.xml"},
		"no sheet part":   {zipped(t, twice[:6]...), `: is not a readable workbook: its first sheet, "first", is missing`},
		"no workbook":     {zipped(t, twice[:2]...), ": is not a readable workbook: has no workbook part"},
		"no parts":        {zipped(t), ": is not a readable workbook: has no workbook part"},
		"relations cut": {zipped(t, "_rels/.rels", strings.TrimSuffix(topRels, "</Relationships>"), "xl/workbook.xml", bookXML),
			": is not a readable workbook: _rels/.rels: XML syntax error on line 1: unexpected EOF"},
		"workbook cut":    {zipped(t, "_rels/.rels", topRels, "xl/workbook.xml", bookXML[:100]), ": is not a readable workbook: xl/workbook.xml: XML syntax error on line 1: unexpected EOF"},
		"sheets cut":      {zipped(t, append(slices.Clone(twice[:5]), bookRels[:100])...), ": is not a readable workbook: xl/_rels/workbook.xml.rels: XML syntax error on line 1: unexpected EOF"},
		"a second root":   {zipped(t, append(slices.Clone(twice[:5]), bookRels+bookRels)...), ": is not a readable workbook: xl/_rels/workbook.xml.rels: has a second root element"},
		"no header":       {ofSheet(t, sheetHead+`<row r="2"><c><v>1</v></c></row>`+sheetTail, ""), ":2: expected a header line with the names of the columns"},
		"no sheets":       {zipped(t, "_rels/.rels", topRels, "xl/workbook.xml", "<workbook/>"), ": is not a readable workbook: has no sheet"},
		"an old workbook": {[]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), ": is not a readable workbook: it is encrypted, or in the old format .xls"},
	} {
		path := write(t, "a.xlsx", c.content)
		if rows, err := readAll(path); err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s: %d rows, %v; want %s", name, len(rows), err, c.want)
		}
	}
}

// Blank rows cost nothing to write: how many cells are read is bounded.
func TestManyBlankCells(t *testing.T) {
	defer func(n int) { maxCells = n }(maxCells)
	maxCells = 1000
	for last, want := range map[int]int{501: 500, 502: 501, 1 << 20: 501} {
		path := write(t, "a.xlsx", ofSheet(t, fmt.Sprintf(`%s%s<row r="%d"/>%s`, sheetHead, header, last, sheetTail), ""))
		n := 0
		var failed error
		for _, err := range Read(path) {
			n++
			failed = err
		}
		if n != want || (failed == nil) != (last == 501) || failed != nil && failed.Error() != fmt.Sprintf("%s:%d: has more than 1000 cells up to here", path, last) {
			t.Errorf("%d rows, the last %d: %d, %v", last, want, n, failed)
		}
	}
}

// A workbook of another program has the same values for both readers.
func TestWorkbookLikeExcelize(t *testing.T) {
	content := workbook(t, []any{"id", "text", "n"}, []any{1, "a, \"b\"\nc", 1.5}, []any{}, []any{true, " x ", nil, nil}, []any{nil, "_x0041_ <&>", -1e-7})
	f, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := f.GetRows("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readAll(write(t, "a.xlsx", content))
	if err != nil || len(rows) != len(want)-1 {
		t.Fatalf("%d rows of %d, %v", len(rows), len(want)-1, err)
	}
	for i, r := range rows {
		for c, column := range want[0] {
			value := ""
			if c < len(want[i+1]) {
				value = want[i+1][c]
			}
			if r.Values[column] != value {
				t.Errorf("row %d, %s: %q, want %q", i+2, column, r.Values[column], value)
			}
		}
	}
}

// FuzzSheet damages a sheet of 20 numbered rows. Either there is an error, or
// the rows that are in the XML are all there: the count of "<row" is the oracle.
func FuzzSheet(f *testing.F) {
	var b strings.Builder
	b.WriteString(sheetHead + header)
	for i := 2; i <= 21; i++ {
		fmt.Fprintf(&b, `<row r="%d"><c r="A%d" t="s"><v>0</v></c><c r="B%d"><v>%d</v></c></row>`, i, i, i, i)
	}
	whole := b.String() + sheetTail
	const shared = "<sst><si><t>shared</t></si></sst>"
	for i := 0; i < len(whole); i += 61 {
		f.Add(whole[:i], shared)
		f.Add(whole[:i]+"&"+whole[i:], shared)
		f.Add(whole[:i]+"<x>", shared)
		f.Add(whole[:i]+whole[min(len(whole), i+61):], shared)
	}
	f.Add(whole, shared)
	f.Add(whole, "<sst>")
	f.Add(sheetHead+`<row><c t="str"><v>a</v></c></row><row/><row r="9"/>`+sheetTail, "")
	written := regexp.MustCompile(`<([\w.-]+:)?row[\s/>]`)
	f.Fuzz(func(t *testing.T, sheet, shared string) {
		const path = "a.xlsx" // in memory and not compressed, which would take most of the time
		rows, last := 1, 1    // with the header
		for row, err := range ReadFrom(path, bytes.NewReader(archived(t, zip.Store, partsOf(sheet, shared)))) {
			if err != nil {
				if !strings.HasPrefix(err.Error(), path+":") {
					t.Errorf("%v", err)
				}
				return
			}
			if rows++; row.Line != last+1 {
				t.Errorf("row %d after row %d", row.Line, last)
			}
			if last = row.Line; last > 5000 {
				return // blank ones
			}
		}
		if strings.Contains(sheet, "<!") || strings.Contains(sheet, "<?") && strings.Count(sheet, "<?") > 1 || strings.Contains(sheet, "ext") {
			return // what looks like rows may be a comment or an extension
		}
		if n := len(written.FindAllString(sheet, -1)); rows < n && strings.Count(sheet, "<sheetData") == 1 {
			t.Errorf("%d rows, of %d in the XML", rows, n)
		}
	})
}
