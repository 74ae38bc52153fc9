package spill

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
)

// Every record comes back once, those of one hash in one part and in their order,
// whether there is room for them or not.
func TestRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n, room, parts int
	}{{0, 1 << 20, 1}, {1, 1 << 20, 1}, {50_000, 1 << 20, 1}, {50_000, 1 << 19, 64}, {50_000, 0, 64}, {3, 0, 64}} {
		const size = 20
		r := New(size, test.room)
		random := rand.New(rand.NewPCG(1, 2))
		hashes := make([]uint64, 1000)
		for i := range hashes {
			hashes[i] = random.Uint64()
		}
		record := make([]byte, size)
		for i := range test.n {
			binary.BigEndian.PutUint64(record, hashes[i*7919%len(hashes)])
			binary.BigEndian.PutUint32(record[12:], uint32(i))
			if err := r.Add(record); err != nil {
				t.Fatal(err)
			}
		}
		if r.Parts() != test.parts {
			t.Errorf("%d parts, want %d", r.Parts(), test.parts)
		}
		n, in, last := 0, map[uint64]int{}, map[uint64]int{}
		for range 2 { // they may be read again
			clear(last)
			n = 0
			for part := range r.Parts() {
				for record, err := range r.Part(part) {
					if err != nil {
						t.Fatal(err)
					}
					hash, i := binary.BigEndian.Uint64(record), int(binary.BigEndian.Uint32(record[12:]))
					if hash != hashes[i*7919%len(hashes)] {
						t.Fatalf("record %d has changed", i)
					}
					if was, known := in[hash]; known && was != part {
						t.Fatalf("the hash %x is in the parts %d and %d", hash, was, part)
					}
					if before, known := last[hash]; known && before >= i {
						t.Fatalf("record %d comes after %d", i, before)
					}
					in[hash], last[hash] = part, i
					n++
				}
			}
		}
		if n != test.n {
			t.Errorf("%d records of %d", n, test.n)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A file that cannot be made is an error, and none is left behind.
func TestTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
	r := New(8, 0)
	for range 10_000 {
		if err := r.Add(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
	t.Setenv("TMPDIR", dir+"/none")
	t.Setenv("TMP", dir+"/none")
	if err := New(8, 0).Add(make([]byte, 8)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
