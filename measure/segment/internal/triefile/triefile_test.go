package triefile

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// numbers are varints.
func numbers(list ...uint64) (b []byte) {
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func TestReader(t *testing.T) {
	file := append(numbers(0, 127, 128, 300, 1<<40, 0, 1, 2, 3, 254, 255), 0xfe)
	file = binary.LittleEndian.AppendUint64(file, math.Float64bits(-2.5))
	r := Reader(file)
	for _, want := range []int{0, 127, 128, 300, 1 << 40} {
		if got := r.Uint(); got != want {
			t.Errorf("%d; want %d", got, want)
		}
	}
	for _, want := range []int{0, -1, 1, -2, 127, -128} {
		if got := r.Int(); got != want {
			t.Errorf("%d; want %d", got, want)
		}
	}
	if b, f := r.Byte(), r.Float(); b != 0xfe || f != -2.5 || len(r) != 0 {
		t.Errorf("%x, %v, and %d bytes are left", b, f, len(r))
	}
}

// The trie of "a", "ab", "ac", "ae" and "d": labels of the letters from 0.
func TestTrie(t *testing.T) {
	r := Reader(numbers(6, 2, 3, 0, 0, 0, 0, 0, 3, 1, 1, 2))
	trie := r.Trie(5)
	if trie.Nodes() != 6 || len(r) != 0 {
		t.Fatalf("%d nodes, %d bytes are left", trie.Nodes(), len(r))
	}
	for node, children := range map[int32][5]int32{0: {1, 0, 0, 2, 0}, 1: {0, 3, 4, 0, 5}, 2: {}, 5: {}} {
		for label, want := range children {
			if got := trie.Child(node, uint16(label)); got != want {
				t.Errorf("child %d of node %d is %d; want %d", label, node, got, want)
			}
		}
	}
}

func TestOpen(t *testing.T) {
	pack := func(content []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(content)
		z.Close()
		return b.Bytes()
	}
	if r := Open("test", pack(numbers(3, 9)), 3); r.Uint() != 9 || len(r) != 0 {
		t.Error(r)
	}
	longer := pack(numbers(3, 9))
	longer[len(longer)-4]++ // more bytes than there are
	for want, packed := range map[string][]byte{
		"test: embedded dictionary: unknown format": pack(numbers(2)), "test: embedded dictionary: EOF": {},
		"test: embedded dictionary: unexpected EOF": longer,
	} {
		func() {
			defer func() {
				if got := recover(); got != want && (len(packed) == 0 || got == nil) {
					t.Errorf("%v; want %s", got, want)
				}
			}()
			Open("test", packed, 3)
		}()
	}
}
