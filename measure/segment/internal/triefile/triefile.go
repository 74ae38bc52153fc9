// Package triefile reads the dictionaries embedded in segmenters: variable-length numbers, and tries of characters.
package triefile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
)

// Reader reads values from the front of a file. It panics at the end of the file, which is embedded and complete.
type Reader []byte

// Open decompresses an embedded file, which must start with version, else it panics. of names the file's owner.
func Open(of string, packed []byte, version int) Reader {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(of + ": embedded dictionary: " + err.Error())
	}
	data := make([]byte, binary.LittleEndian.Uint32(packed[len(packed)-4:])) // gzip ends with the size
	if _, err := io.ReadFull(z, data); err != nil {
		panic(of + ": embedded dictionary: " + err.Error())
	}
	r := Reader(data)
	if r.Uint() != version {
		panic(of + ": embedded dictionary: unknown format")
	}
	return r
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	v := (*r)[0]
	*r = (*r)[1:]
	return v
}

// Uint reads a varint.
func (r *Reader) Uint() int {
	if v := (*r)[0]; v < 0x80 {
		*r = (*r)[1:]
		return int(v)
	}
	v, n := binary.Uvarint(*r)
	*r = (*r)[n:]
	return int(v)
}

// Int reads a signed varint.
func (r *Reader) Int() int {
	v := r.Uint()
	return int(uint(v)>>1) ^ -(v & 1)
}

// Float reads a little-endian float64.
func (r *Reader) Float() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(*r))
	*r = (*r)[8:]
	return v
}

// Trie finds words. Its nodes are numbered level by level, the root being 0, and its characters have labels from 0.
type Trie struct {
	top   []int32 // child of the root by label, or 0
	first []int32 // the children of node n are the nodes first[n] to first[n+1]
	label []uint16
}

// Trie reads a trie with this number of labels: the number of nodes, how many children each has, and the labels of
// the children, ascending, as differences.
func (r *Reader) Trie(labels int) Trie {
	nodes := r.Uint()
	t := Trie{make([]int32, labels), make([]int32, nodes+1), make([]uint16, nodes)}
	t.first[0] = 1
	for i := range nodes {
		t.first[i+1] = t.first[i] + int32(r.Uint())
	}
	for i := range nodes {
		last := 0
		for child := t.first[i]; child < t.first[i+1]; child++ {
			last += r.Uint()
			t.label[child] = uint16(last)
		}
	}
	for child := t.first[0]; child < t.first[1]; child++ {
		t.top[t.label[child]] = child
	}
	return t
}

// Nodes returns the number of nodes, including the root.
func (t *Trie) Nodes() int { return len(t.label) }

// Child returns the child of a node with this label, or 0.
func (t *Trie) Child(node int32, label uint16) int32 {
	if node == 0 {
		return t.top[label]
	}
	for low, high := t.first[node], t.first[node+1]; low < high; {
		mid := (low + high) / 2
		switch at := t.label[mid]; {
		case at == label:
			return mid
		case at < label:
			low = mid + 1
		default:
			high = mid
		}
	}
	return 0
}
