package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"crosstalk/internal/parquet"
)

func utf16Of(order binary.ByteOrder, text string) []byte {
	var b bytes.Buffer
	binary.Write(&b, order, utf16.Encode([]rune(text)))
	return b.Bytes()
}

// TestSpreadsheetExports reads what spreadsheet programs write.
func TestSpreadsheetExports(t *testing.T) {
	want := []map[string]string{{"a": "1,5", "b": "ü😀"}, {"a": "x;y", "b": "2"}}
	const semicolons = "a;b\r\n1,5;ü😀\r\n\"x;y\";2\r\n"
	const tabs = "a\tb\n1,5\tü😀\nx;y\t2\n"
	for name, content := range map[string][]byte{
		"semicolons.csv":       []byte(semicolons),
		"mark.csv":             []byte("\ufeff" + semicolons),
		"tabs.csv":             []byte(tabs),
		"commas.csv":           []byte("\"a\",b\n\"1,5\",ü😀\nx;y,2\n"),
		"little.csv":           utf16Of(binary.LittleEndian, "\ufeff"+semicolons),
		"big.csv":              utf16Of(binary.BigEndian, "\ufeff"+tabs),
		"unmarked.tsv":         utf16Of(binary.LittleEndian, tabs),
		"little.tsv":           utf16Of(binary.LittleEndian, "\ufeff"+tabs),
		"packed.csv.gz":        gzipped(t, utf16Of(binary.BigEndian, semicolons)),
		"lines.jsonl":          utf16Of(binary.LittleEndian, "\ufeff{\"a\":\"1,5\",\"b\":\"ü😀\"}\n{\"a\":\"x;y\",\"b\":2}\n"),
		"array.json":           []byte("\ufeff[{\"a\":\"1,5\",\"b\":\"ü😀\"},\n\n {\"a\":\"x;y\",\"b\":2}]\n"),
		"packed-array.json.gz": gzipped(t, []byte("[{\"a\":\"1,5\",\"b\":\"ü😀\"},{\"a\":\"x;y\",\"b\":2}]")),
	} {
		rows, err := readAll(write(t, name, content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []map[string]string
		for _, row := range rows {
			got = append(got, row.Values)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if name == "array.json" && (rows[0].Line != 1 || rows[1].Line != 3) {
			t.Errorf("%s: lines %d and %d, want 1 and 3", name, rows[0].Line, rows[1].Line)
		}
	}
}

func TestParquet(t *testing.T) {
	rows, err := readAll(filepath.Join("..", "parquet", "testdata", "snappy.parquet"))
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	r := rows[2]
	if r.Line != 3 || r.Values["id"] != "3" || r.Values["sentence2"] != "Lampe 3: 灯在门的左边。" || r.Values["checked"] != "true" || r.Values["score"] != "0.75" {
		t.Errorf("%+v", r)
	}
}

// Lists are lists of values, or of JSON objects where they are of structures.
func TestParquetLists(t *testing.T) {
	rows, err := readAll(filepath.Join("..", "parquet", "testdata", "lists.parquet"))
	if err != nil || len(rows) != 60 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	columns := []string{"premise.de", "premise.en", "hypothesis.language", "hypothesis.translation", "label"}
	for _, r := range rows {
		if !reflect.DeepEqual(r.Columns, columns) || r.Header != r.Line || len(r.Values) != 3 || len(r.Lists) != 2 {
			t.Fatalf("%+v", r)
		}
	}
	if r := rows[0]; r.Values["premise.en"] != "Sentence 1." || !reflect.DeepEqual(r.Lists["hypothesis.language"], []string{"de", "en"}) {
		t.Errorf("%+v", r)
	}
	list := func(name string, rows ...[]string) parquet.Column { return parquet.Column{Name: name, Lists: rows} }
	for _, c := range []struct {
		of          parquet.Column
		name, field string
	}{
		{list("messages.list.element.role"), "messages", "role"}, {list("texts.list.item"), "texts", ""},
		{list("tags"), "tags", ""}, {parquet.Column{Name: "a.list.b", Texts: []string{}}, "a.list.b", ""},
	} {
		if name, field := listOf(c.of); name != c.name || field != c.field {
			t.Errorf("%s: %s %s", c.of.Name, name, field)
		}
	}
	of := []parquet.Column{list("m.list.e.role", nil, []string{"user", "system"}), list("m.list.e.content", nil, []string{"Hi", "Ho"})}
	for i, want := range [][]string{{}, {`{"content":"Hi","role":"user"}`, `{"content":"Ho","role":"system"}`}} {
		if got, err := structures(of, i); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("row %d: %q, %v", i, got, err)
		}
	}
	of[1].Lists[1] = []string{"Hi"}
	if _, err := structures(of, 1); err == nil || err.Error() != "m.list.e.content has 1 values; expected 2" {
		t.Error("lists of different lengths:", err)
	}
}

// Only a byte of zero beside a character says that a text without a byte order mark is UTF-16.
func TestNoUTF16(t *testing.T) {
	for content, want := range map[string]string{"\x00\x00,b\n1,2\n": "\x00\x00", "a,b\n1,2\n": "a", "a\x00\n\x00x\x00\n\x00": "a"} {
		rows, err := readAll(write(t, "a.csv", []byte(content)))
		if err != nil || len(rows) != 1 || rows[0].Columns[0] != want {
			t.Errorf("%q: %v, %v", content, rows, err)
		}
	}
}

// In a plain file every line is a row, and a quotation mark is a character.
func TestPlain(t *testing.T) {
	plain := func(content string) (text string) {
		path := write(t, "a.tsv", []byte(content))
		for row, err := range ReadPlain(path) {
			if err != nil {
				return text + strings.TrimPrefix(err.Error(), path)
			}
			text += fmt.Sprintf("%d/%d %q ", row.Line, row.Header, row.Values)
		}
		return text
	}
	long := strings.Repeat("x", 1<<20)
	for content, want := range map[string]string{
		"\n\ufeffa\tb\r\n\n1\t\"x\r\nlast\t": `4/2 map["a":"1" "b":"\"x"] 5/2 map["a":"last" "b":""] `,
		"":                                   ":1: is empty; expected a header line with the names of the columns",
		"a\tb\n1\n":                          ":2: has 1 fields; the header has 2",
		"a\n1\n" + long + "\n":               `2/1 map["a":"1"] :3: bufio.Scanner: token too long`,
		"a\n" + long[:1<<19] + "\n":          `2/1 map["a":"` + long[:1<<19] + `"] `,
		"a\n\xff\n":                          `:2: the column "a" is not valid UTF-8: save the file as UTF-8`,
		"a\ta\n1\t2\n":                       `:1: duplicate column "a" in the header`,
	} {
		if got := plain(content); got != want {
			t.Errorf("%.40q: %s, want %s", content, got, want)
		}
	}
	for _, err := range ReadPlain("none.tsv") {
		if err == nil || err.Error() != "none.tsv: no such file or directory" {
			t.Error(err)
		}
	}
}

// A document is read piece by piece, each with the line where it starts.
func TestDocument(t *testing.T) {
	walk := func(name string, content []byte, most int) string {
		path := write(t, name, content)
		f, err := Open(path)
		if err != nil {
			return strings.TrimPrefix(err.Error(), path)
		}
		defer f.Close()
		d := f.Document(most)
		got := ""
		var value func() error
		value = func() error {
			start, err := d.Starts()
			switch {
			case err != nil:
				return err
			case start == '[':
				return d.Elements(func(line int, text []byte) error { got += fmt.Sprintf("%d:%s ", line, text); return nil })
			case start == '{':
				return d.Keys(func(key string) error {
					got += key + " "
					if key != "raw" {
						return value()
					}
					text, line, err := d.Raw()
					got += fmt.Sprintf("%d=%s ", line, text)
					return err
				})
			}
			got += "value "
			return nil
		}
		if err = value(); err == nil {
			err = d.End()
		}
		if err != nil {
			got += strings.TrimPrefix(err.Error(), path)
		}
		return got
	}
	const text = "{\n \"a\": [1,\n\n  {\"b\":\n2}], \"c\": {\"raw\":\n[true]}, \"e\": \"x\"\n}\n"
	for content, want := range map[string]string{
		text:                   "a 2:1 4:{\"b\":\n2} c raw 6=[true] e value ",
		"[]":                   "",
		"[\n1, 2\n,\n3]\n\n[]": "2:1 2:2 4:3 :6: not valid JSON: found text after the end",
		"[\n1,\n":              "2:1 :2: not valid JSON: the file is truncated",
		"{\"a\":\n":            "a :1: not valid JSON: the file is truncated",
		"{\"raw\":\n":          "raw 0= :1: not valid JSON: the file is truncated",
		"{\"a\"\n\n1}":         "a :3: not valid JSON: invalid character '1' after object key",
		"{\n1: 2}":             ":2: not valid JSON: invalid character '1'",
		"[\n1\n2]":             "2:1 :3: not valid JSON: expected comma after array element",
		"":                     ":1: not valid JSON: the file is truncated",
		"[\"12345678901234\"]": "1:\"12345678901234\" ",
		"\ufeff[\n5]":          "2:5 ",
	} {
		if got := walk("a.json", []byte(content), 1<<20); got != want {
			t.Errorf("%q: %s, want %s", content, got, want)
		}
	}
	if got := walk("a.json.gz", gzipped(t, []byte(text)), 1<<20); got != "a 2:1 4:{\"b\":\n2} c raw 6=[true] e value " {
		t.Error(got)
	}
	if got := walk("a.json.gz", []byte(text), 1<<20); got != ": is not a gzip file: gzip: invalid header" {
		t.Error(got)
	}
	element := `"` + strings.Repeat("x", 1<<20) + `",`
	if got := walk("a.json", []byte("["+strings.Repeat(element, 4)+"1]"), 2<<20); strings.Contains(got, "longer") || len(got) < 4<<20 {
		t.Errorf("four long elements: %.60q", got)
	}
	if got := walk("a.json", []byte("[1,\n\""+strings.Repeat("x", 4<<20)), 1<<20); got != "1:1 :1: not valid JSON: is longer than 1 MiB" {
		t.Errorf("%.100q", got)
	}
	if _, err := Open("none.json"); err == nil || err.Error() != "none.json: no such file or directory" {
		t.Error(err)
	}
}

// The separator of a file without its own is what its first line has most of.
func TestSeparators(t *testing.T) {
	for content, want := range map[string]string{
		"a,b;c\n1,2;3\n": "a|b;c", "a;b,c;d\n1;2,3;4\n": "a|b,c|d", "a\tb\tc;d,e\n1\t2\t3;4,5\n": "a|b|c;d,e", "a\n1\n": "a",
		"\"a;b;c\",d\n1,2\n": "a;b;c|d", "a,b\n1,2\n": "a|b", "a;b\tc\n1;2\t3\n": "a|b\tc",
	} {
		rows, err := readAll(write(t, "a.csv", []byte(content)))
		if err != nil || len(rows) != 1 || strings.Join(rows[0].Columns, "|") != want {
			t.Errorf("%q: %+v, %v", content, rows, err)
		}
	}
}

// A column that the header has twice is an error where it has a meaning, and is not there where it has none.
func TestRepeated(t *testing.T) {
	path := write(t, "a.csv", []byte("id,x,x,y,y,y,\n1,2,3,4,5,6,7\n"))
	for column, want := range map[string]string{"x": `duplicate column "x" in the header`, "y": `duplicate column "y" in the header`, "id": ""} {
		for row, err := range ReadNeeding(path, func(c string) bool { return c == column }) {
			if want == "" && (err != nil || !reflect.DeepEqual(row.Values, map[string]string{"id": "1"})) ||
				want != "" && (err == nil || err.Error() != path+":1: "+want || row.File != path) {
				t.Errorf("%s: %+v, %v", column, row, err)
			}
		}
	}
	r := Row{File: "f", Line: 3, Header: 2, Values: map[string]string{"a": " "}}
	if got := r.Errorf("no %d", 1).Error() + r.HeaderErrorf("two").Error(); got != "f:3: no 1f:2: two" || !r.Blank() {
		t.Error(got)
	}
	if r.Lists = map[string][]string{"l": nil}; r.Blank() || !r.Has("l") || r.Has("b") {
		t.Error("a row with a list is blank, or has no list")
	}
}
