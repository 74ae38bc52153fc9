package table

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func workbook(t testing.TB, rows ...[]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := f.SetSheetRow("Sheet1", cell, &row); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readAll(path string) (rows []Row, err error) {
	for row, e := range Read(path) {
		if e != nil {
			return rows, e
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// The same two records in every format: a comma, a quote, a line break and
// letters that are not ASCII in the values.
func TestReadsTheSameFromEveryFormat(t *testing.T) {
	csv := "id,text\n1,\"a, \"\"b\"\"\nc\"\n2,žluťoučký 是\n"
	tsv := "id\ttext\n1\t\"a, \"\"b\"\"\nc\"\n2\tžluťoučký 是\n"
	jsonl := `{"id":1,"text":"a, \"b\"\nc"}` + "\n\n" + `{"id":"2","text":"žluťoučký 是"}`
	bom := "\ufeff"
	for name, content := range map[string][]byte{
		"a.csv": []byte(csv), "a.CSV": []byte(csv), "a.tsv": []byte(tsv), "a.tab": []byte(tsv), "a.jsonl": []byte(jsonl), "a.ndjson": []byte(jsonl),
		"bom.csv": []byte(bom + csv), "bom.jsonl": []byte(bom + jsonl),
		"crlf.csv":   []byte(strings.ReplaceAll(strings.ReplaceAll(csv, "\n", "\r\n"), "\"\"\r\n", "\"\"\n")),
		"crlf.jsonl": []byte(strings.ReplaceAll(jsonl, "\n", "\r\n")),
		"noend.csv":  []byte(strings.TrimSuffix(csv, "\n")),
		"a.csv.gz":   gzipped(t, []byte(csv)), "a.jsonl.gz": gzipped(t, []byte(jsonl)),
		"a.xlsx": workbook(t, []any{"id", "text"}, []any{1, "a, \"b\"\nc"}, []any{"2", "žluťoučký 是"}),
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := readAll(write(t, name, content))
			if err != nil {
				t.Fatal(err)
			}
			var got []map[string]string
			for _, r := range rows {
				if !reflect.DeepEqual(r.Columns, []string{"id", "text"}) {
					t.Errorf("columns %q", r.Columns)
				}
				got = append(got, r.Values)
			}
			want := []map[string]string{{"id": "1", "text": "a, \"b\"\nc"}, {"id": "2", "text": "žluťoučký 是"}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestLinesAreWhereRecordsStart(t *testing.T) {
	for name, content := range map[string]string{
		"a.csv":   "a\n\"x\ny\"\nz\n",
		"a.jsonl": "\n" + `{"a":"x"}` + "\n\n" + `{"a":"z"}` + "\n",
	} {
		rows, err := readAll(write(t, name, []byte(content)))
		if err != nil || len(rows) != 2 || rows[0].Line != 2 || rows[1].Line != 4 {
			t.Errorf("%s: %v %v", name, rows, err)
		}
	}
}

func TestJSONValues(t *testing.T) {
	rows, err := readAll(write(t, "a.jsonl", []byte(`{"n":1.50,"big":12345678901234567890,"null":null,"yes":true,"map":{"b":1},"list":["a",2,null],"":"x"}`)))
	if err != nil {
		t.Fatal(err)
	}
	r := rows[0]
	want := map[string]string{"n": "1.50", "big": "12345678901234567890", "null": "", "yes": "true", "map": `{"b":1}`, "": "x"}
	if !reflect.DeepEqual(r.Values, want) {
		t.Errorf("values %q, want %q", r.Values, want)
	}
	if !reflect.DeepEqual(r.Lists, map[string][]string{"list": {"a", "2", ""}}) {
		t.Errorf("lists %q", r.Lists)
	}
	if !r.Has("null") || !r.Has("list") || r.Has("none") {
		t.Error("Has is wrong")
	}
}

// Row numbers that data frames write have no name and are left out.
func TestColumnsWithoutANameAreLeftOut(t *testing.T) {
	for name, content := range map[string][]byte{
		"a.csv": []byte(",id,\n0,x,y\n"), "a.xlsx": workbook(t, []any{"", "id"}, []any{0, "x"}),
	} {
		rows, err := readAll(write(t, name, content))
		if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0].Values, map[string]string{"id": "x"}) {
			t.Errorf("%s: %v %v", name, rows, err)
		}
	}
}

func TestWorkbookRows(t *testing.T) {
	rows, err := readAll(write(t, "a.xlsx", workbook(t, []any{"a", "b"}, []any{"x"}, []any{}, []any{"y", "z"})))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, r := range rows {
		lines = append(lines, r.Line)
	}
	if !reflect.DeepEqual(lines, []int{2, 3, 4}) || rows[0].Values["b"] != "" || !rows[1].Blank() || rows[2].Blank() {
		t.Errorf("a blank row keeps its place and a short one is filled up: %v", rows)
	}
}

func TestBadFiles(t *testing.T) {
	good := gzipped(t, []byte(strings.Repeat("a,b\n1,2\n", 1000)))
	spoilt := bytes.Clone(good)
	spoilt[len(spoilt)-6] ^= 0xff // the checksum
	bombJSON := gzipped(t, bytes.Repeat([]byte("a"), maxRecord+1<<20))
	bombCSV := gzipped(t, append([]byte("a\n\""), bytes.Repeat([]byte("a"), maxRecord+1<<20)...))
	for _, c := range []struct {
		name    string
		content []byte
		want    string // what follows the path
	}{
		{"a.csv", nil, ":1: is empty; expected a header line with the names of the columns"},
		{"a.csv", []byte("\n\n"), ":1: is empty; expected a header line with the names of the columns"},
		{"a.csv", []byte(",,\n1,2,3\n"), ":1: expected a header line with the names of the columns"},
		{"a.csv", []byte("a,b,a\n1,2,3\n"), `:1: duplicate column "a" in the header`},
		{"a.csv", []byte("a,b\n1,2\n1,2,3\n"), ":3: has 3 fields; the header has 2"},
		{"a.csv", []byte("a,b\n1\n"), ":2: has 1 fields; the header has 2"},
		{"a.csv", []byte("a,b\n1,\"2\n3\n"), ":2: in the record that begins here: line 3, column 3: extraneous or missing \" in quoted-field"},
		{"a.csv", []byte("a,b\n1,x\"y\n"), ":2: column 4: bare \" in non-quoted-field"},
		{"a.csv", []byte("a,b\n1,\xff\n"), `:2: the column "b" is not valid UTF-8: save the file as UTF-8`},
		{"a.csv", []byte("a,\xff\n1,2\n"), ":1: the column \"\\xff\" is not valid UTF-8: save the file as UTF-8"},
		{"a.csv", []byte("\xff\xfea\x00\n\x00b"), ":2: the column \"a\" is not valid UTF-8: save the file as UTF-8"},
		{"a.csv", []byte("\xff\xfea\x00\n\x00\x00\xd8b\x00"), ":2: the column \"a\" is not valid UTF-8: save the file as UTF-8"},
		{"a.jsonl", []byte("\xfe\xff\x00{"), ":1: not valid JSON: the line is truncated"},
		{"a.json", []byte("{}"), ":1: expected an array of objects, as in [{...}, {...}]"},
		{"a.json", []byte("[{},\n{},\n 7]"), ":3: expected a JSON object"},
		{"a.json", []byte("[{},\n{\"a\":1,\"a\":2}]"), `:2: duplicate field "a"`},
		{"a.json", []byte("[{},\n{}"), ":2: not valid JSON: the file is truncated"},
		{"a.json", []byte("[{}]\n\n[{}]"), ":3: not valid JSON: found text after the end"},
		{"a.json", []byte("[{}\n,}]"), ":2: not valid JSON: invalid character '}'"},
		{"a.json", []byte("\"a\""), ":1: expected an array of objects"},
		{"a.json", nil, ":1: not valid JSON: the file is truncated"},
		{"a.jsonl", []byte("}"), ":1: expected a JSON object: invalid character '}'"},
		{"a.csv", []byte("\xffab\n1\n"), `:1: the column "\xffab" is not valid UTF-8`},
		{"a.csv", []byte("\xfeab\n1\n"), `:1: the column "\xfeab" is not valid UTF-8`},
		{"a.json.gz", gzipped(t, []byte("[\""+strings.Repeat("a", 17<<20))), ":1: not valid JSON: is longer than 16 MiB"},
		{"a.jsonl", []byte("{\"a\":\"\xff\"}\n"), ":1: is not valid UTF-8: save the file as UTF-8"},
		{"a.jsonl", []byte("{\"a\":1}\n[1]\n"), ":2: expected a JSON object"},
		{"a.jsonl", []byte("7\n"), ":1: expected a JSON object"},
		{"a.jsonl", []byte("{\"a\":1}\n{\"a\":"), `:2: the field "a" is not valid JSON: the line is truncated`},
		{"a.jsonl", []byte(`{"a":1`), ":1: not valid JSON: the line is truncated"},
		{"a.jsonl", []byte(`{"a":1}{"a":2}`), ":1: expected one JSON object per line, found text after it"},
		{"a.jsonl", []byte(`{"a":1,"a":2}`), `:1: duplicate field "a"`},
		{"a.jsonl", []byte(`{"a":1,}`), ":1: not valid JSON: "},
		{"a.jsonl", []byte(`{"a":` + strings.Repeat("[", 20000)), `:1: the field "a" is not valid JSON: `},
		{"a.csv.gz", []byte("a,b\n1,2\n3,4\n5,6\n"), ": is not a gzip file: gzip: invalid header"},
		{"a.csv.gz", good[:len(good)/2], ": the gzip file is truncated or damaged: unexpected EOF"},
		{"a.jsonl.gz", gzipped(t, []byte("{}"))[:20], ":1: the gzip file is truncated or damaged: unexpected EOF"},
		{"a.csv.gz", spoilt, ": the gzip file is truncated or damaged: gzip: invalid checksum"},
		{"a.jsonl.gz", bombJSON, ":1: is longer than 16 MiB"},
		{"a.csv.gz", bombCSV, ": is longer than 16 MiB"},
		{"a.xlsx", nil, ": is not a readable workbook: "},
		{"a.xlsx", []byte("not a zip file"), ": is not a readable workbook: "},
		{"a.xlsx", workbook(t), ": the first sheet is empty"},
		{"a.xlsx", workbook(t, []any{"a", "a"}, []any{"1", "2"}), `:1: duplicate column "a" in the header`},
		{"a.xlsx", workbook(t, []any{"a", "b"}, []any{1, 2, 3}), ":2: has 3 cells; the header has 2"},
		{"a.parquet", []byte("PAR1"), ": is not a Parquet file"},
		{"a", []byte("a\n"), ": expected a file that ends in .csv, .tsv, .jsonl, .json, .xlsx or .parquet, optionally with .gz"},
	} {
		path := write(t, c.name, c.content)
		_, err := readAll(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s %.40q: error %v, want %s", c.name, c.content, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := readAll(dir); err == nil || !strings.HasPrefix(err.Error(), dir+": is a directory; expected a file (") {
		t.Errorf("a directory: %v", err)
	}
	gone := filepath.Join(dir, "gone.csv")
	if _, err := readAll(gone); err == nil || err.Error() != gone+": no such file or directory" {
		t.Errorf("a missing file: %v", err)
	}
}

// The bound is a record's, not the file's.
func TestLongFiles(t *testing.T) {
	const n = 5000
	cell := strings.Repeat("x", 4000)
	for name, content := range map[string]string{
		"a.csv": "a\n" + strings.Repeat(cell+"\n", n), "a.jsonl": strings.Repeat(`{"a":"`+cell+`"}`+"\n", n),
	} {
		rows := 0
		for _, err := range Read(write(t, name, []byte(content))) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rows++
		}
		if rows != n {
			t.Errorf("%s: %d rows of %d", name, rows, n)
		}
	}
}

// A workbook is a zip file: one that says it unpacks to more than the bound is
// refused before it is unpacked.
func TestWorkbookBomb(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "xl/worksheets/sheet1.xml", Method: zip.Deflate, CompressedSize64: 4,
		UncompressedSize64: maxWorkbook + 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("zero"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := write(t, "a.xlsx", b.Bytes())
	if _, err := readAll(path); err == nil || !strings.HasPrefix(err.Error(), path+": is not a readable workbook: unpacks to more than 256 MiB") {
		t.Errorf("%d bytes that say they unpack to %d: %v", b.Len(), maxWorkbook+1, err)
	}
}

func TestReadStopsWhenAsked(t *testing.T) {
	for name, content := range map[string][]byte{
		"a.csv": []byte("a\n1\n2\n"), "a.jsonl": []byte("{\"a\":1}\n{\"a\":2}\n"), "a.json": []byte("[{\"a\":1},\n{\"a\":2}]"), "a.xlsx": workbook(t, []any{"a"}, []any{1}, []any{2}),
	} {
		n := 0
		for range Read(write(t, name, content)) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s: %d rows", name, n)
		}
	}
}

// Whatever a file holds, reading it ends with rows or an error, and every row
// has the columns it says it has.
func FuzzRead(f *testing.F) {
	f.Add("csv", []byte("a,b\n1,\"2\n3\"\n"))
	f.Add("csv", []byte("\ufeffa,,b\r\n1,2,3"))
	f.Add("tsv", []byte("a\tb\n1\t2\n"))
	f.Add("jsonl", []byte(`{"a":[1,null,{"b":[]}],"b":"\ud800"}`))
	f.Add("jsonl", []byte("{}\n\n{\"a\":1"))
	f.Add("csv.gz", gzipped(f, []byte("a\n1\n")))
	f.Add("json", []byte("[{\"a\":1},\n{\"a\":[\"b\"]}]"))
	f.Add("csv", []byte("\xff\xfea\x00;\x00b\x00\n\x003\xd8\x00\xdc;\x00c\x00"))
	f.Add("xlsx", workbook(f, []any{"a", "b"}, []any{1, 2}))
	f.Fuzz(func(t *testing.T, format string, content []byte) {
		switch format {
		case "csv", "tsv", "jsonl", "json", "csv.gz", "jsonl.gz", "xlsx", "parquet":
		default:
			format = "csv"
		}
		for row, err := range Read(write(t, "a."+format, content)) {
			if err != nil {
				return
			}
			if row.Line < 1 {
				t.Errorf("line %d", row.Line)
			}
			for _, c := range row.Columns {
				if c != "" && !row.Has(c) {
					t.Errorf("row %v lacks %q", row, c)
				}
			}
		}
	})
}

// What would take a hundred times its bytes in memory is refused: many columns, lists or objects in a record. As many
// in several records are not.
func TestManyValues(t *testing.T) {
	dir := t.TempDir()
	const many = maxValues / 4
	for name, c := range map[string]struct {
		text string
		bad  bool
	}{
		"columns.csv":   {strings.Repeat("a,", 2*maxValues) + "\n1\n", true},
		"objects.jsonl": {`{"id":"1","x":[` + strings.Repeat("{},", many) + "{}]}\n", true},
		"lists.jsonl":   {`{"id":"1","x":[` + strings.Repeat("[],", many) + "[]]}\n", true},
		"rows.jsonl":    {strings.Repeat(`{"id":"1","x":[`+strings.Repeat("{},", many/4)+"{}]}\n", 3), false},
		"prose.csv":     {"id\n\"" + strings.Repeat("Yes, no. ", maxValues/2) + "\"\n", false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var failed error
		for _, err := range Read(path) {
			failed = errors.Join(failed, err)
		}
		if (failed != nil) != c.bad || c.bad && !strings.Contains(failed.Error(), "has more than 2 million values in a record") {
			t.Errorf("%s: %.300v", name, failed)
		}
	}
}
