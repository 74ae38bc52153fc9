package levels

import (
	"fmt"
	"testing"
)

// table has two columns of some hundred strings, some of them in both.
func table() []Column {
	a, b := Column{}, Column{}
	for i := range 500 {
		a[Text(fmt.Sprint("a", i)).Sum()] = uint8(i % 90)
	}
	for i := range 300 {
		b[Text(fmt.Sprint("a", 2*i)).Sum()] = uint8(254 - i%7)
	}
	b[0], b[1<<Bits-1] = 3, 4 // the ends of the range
	return []Column{a, b, {}}
}

func TestRoundTrip(t *testing.T) {
	want := table()
	file := Write(Write(nil, want), []Column{{7: 9}})
	tables, err := Tables(file)
	if err != nil || len(tables) != 2 {
		t.Fatalf("%d tables, %v; want 2", len(tables), err)
	}
	got, err := Read(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		h := Text(fmt.Sprint("a", i))
		row, ok := got.Row(h)
		_, inA := want[0][h.Sum()]
		_, inB := want[1][h.Sum()]
		if ok != (inA || inB) {
			t.Fatalf("a%d: found %v, want %v", i, ok, inA || inB)
		}
		for c, column := range want {
			level, in := column[h.Sum()]
			if in != (row[c] > 0) || in && row[c] != level+1 {
				t.Errorf("a%d, column %d: %d, want %d, %v", i, c, row[c], level, in)
			}
		}
	}
	if second, err := Read(tables[1]); err != nil || second.columns != 1 {
		t.Errorf("second table: %v, %v", second, err)
	}
}

func TestDamaged(t *testing.T) {
	file := Write(nil, table())
	for n := range len(file) {
		tables, err := Tables(file[:n])
		if err == nil && n > 0 {
			t.Errorf("%d bytes of %d were read as %d tables", n, len(file), len(tables))
		}
	}
	tables, _ := Tables(file)
	for n := range len(tables[0]) {
		if _, err := Read(tables[0][:n]); err == nil {
			t.Errorf("%d bytes of a table of %d were read", n, len(tables[0]))
		}
	}
}

func TestOf(t *testing.T) {
	for p, want := range map[float64]int{1: 0, 0.1: 10, 1e-6: 60, 0: 254, 2: 0, 1e-30: 254} {
		if got := Of(p); got != want {
			t.Errorf("level of %g is %d, want %d", p, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	tables, _ := Tables(Write(nil, table()))
	f.Add(tables[0])
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if table, err := Read(data); err == nil {
			table.Row(Text("a"))
		}
	})
}
