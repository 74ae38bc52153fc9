// Package spill keeps records of a fixed size that are needed a part at a time, where all of them may not fit into
// memory: those beyond some megabytes are in a temporary file.
package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"runtime"
)

// Room is a sensible number of bytes to keep in memory.
const Room = 16 << 20

// Records are records in parts. While there is room for them they are in one part, in the order in which they were
// added. Then a hash, with which each record begins, decides which part it is in: those of one hash are together, in
// their order. They have to be closed. Not safe for concurrent use.
type Records struct {
	size   int
	room   int      // bytes that are kept in memory
	blocks [][]byte // of all records, while there is room
	parts  []part   // then
	file   *os.File
	end    int64 // of the file
}

// part is the records of a part: full blocks in the file, and those after them.
type part struct {
	at   []int64
	last []byte
}

const (
	partBits  = 6
	hashSize  = 8
	blockSize = 1 << 15 // at most
)

// New returns an empty set of records of size bytes each. It keeps about room bytes in memory.
func New(size, room int) *Records { return &Records{size: size, room: room} }

// Parts is the number of parts.
func (r *Records) Parts() int { return max(1, len(r.parts)) }

// perBlock is the size of a full block.
func (r *Records) perBlock() int { return blockSize / r.size * r.size }

// Add adds a copy of a record, which begins with its hash in 8 bytes, big-endian.
func (r *Records) Add(record []byte) error {
	if r.parts == nil && (len(r.blocks)+1)*r.perBlock() <= r.room {
		if last := len(r.blocks) - 1; last < 0 || len(r.blocks[last]) == r.perBlock() {
			r.blocks = append(r.blocks, make([]byte, 0, r.perBlock()))
		}
		last := &r.blocks[len(r.blocks)-1]
		*last = append(*last, record...)
		return nil
	}
	if r.parts == nil {
		if err := r.divide(); err != nil {
			return err
		}
	}
	return r.put(record)
}

// divide brings the records, for which there is no more room, to their parts.
func (r *Records) divide() (err error) {
	if r.file, err = os.CreateTemp("", "crosstalk-*.records"); err != nil {
		return full(err)
	}
	if runtime.GOOS != "windows" {
		os.Remove(r.file.Name()) // it is gone when the process is, however that ends
	}
	r.parts = make([]part, 1<<partBits)
	for _, block := range r.blocks {
		for ; len(block) > 0; block = block[r.size:] {
			if err := r.put(block[:r.size]); err != nil {
				return err
			}
		}
	}
	r.blocks = nil
	return nil
}

func (r *Records) put(record []byte) error {
	p := &r.parts[binary.BigEndian.Uint64(record)>>(64-partBits)]
	if p.last == nil {
		p.last = make([]byte, 0, r.perBlock())
	}
	p.last = append(p.last, record...)
	if len(p.last) < r.perBlock() {
		return nil
	}
	if _, err := r.file.WriteAt(p.last, r.end); err != nil {
		return full(err)
	}
	p.at = append(p.at, r.end)
	r.end += int64(len(p.last))
	p.last = p.last[:0]
	return nil
}

// full says what to do about a file that cannot be written.
func full(err error) error {
	return fmt.Errorf("temporary file: %w: set TMPDIR to a directory with room", err)
}

// Part yields the records of a part, from 0. Each is valid until the next one.
func (r *Records) Part(i int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		each := func(block []byte) bool {
			for ; len(block) > 0; block = block[r.size:] {
				if !yield(block[:r.size], nil) {
					return false
				}
			}
			return true
		}
		if r.parts == nil {
			for _, block := range r.blocks {
				if !each(block) {
					return
				}
			}
			return
		}
		block := make([]byte, r.perBlock())
		for _, at := range r.parts[i].at {
			if _, err := r.file.ReadAt(block, at); err != nil {
				yield(nil, fmt.Errorf("temporary file: %w", err))
				return
			}
			if !each(block) {
				return
			}
		}
		each(r.parts[i].last)
	}
}

// Close drops the records.
func (r *Records) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	if gone := os.Remove(r.file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	r.file, r.blocks, r.parts = nil, nil, nil
	return err
}
