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

// hashOf returns a hash with this sum.
func hashOf(sum uint32) Hash {
	const factor = Hash(0x9e3779b97f4a7c15)
	inverse := Hash(1)
	for range 64 {
		inverse *= 2 - factor*inverse
	}
	return Hash(sum) << 32 * inverse
}

// Levels far above the lowest are cut, and strings that a table cannot tell apart have the lowest level of these.
func TestBounds(t *testing.T) {
	tables := Tables(Write(nil, []Column{{0: 9, 1: 5, 2: 7, 1 << 30: 68, 1 << 31: 69, 3 << 30: 200},
		{1: 20, 1 << 31: 10}}))
	for sum, want := range map[uint32][2]uint8{0: {6, 21}, 1: {6, 21}, 3: {6, 21}, 1<<18 - 1: {6, 21}, 1 << 18: {},
		1 << 30: {69, 0}, 1 << 31: {69, 11}, 3 << 30: {69, 0}, 1<<30 - 1: {}, 1<<32 - 1: {}} {
		row, ok := tables[0].Row(hashOf(sum))
		if got := [2]uint8(row[:2]); got != want || ok != (want != [2]uint8{}) ||
			row.None(0) != !ok || row.None(1) != (want[1] == 0) || !row.None(2) {
			t.Errorf("%#x: %v, %v, want %v", sum, got, ok, want)
		}
	}
	for _, columns := range [][]Column{nil, make([]Column, MaxColumns+1)} {
		func() {
			defer func() {
				if want := fmt.Sprintf("levels: %d columns, expected 1 to 18", len(columns)); recover() != want {
					t.Errorf("expected the panic %q", want)
				}
			}()
			Write(nil, columns)
		}()
	}
}
