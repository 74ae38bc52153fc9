// Package levels stores how frequent a few hundred thousand strings are, in a form that is read where it is, without
// being loaded: hashes instead of the strings, and frequencies in steps of a tenth of a decade.
//
// A file of levels has tables. A table has columns, one for each language, and rows, one for each string that a column
// has. The rows are in buckets by the first bits of their hashes, and a directory says where each bucket begins:
//
//	columns, bucket bits, lowest level: a byte each
//	number of masks: two bytes
//	masks: three bytes with a bit for each column, a byte with the length of their code; 0 is all others
//	directory: for each 32 buckets, the bit at which they begin, in four bytes, and how far from there each begins,
//	in two
//	rows: 14 more bits of the hash; the code of the columns that have the string; after the code of all others a bit
//	for each column; for each column that has it, in order, six bits with its level above the lowest
//	eight bytes of zeros
//
// All numbers begin with their lowest byte, and rows with their lowest bit.
package levels

import "math"

const (
	keyBits   = 14 // of the strings that a table does not have, up to one in 3,000 is taken for one that it has
	levelBits = 6

	group      = 32 // buckets
	groupBytes = 4 + 2*group
)

// MaxColumns is the largest number of columns of a table.
const MaxColumns = 18

// Share returns the share of a level, its negative decibels: 10^(-level/10).
func Share(level int) float64 { return math.Pow(10, -float64(level)/10) }

// Hash is the hash of a string that is fed to it character by character. Its zero value belongs to the empty string.
type Hash uint64

// Add returns the hash of the string with r at its end.
func (h Hash) Add(r rune) Hash {
	h = (h ^ 0x9e3779b97f4a7c15 ^ Hash(r)) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Sum returns the part of the hash by which columns know the string.
func (h Hash) Sum() uint32 { return uint32(h * 0x9e3779b97f4a7c15 >> 32) }

// Text returns the hash of a string.
func Text(s string) (h Hash) {
	for _, r := range s {
		h = h.Add(r)
	}
	return h
}
