package table

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"reflect"
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
