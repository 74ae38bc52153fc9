package levels

import (
	"fmt"
	"testing"
)

// table has two columns of some hundred strings, some of them in both.
func table() []Column {
	a, b := Column{}, Column{}
	for i := range 500 {
		a[Text(fmt.Sprint("a", i)).Sum()] = uint8(i % 60)
	}
	for i := range 300 {
		b[Text(fmt.Sprint("a", 2*i)).Sum()] = uint8(63 - i%7)
	}
	b[0], b[1<<32-1] = 3, 4 // the ends of the range
	return []Column{a, b, {}}
}

func TestRoundTrip(t *testing.T) {
	want := table()
	file := Write(Write(nil, want), []Column{{7: 9}})
	tables := Tables(file)
	if len(tables) != 2 {
		t.Fatalf("%d tables; want 2", len(tables))
	}
	for i := range 700 {
		h := Text(fmt.Sprint("a", i))
		row, ok := tables[0].Row(h)
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
	if n := tables[1].columns; n != 1 {
		t.Errorf("second table: %d columns", n)
	}
}

// A table of the largest number of columns, and one without strings.
func TestColumns(t *testing.T) {
	most := make([]Column, MaxColumns)
	for c := range most {
		most[c] = Column{Text("a").Sum(): uint8(c)}
	}
	tables := Tables(Write(Write(nil, most), []Column{{}}))
	row, ok := tables[0].Row(Text("a"))
	for c := range most {
		if !ok || row[c] != uint8(c+1) {
			t.Errorf("column %d: %d, %v", c, row[c], ok)
		}
	}
	if _, ok := tables[1].Row(Text("a")); ok {
		t.Error("found in an empty table")
	}
}

// Few of the strings that a table does not have are found.
func TestStrangers(t *testing.T) {
	c := Column{}
	for i := range 50_000 {
		c[Text(fmt.Sprint("a", i)).Sum()] = 1
	}
	tables := Tables(Write(nil, []Column{c, {}, {}, {}, {}, {}, {}, {}, {}, {}}))
	found := 0
	for i := range 100_000 {
		if _, ok := tables[0].Row(Text(fmt.Sprint("b", i))); ok {
			found++
		}
	}
	if found > 100 {
		t.Errorf("%d of 100,000 were found", found)
	}
}
