package table

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A file whose name does not tell its format has that of its content.
func TestFormatOfContent(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	for content, want := range map[string]string{
		"": "", "\n \n": "", "Hello.\n": "", "Hello,\nworld": ".csv", "a,b": ".csv", "\n\na;b\n1;2\n": ".csv", "a\tb\n": ".csv",
		"[1]": ".json", " \n[": ".json", "{": ".json", "{\n}": ".json", `{"a":1}`: ".json", "{\"a\":1}\n\n \n": ".json",
		"{\"a\":1}\n{": ".jsonl", "\n{\"a\":1}\n\n\n{\"a\":2}": ".jsonl", "\ufeff{\"a\":1}\nx": ".jsonl", "{\"a\":1\n{": ".json",
		`{"a":"` + long + "\"}\n{}": ".jsonl", `{"a":"` + long + `"}`: ".json", long + ",": ".csv", long: "", "PAR1": ".parquet", "PK\x03\x04": ".xlsx",
		string(gzipped(t, []byte("{\"a\":1}\n{}\n"))): ".jsonl",
	} {
		for name, named := range map[string]bool{"content": false, "content.text": false, "content.CSV": true} {
			f, err := Open(write(t, name, []byte(content)))
			if err != nil {
				t.Fatal(err)
			}
			expected := want
			if named {
				expected = ".csv"
			}
			if f.Format != expected || f.Named != named {
				t.Errorf("%s, %.40q: %q, %v; want %q", name, content, f.Format, f.Named, expected)
			}
			f.Close()
		}
	}
}

// What was read can be read again, and then no more.
func TestAgain(t *testing.T) {
	f, err := Open(write(t, "a.csv", []byte("a,b\n1,2\n3,4\n")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Keep()
	for range 2 {
		for row, err := range f.Rows(nil) {
			if err != nil || row.Values["b"] != "2" {
				t.Errorf("%+v, %v", row, err)
			}
			break
		}
		f.Again()
		f.Keep()
	}
	f.Again()
	if text, err := io.ReadAll(f.Text()); string(text) != "a,b\n1,2\n3,4\n" || len(f.Kept()) != 0 || err != nil {
		t.Errorf("%q, %q, %v", text, f.Kept(), err)
	}
}

// A pipe opens before its writer has finished, and what must be read in any order is copied.
func TestPipe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/fd")
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := fmt.Sprintf("/dev/fd/%d", in.Fd())
	fmt.Fprintln(out, "{\"a\":1}\n{\"a\":2}")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Regular() || f.Format != ".jsonl" {
		t.Errorf("%v, %q", f.Regular(), f.Format)
	}
	out.Close()
	n := 0
	for _, err := range f.Rows(nil) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d rows", n)
	}
	content, err := os.ReadFile(filepath.FromSlash("../parquet/testdata/snappy.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range Read(write(t, "a.parquet.gz", gzipped(t, content))) {
		if err != nil || len(row.Columns) == 0 {
			t.Errorf("%+v, %v", row, err)
		}
		break
	}
	in, out, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	go func() { out.Write(content); out.Close() }()
	for row, err := range Read(fmt.Sprintf("/dev/fd/%d", in.Fd())) {
		if err != nil || len(row.Columns) == 0 {
			t.Errorf("%+v, %v", row, err)
		}
		break
	}
}
