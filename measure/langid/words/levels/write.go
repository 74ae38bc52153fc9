package levels

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
)

// A Column maps the sums of hashes to levels.
type Column map[uint32]uint8

// leastBits is how many bits of its hash, at least, a row has besides those of its bucket: of the strings that a table
// does not have, up to one in 2,000 is taken for one that it has.
const leastBits = 14

// Write appends a table to a file. It panics if there are no columns, more than MaxColumns, or more than 16 MiB of rows.
func Write(dst []byte, columns []Column) []byte {
	if len(columns) == 0 || len(columns) > MaxColumns {
		panic(fmt.Sprintf("levels: %d columns, expected 1 to %d", len(columns), MaxColumns))
	}
	sums := map[uint32]bool{}
	for _, c := range columns {
		for sum := range c {
			sums[sum] = true
		}
	}
	t := Table{columns: len(columns), bucketBits: max(0, bits.Len(uint(len(sums)/4))-1), keyBytes: (len(columns) + leastBits + 7) / 8}
	out := []byte{byte(t.columns), byte(t.bucketBits), byte(t.keyBytes)}
	var rows []byte
	next := 0 // bucket
	begin := func(bucket int) {
		for ; next <= bucket; next++ {
			out = append(out, byte(len(rows)), byte(len(rows)>>8), byte(len(rows)>>16))
		}
	}
	sorted := slices.Sorted(maps.Keys(sums))
	for i := 0; i < len(sorted); {
		bucket, rest := t.place(sorted[i])
		begin(bucket)
		key := uint64(rest) << t.columns
		found := make([]int, len(columns)) // the level + 1 in each column
		for ; i < len(sorted); i++ {       // the table cannot tell strings with the same place apart
			if b, r := t.place(sorted[i]); b != bucket || r != rest {
				break
			}
			for c := range columns {
				if level, ok := columns[c][sorted[i]]; ok && (found[c] == 0 || int(level) < found[c]-1) {
					found[c] = int(level) + 1
					key |= 1 << c
				}
			}
		}
		rows = append(rows, binary.LittleEndian.AppendUint64(nil, key)[:t.keyBytes]...)
		for _, level := range found {
			if level > 0 {
				rows = append(rows, byte(level-1))
			}
		}
	}
	begin(1 << t.bucketBits)
	if len(rows) >= 1<<24 {
		panic(fmt.Sprintf("levels: %d bytes of rows, expected less than %d", len(rows), 1<<24))
	}
	return append(append(binary.AppendUvarint(dst, uint64(len(out)+len(rows))), out...), rows...)
}
