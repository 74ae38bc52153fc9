package parquet

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// The files in testdata were written by testdata/make.mjs, with arrow-rs, and with parquet-go 0.32 (those that begin
// with go-: data pages of version 1 and 2), with the values below.

const rows = 60

var flat = map[string]func(i int) string{
	"id":        func(i int) string { return fmt.Sprint(i) },
	"sentence1": func(i int) string { return fmt.Sprintf("The lamp number %d stands left of the door.", i) },
	"sentence2": func(i int) string {
		switch {
		case i%7 == 0:
			return ""
		case i%5 == 0:
			return `"The ""left"" door has a lamp."`
		}
		return fmt.Sprintf("Lampe %d: 灯在门的左边。", i%4)
	},
	"label":   func(i int) string { return fmt.Sprint(i % 2) },
	"checked": func(i int) string { return fmt.Sprint(i%3 == 0) },
	"score":   func(i int) string { return fmt.Sprint(float64(i) / 4) },
}

func TestText(t *testing.T) {
	for _, name := range []string{"snappy", "plain-groups", "gzip-v2", "zstd", "go-v1", "go-v2"} {
		f, err := Open("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if want := []string{"id", "sentence1", "sentence2", "label", "checked", "score"}; f.Rows != rows || !reflect.DeepEqual(f.Columns(), want) {
			t.Errorf("%s: %d rows, columns %q", name, f.Rows, f.Columns())
		}
		for column, value := range flat {
			got, err := f.Text(column)
			if err != nil || len(got) != rows {
				t.Errorf("%s: %s: %d values, %v", name, column, len(got), err)
				continue
			}
			for i := range got {
				if want := value(i + 1); got[i] != want {
					t.Errorf("%s: %s, row %d: %q, want %q", name, column, i, got[i], want)
				}
			}
		}
	}
}

func TestLists(t *testing.T) {
	f, err := Open("testdata/lists.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	columns := f.Columns()
	if want := []string{"premise.de", "premise.en", "hypothesis.language.list.element", "hypothesis.translation.list.element", "label"}; !reflect.DeepEqual(columns, want) {
		t.Errorf("columns %q", columns)
	}
	german, err := f.Text("premise.de")
	if err != nil {
		t.Fatal(err)
	}
	english, err := f.Text("premise.en")
	if err != nil {
		t.Fatal(err)
	}
	languages, err := f.Lists(columns[2])
	if err != nil {
		t.Fatal(err)
	}
	translations, err := f.Lists(columns[3])
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= rows; i++ {
		de, en := fmt.Sprintf("Satz %d.", i), fmt.Sprintf("Sentence %d.", i)
		if i == 9 {
			de, en = "", ""
		}
		if i == 4 {
			en = ""
		}
		language, translation := []string{"de", "en"}, []string{fmt.Sprintf("Folge %d.", i), fmt.Sprintf("Consequence %d.", i)}
		if i == 3 {
			translation[1] = ""
		}
		if i%11 == 0 {
			language = nil
		}
		if i%10 == 0 {
			language, translation = nil, nil
		}
		got := fmt.Sprintf("%q %q %q %q", german[i-1], english[i-1], languages[i-1], translations[i-1])
		if want := fmt.Sprintf("%q %q %q %q", de, en, language, translation); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	if _, err := f.Text(columns[2]); err == nil || err.Error() != "column hypothesis.language.list.element: is a list; expected one value" {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"id":  "column id, row group 1: is compressed with Brotli; expected Snappy, gzip, Zstandard or none",
		"id2": `has no column "id2"; it has id, sentence1, sentence2, label, checked, score`,
	} {
		f, err := Open("testdata/snappy.parquet")
		if err != nil {
			t.Fatal(err)
		}
		f.groups[0].chunks[0].codec = 4
		if _, err := f.Text(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		f.Close()
	}
	good, err := os.ReadFile("testdata/snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                  "is not a Parquet file",
		"PAR1 no such thing PAR1":           "damaged: its footer has 543649385 bytes of 23",
		"id,sentence1\n1,Three words.":      "is not a Parquet file, or is cut off",
		string(good[:len(good)-9]):          "is not a Parquet file, or is cut off",
		string(good[:len(good)-4]) + "PARE": "is encrypted",
	} {
		if _, err := New(strings.NewReader(text), int64(len(text))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
	if _, err := Open("testdata/none.parquet"); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, err := Open("parquet_test.go"); err == nil || err.Error() != "parquet_test.go: is not a Parquet file, or is cut off" {
		t.Error(err)
	}
}

// A few bytes that stand for very many values do not make them.
func TestBombs(t *testing.T) {
	var packed struct{ snappy, gzip, zstd []byte }
	const bomb = 32 << 20
	zeros := make([]byte, bomb)
	packed.snappy = snappy.Encode(nil, zeros)
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	g.Write(zeros)
	g.Close()
	packed.gzip = b.Bytes()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed.zstd = z.EncodeAll(zeros, nil)
	huge := []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	if got, err := decodeRuns(append(huge, 1), 1, 5); err != nil || len(got) != 5 {
		t.Errorf("a long run: %d, %v", len(got), err)
	}
	odd := append([]byte{0xff}, huge[1:]...)
	if got, err := decodeRuns(odd, 0, 5); err != nil || len(got) != 5 {
		t.Errorf("a long packed run of no bits: %d, %v", len(got), err)
	}
	for what, data := range map[string][]byte{"packed run": odd, "empty run": {0, 1}, "nothing": nil} {
		if _, err := decodeRuns(data, 1, 5); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	for what, data := range map[string][]byte{
		"length":       {0xff, 0xff, 0xff, 0xff, 0x0f, 0},
		"too much":     {2, 8, 'a', 'b', 'c'},
		"too little":   {4, 4, 'a', 'b'},
		"no beginning": {5, 1, 0},
		"copy":         {5, 0, 'a', 1, 9},
		"literal":      {9, 0xf4, 0xff, 0xff, 'a'},
	} {
		p := page{file: &File{}, codec: compressedSnappy}
		if _, err := p.unpack(data, int64(data[0])); err == nil {
			t.Errorf("snappy, %s: no error", what)
		}
	}
	for codec, data := range map[int64][]byte{compressedSnappy: packed.snappy, compressedGzip: packed.gzip,
		compressedZstd: packed.zstd} {
		p := page{file: &File{}, codec: codec}
		if out, err := p.unpack(data, bomb); err != nil || len(out) != bomb {
			t.Errorf("codec %d: %d bytes, %v", codec, len(out), err)
		}
		for _, size := range []int64{-1, 0, 1, 1 << 20, bomb - 1, bomb + 1, maxPage + 1} {
			p.file.bytes = 0
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := p.unpack(data, size)
			runtime.ReadMemStats(&after)
			made := after.TotalAlloc - before.TotalAlloc
			if err == nil || size <= 1<<20 && made > bomb/2 {
				t.Errorf("codec %d: %d bytes said to be %d: %v, in %d MiB", codec, bomb, size, err, made>>20)
			}
		}
	}
	list := thrift{data: []byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}}
	if _, err := list.structure(); err == nil {
		t.Error("a list of 2^31 structures: no error")
	}
	deep := thrift{data: bytes.Repeat([]byte{0x1c}, 1<<16)}
	if _, err := deep.structure(); err == nil {
		t.Error("structures in structures: no error")
	}
}

// One byte changed gives an error or values, in little memory.
func TestDamaged(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		for i := 0; i < len(good); i += 17 {
			bad := bytes.Clone(good)
			bad[i] ^= []byte{1, 0x80, 0xff}[i/17%3]
			runtime.ReadMemStats(&before)
			readAll(bad)
			runtime.ReadMemStats(&after)
			if made := after.TotalAlloc - before.TotalAlloc; made > 64<<20 {
				t.Errorf("%s: byte %d changed costs %d MiB", file, i, made>>20)
			}
		}
	}
}

func readAll(data []byte) (values int) {
	f, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0
	}
	for _, c := range f.Columns() {
		lists, err := f.Lists(c)
		if err == nil && len(lists) == f.Rows {
			values += len(lists)
		}
		f.Text(c)
	}
	return values
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) { readAll(data) })
}
