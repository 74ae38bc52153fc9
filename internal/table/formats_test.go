package table

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf16"
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
