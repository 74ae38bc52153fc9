package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"
)

// A record has as many bytes and values as it may, and no more. Lists and objects count four times.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int // as often as it may be there
		want string
	}{
		{",", maxValues, "has more than 2 million values in a record"},
		{"\t", maxValues, "has more than 2 million values in a record"},
		{"[", maxValues / 4, "has more than 2 million values in a record"},
		{"{", maxValues / 4, "has more than 2 million values in a record"},
		{"x", 3 << 20, "is longer than 3 MiB"},
	} {
		for more := range 2 {
			b := &bounded{in: strings.NewReader(strings.Repeat(c.text, c.n) + strings.Repeat(c.text, more)), most: 3 << 20}
			_, err := io.ReadAll(b)
			if (err != nil) != (more > 0) || err != nil && err.Error() != c.want {
				t.Errorf("%d of %q and %d more: %v", c.n, c.text, more, err)
			}
			if b.reset(); b.got != 0 || b.values != 0 {
				t.Errorf("%+v", b)
			}
		}
	}
	if _, err := io.ReadAll(Limit(strings.NewReader(strings.Repeat("x", 2<<20)), 1<<20)); err == nil ||
		err.Error() != "is longer than 1 MiB" {
		t.Error(err)
	}
}

// Characters that do not fit wait, and those that could not be decoded become bytes that are not UTF-8.
func TestUnreplaced(t *testing.T) {
	for _, c := range []struct {
		room, read int
		want       string
		err        error
	}{{0, 0, "", transform.ErrShortDst}, {2, 1, "a", transform.ErrShortDst}, {3, 3, "aé", transform.ErrShortDst},
		{5, 3, "aé", transform.ErrShortDst}, {6, 6, "aé\xff\xff\xff", transform.ErrShortDst}, {7, 7, "aé\xff\xff\xffz", nil}, {9, 7, "aé\xff\xff\xffz", nil}} {
		dst := make([]byte, c.room)
		n, read, err := unreplaced{}.Transform(dst, []byte("aé\ufffdz"), true)
		if string(dst[:n]) != c.want || read != c.read || err != c.err {
			t.Errorf("room for %d: %q of %d, %v", c.room, dst[:n], read, err)
		}
	}
	long := strings.Repeat("世界, ü", 5000)
	rows, err := readAll(write(t, "a.tsv", utf16Of(binary.LittleEndian, "a\n"+long+"\n")))
	if err != nil || len(rows) != 1 || rows[0].Values["a"] != long {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// Reading documents or rows stops at an error, or when the caller stops.
func TestReadersThatEnd(t *testing.T) {
	enough := errors.New("enough")
	path := write(t, "a.json", []byte("{\"a\": 1, \"b\": [1, 2]}"))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := f.Document(1 << 20)
	if start, err := d.Starts(); start != '{' || err != nil {
		t.Errorf("%q, %v", start, err)
	}
	seen := ""
	if err := d.Keys(func(key string) error {
		if seen += key; key == "a" {
			_, err := d.Starts()
			return err
		}
		d.Starts()
		return d.Elements(func(line int, text []byte) error { seen += string(text); return enough })
	}); err != enough || seen != "ab1" {
		t.Errorf("%v, %q", err, seen)
	}
	for name, content := range map[string]string{"a.csv": "a\n1\n2\n", "a.jsonl": "{\"a\":1}\n{\"a\":2}\n", "a.json": "[{\"a\":1},{\"a\":2}]",
		"a.parquet": "", "a.xlsx": string(workbook(t, []any{"a"}, []any{1}, []any{2}))} {
		path := write(t, name, []byte(content))
		if content == "" {
			path = "../parquet/testdata/snappy.parquet"
		}
		n := 0
		for row, err := range Read(path) {
			if n++; err != nil || row.File != path {
				t.Error(err)
			}
			break
		}
		if n != 1 {
			t.Errorf("%s: %d rows", name, n)
		}
		broken := errors.New("broken")
		if content == "" {
			continue
		}
		for _, err := range ReadFrom(name, io.MultiReader(strings.NewReader(content[:3]), iotest.ErrReader(broken))) {
			if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), name+":") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, want := range map[string]string{"none.parquet": "none.parquet: no such file or directory", "none.csv": "none.csv: no such file or directory"} {
		for row, err := range Read(name) {
			if fmt.Sprint(err) != want || row.File != name {
				t.Error(err)
			}
		}
	}
}
