package levels

import (
	"fmt"
	"testing"
)

// A cache gives what the table gives, also when strings share a place in it: there are far more of them than places.
func TestCache(t *testing.T) {
	column := Column{}
	for i := range 20_000 {
		column[Text(fmt.Sprint("a", i)).Sum()] = uint8(i % 60)
	}
	tables := Tables(Write(nil, []Column{column, {}}))
	cache := tables[0].Cache()
	defer cache.Free()
	for i := range 100_000 {
		var hashes [mostRows]Hash
		for n := range hashes {
			hashes[n] = Text(fmt.Sprint("a", i*(n+1)%30_000))
		}
		var rows [mostRows]Row
		cache.Rows(rows[:], hashes[:])
		for n, h := range hashes {
			if want, _ := tables[0].Row(h); rows[n] != want {
				t.Fatalf("row of a%d is %v, want %v", i*(n+1)%30_000, rows[n], want)
			}
		}
	}
}
