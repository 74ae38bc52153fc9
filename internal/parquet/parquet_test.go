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

// read reads a file in testdata: its columns by name, and their names.
func read(t *testing.T, name string) (columns map[string]Column, names []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".parquet")
	if err != nil {
		t.Fatal(err)
	}
	list, n, err := Read(bytes.NewReader(data), int64(len(data)))
	if err != nil || n != rows {
		t.Fatalf("%s: %d rows, %v", name, n, err)
	}
	columns = map[string]Column{}
	for _, c := range list {
		names, columns[c.Name] = append(names, c.Name), c
	}
	return columns, names
}

func TestText(t *testing.T) {
	for _, name := range []string{"snappy", "plain-groups", "gzip-v2", "zstd", "go-v1", "go-v2"} {
		columns, names := read(t, name)
		if want := []string{"id", "sentence1", "sentence2", "label", "checked", "score"}; !reflect.DeepEqual(names, want) {
			t.Errorf("%s: columns %q", name, names)
		}
		for column, value := range flat {
			got := columns[column]
			if len(got.Texts) != rows || got.Lists != nil {
				t.Errorf("%s: %s: %d values", name, column, len(got.Texts))
				continue
			}
			for i := range got.Texts {
				if want := value(i + 1); got.Texts[i] != want {
					t.Errorf("%s: %s, row %d: %q, want %q", name, column, i, got.Texts[i], want)
				}
			}
		}
	}
}

func TestLists(t *testing.T) {
	columns, names := read(t, "lists")
	if want := []string{"premise.de", "premise.en", "hypothesis.language.list.element", "hypothesis.translation.list.element", "label"}; !reflect.DeepEqual(names, want) {
		t.Errorf("columns %q", names)
	}
	if columns[names[2]].Texts != nil || columns[names[0]].Lists != nil {
		t.Error("lists are texts, or texts are lists")
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
		got := fmt.Sprintf("%q %q %q %q", columns[names[0]].Texts[i-1], columns[names[1]].Texts[i-1],
			columns[names[2]].Lists[i-1], columns[names[3]].Lists[i-1])
		if want := fmt.Sprintf("%q %q %q %q", de, en, language, translation); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
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
		if _, _, err := Read(strings.NewReader(text), int64(len(text))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
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
		p := chunkReader{file: &file{}, codec: compressedSnappy}
		if _, err := p.unpack(data, int64(data[0])); err == nil {
			t.Errorf("snappy, %s: no error", what)
		}
	}
	for codec, data := range map[int64][]byte{compressedSnappy: packed.snappy, compressedGzip: packed.gzip,
		compressedZstd: packed.zstd} {
		p := chunkReader{file: &file{}, codec: codec}
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

func readAll(data []byte) {
	columns, n, _ := Read(bytes.NewReader(data), int64(len(data)))
	for _, c := range columns {
		if len(c.Texts)+len(c.Lists) != n {
			panic("a column has more rows than others")
		}
	}
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
