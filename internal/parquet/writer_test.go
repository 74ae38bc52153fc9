package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What is written is read again: texts of any kind, numbers, and absent values
// in every place, over several row groups.
func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, []Column{{"text.a", Text}, {"n", Int}, {"x", Double}, {"never", Text}})
	texts := []string{"", "plain", "né 中文 \x00 \"q\"\n", strings.Repeat("long ", 2000)}
	want := map[string][]string{}
	const rows = groupRows + 5000
	for i := range rows {
		row := []any{nil, nil, nil, nil}
		text, n, x := "", "", ""
		if i%3 > 0 {
			text = texts[i%len(texts)]
			if i > 100 && len(text) > 1000 {
				text = "short"
			}
			row[0] = text
		}
		if i%5 > 0 {
			row[1], n = int64(-i)<<30, fmt.Sprint(int64(-i)<<30)
		}
		if i%7 > 0 {
			row[2], x = float64(i)/4, fmt.Sprint(float64(i)/4)
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
		want["text.a"], want["n"], want["x"], want["never"] = append(want["text.a"], text), append(want["n"], n), append(want["x"], x), append(want["never"], "")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if len(w.groups) != 2 {
		t.Errorf("%d row groups; want 2", len(w.groups))
	}
	f, err := New(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Columns(), " "); got != "text.a n x never" || f.Rows != rows {
		t.Errorf("%d rows of %s", f.Rows, got)
	}
	for column, values := range want {
		got, err := f.Text(column)
		if err != nil {
			t.Fatal(err)
		}
		for i := range values {
			if got[i] != values[i] {
				t.Errorf("%s, row %d: %.40q; want %.40q", column, i, got[i], values[i])
				break
			}
		}
	}
}

// A file without rows is a file.
func TestWriterOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := NewWriter(&b, []Column{{"a", Text}}).Close(); err != nil {
		t.Fatal(err)
	}
	f, err := New(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || f.Rows != 0 || f.column("a") == nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// Rows that do not fit and a full disk are errors.
func TestWriterErrors(t *testing.T) {
	w := NewWriter(&bytes.Buffer{}, []Column{{"a", Text}})
	if err := w.Write([]any{"x", "y"}); err == nil || err.Error() != "a row of 2 values for 1 columns" {
		t.Error(err)
	}
	if err := w.Write([]any{3}); err == nil || err.Error() != "column a: a value of type int" {
		t.Error(err)
	}
	full := errors.New("full")
	w = NewWriter(failing{full}, []Column{{"a", Text}})
	if err := w.Close(); !errors.Is(err, full) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
