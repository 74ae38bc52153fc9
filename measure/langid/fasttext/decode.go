package fasttext

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// The file, all integers little-endian:
//
//	magic, version int32
//	dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate int32
//	t float64
//	entries, words, labels int32; tokens, pruned int64
//	per entry: text, 0; count int64; type byte (0 word, 1 label)
//	per pruned n-gram: bucket, row int32
//	quantised byte; input matrix; quantised output byte (0); output matrix
//
// dense matrix:     rows, columns int64; rows x columns float32
// quantised matrix: norms byte; rows, columns int64; codes int32, bytes; quantiser;
// with norms: one byte per row, quantiser
// quantiser:        dim, parts, width, last width int32; dim x 256 float32
const (
	magic      = 793712314
	maxVersion = 12
	supervised = 3
	maxGram    = 255 // no model needs more; time and memory grow with it
	entrySize  = 10  // minimum size of an entry
)

type decoder struct {
	r    *bufio.Reader
	left int64 // bytes not yet read
	size int64 // of the file
	err  error // the first error; later reads return zeros
	buf  [8]byte
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// need reports whether at least n units of size bytes are left.
func (d *decoder) need(what string, n, size int64) bool {
	if d.err == nil && (n < 0 || n > d.left/size) {
		d.fail("%s: %d of %d bytes each, but %d bytes are left", what, n, size, d.left)
	}
	return d.err == nil
}

func (d *decoder) read(b []byte) {
	if d.err != nil {
		return
	}
	n, err := io.ReadFull(d.r, b)
	d.left -= int64(n)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("ends after %d bytes: %w", d.size-d.left, io.ErrUnexpectedEOF)
		}
		d.err = err
	}
}

func (d *decoder) fixed(n int) []byte {
	b := d.buf[:n]
	d.read(b)
	if d.err != nil {
		clear(b)
	}
	return b
}

func (d *decoder) byte() byte   { return d.fixed(1)[0] }
func (d *decoder) int32() int32 { return int32(binary.LittleEndian.Uint32(d.fixed(4))) }
func (d *decoder) int64() int64 { return int64(binary.LittleEndian.Uint64(d.fixed(8))) }
func (d *decoder) flag(what string) bool {
	b := d.byte()
	if b > 1 {
		d.fail("%s: %d, expected 0 or 1", what, b)
	}
	return b == 1
}

func (d *decoder) bytes(what string, n int64) []byte {
	if !d.need(what, n, 1) {
		return nil
	}
	b := make([]byte, n)
	d.read(b)
	return b
}

// floats reads n finite numbers.
func (d *decoder) floats(what string, n int64) []float32 {
	if !d.need(what, n, 4) {
		return nil
	}
	f := make([]float32, n)
	var chunk [1 << 12]byte
	for i := 0; i < len(f) && d.err == nil; {
		b := chunk[:min(len(chunk), 4*(len(f)-i))]
		d.read(b)
		for ; len(b) > 0; b = b[4:] {
			u := binary.LittleEndian.Uint32(b)
			if u&0x7f800000 == 0x7f800000 {
				d.fail("%s: number %d is %v, expected a finite one", what, i, math.Float32frombits(u))
			}
			f[i] = math.Float32frombits(u)
			i++
		}
	}
	return f
}

// word reads up to a zero byte.
func (d *decoder) word() string {
	if d.err != nil {
		return ""
	}
	s, err := d.r.ReadString(0)
	d.left -= int64(len(s))
	if err != nil {
		d.fail("ends after %d bytes, within a word: %w", d.size-d.left, io.ErrUnexpectedEOF)
		return ""
	}
	return s[:len(s)-1]
}

func (d *decoder) model() (*Model, error) {
	if got := d.int32(); d.err == nil && got != magic {
		return nil, fmt.Errorf("starts with %#x, expected %#x: not a model of fastText 0.1 or later",
			uint32(got), magic)
	}
	version := d.int32()
	if version > maxVersion {
		d.fail("version %d, expected at most %d", version, maxVersion)
	}
	dim := int64(d.int32())
	for range 4 { // ws, epoch, minCount, neg: only for training
		d.int32()
	}
	m := &Model{}
	dict := &m.dict
	dict.wordNgrams = int(d.int32())
	kind, model := d.int32(), d.int32()
	dict.bucket = d.int32()
	dict.minn, dict.maxn = int(d.int32()), int(d.int32())
	d.int32() // lrUpdateRate
	d.int64() // t
	if version == 11 {
		dict.maxn = 0 // supervised models of that version had no character n-grams
	}
	switch {
	case d.err != nil:
	case model != supervised:
		d.fail("model kind %d, expected a supervised model (%d)", model, supervised)
	case dim < 1:
		d.fail("dim %d, expected at least 1", dim)
	case dict.maxn > maxGram || dict.wordNgrams > maxGram:
		d.fail("maxn %d, wordNgrams %d, expected at most %d", dict.maxn, dict.wordNgrams, maxGram)
	case dict.bucket < 0, dict.bucket == 0 && (dict.maxn > 0 || dict.wordNgrams > 1):
		d.fail("bucket %d for n-grams, expected at least 1", dict.bucket)
	}

	counts := d.dictionary(dict, m)
	switch {
	case d.err != nil:
	case kind == 1:
		m.tree = newTree(d, counts)
	case kind != 3:
		d.fail("loss %d, expected 1 (hs) or 3 (softmax)", kind)
	}

	quantised := d.flag("quantised")
	m.input = d.matrix("input matrix", dim, quantised)
	if d.flag("quantised output") && quantised {
		d.fail("the output matrix is quantised, expected a model without -qout")
	}
	m.output = d.matrix("output matrix", dim, false)
	if d.err != nil {
		return nil, d.err
	}
	if d.left > 0 {
		return nil, fmt.Errorf("%d bytes follow the model", d.left)
	}

	// Every row that a line can refer to must exist.
	grams := int64(dict.bucket)
	if !dict.pruned.all {
		grams = int64(dict.pruned.last) + 1
		if !quantised {
			return nil, errors.New("n-grams are pruned but the input matrix is not quantised")
		}
	}
	if rows, want := int64(m.input.rows()), int64(dict.words)+grams; rows < want || want > math.MaxInt32 {
		return nil, fmt.Errorf("input matrix has %d rows, expected %d: %d words, %d n-grams",
			rows, want, dict.words, grams)
	}
	if m.output.rows() != len(m.labels) {
		return nil, fmt.Errorf("output matrix has %d rows, expected %d labels", m.output.rows(), len(m.labels))
	}
	dict.index()
	dict.precompute(d.size)
	return m, nil
}

// dictionary reads words, labels and pruned n-grams, and returns the labels' counts.
func (d *decoder) dictionary(dict *dictionary, m *Model) (counts []int64) {
	entries, words, labels := d.int32(), d.int32(), d.int32()
	d.int64() // tokens
	pruned := d.int64()
	if d.err == nil && (words < 0 || labels < 1 || int64(words)+int64(labels) != int64(entries)) {
		d.fail("dictionary of %d entries, %d words, %d labels, expected words and labels to make up the entries",
			entries, words, labels)
	}
	if !d.need("dictionary", int64(entries), entrySize) {
		return nil
	}
	dict.words = words
	dict.entries = make([]string, entries)
	for i := range dict.entries {
		dict.entries[i] = d.word()
		count, isLabel := d.int64(), d.byte() == 1
		if d.err != nil {
			return nil
		}
		if isLabel != (i >= int(words)) {
			d.fail("entry %d (%q) is out of place, expected words before labels", i, dict.entries[i])
		}
		if i >= int(words) {
			counts = append(counts, count)
			m.labels = append(m.labels, strings.TrimPrefix(dict.entries[i], labelPrefix))
		}
	}
	if dict.pruned.all = pruned < 0; !dict.pruned.all && d.need("pruned n-grams", pruned, 8) {
		dict.pruned.init(pruned)
		for range pruned {
			gram, row := d.int32(), d.int32()
			if d.err == nil && (gram < 0 || gram >= dict.bucket || row < 0) {
				d.fail("pruned n-gram %d at row %d, expected one of %d buckets", gram, row, dict.bucket)
			}
			if d.err != nil {
				break
			}
			dict.pruned.put(gram, row)
		}
	}
	return counts
}

// Quantised matrices are expanded for speed if that takes at most this many times the file's size, as is the case
// for the tool's default of two columns per byte.
const maxExpansion = 8

// matrix holds the vectors of words and n-grams, or of labels, row by row.
//
// Products are converted to float32 before they are added, so that no compiler fuses the operations: the reference
// rounds twice.
type matrix struct {
	values []float32
	cols   int
}

func (m *matrix) rows() int { return len(m.values) / m.cols }

// mean sets x to the mean of the rows, at least one. It sums eight columns at a time to keep the sums in registers.
// Like the reference, it adds rows in order and multiplies by a rounded reciprocal.
func (m *matrix) mean(x []float32, rows []int32) {
	c, n := 0, m.cols
	for ; c+8 <= n; c += 8 {
		var a0, a1, a2, a3, a4, a5, a6, a7 float32
		for _, row := range rows {
			v := (*[8]float32)(m.values[int(row)*n+c:])
			a0 += v[0]
			a1 += v[1]
			a2 += v[2]
			a3 += v[3]
			a4 += v[4]
			a5 += v[5]
			a6 += v[6]
			a7 += v[7]
		}
		*(*[8]float32)(x[c:]) = [8]float32{a0, a1, a2, a3, a4, a5, a6, a7}
	}
	for ; c < n; c++ {
		x[c] = 0
		for _, row := range rows {
			x[c] += m.values[int(row)*n+c]
		}
	}
	f := float32(1 / float64(len(rows)))
	for i := range x {
		x[i] *= f
	}
}

func (m *matrix) dot(row int, x []float32) float32 {
	v := m.values[row*m.cols:][:len(x)]
	var sum float32
	for i := range x {
		sum += float32(v[i] * x[i])
	}
	return sum
}

func (d *decoder) matrix(what string, dim int64, quantised bool) matrix {
	norms := quantised && d.flag(what+": norms")
	rows, cols := d.int64(), d.int64()
	if d.err == nil && (cols != dim || rows < 0) {
		d.fail("%s of %d x %d, expected %d columns", what, rows, cols, dim)
	}
	if quantised {
		return d.expanded(what, rows, dim, norms)
	}
	if !d.need(what, rows, 4*dim) {
		return matrix{}
	}
	return matrix{d.floats(what, rows*dim), int(dim)}
}

// expanded reads a product-quantised matrix (Jégou et al. 2011): each part of a row is the number of a centroid.
func (d *decoder) expanded(what string, rows, dim int64, norms bool) matrix {
	codes := d.bytes(what+": codes", int64(d.int32()))
	q := d.quantiser(what, dim)
	if d.err == nil && (rows > d.size || int64(len(codes)) != rows*int64(q.parts)) {
		d.fail("%s: %d codes, expected %d rows of %d", what, len(codes), rows, q.parts)
	}
	var normCodes []byte
	var normOf []float32
	if norms {
		normCodes = d.bytes(what+": norms", rows)
		normOf = d.quantiser(what+": norms", 1).centroids
	}
	if d.err == nil && 4*rows*dim > maxExpansion*d.size {
		d.fail("%s: parts of %d columns, expected 2 (-dsub 2)", what, q.width)
	}
	if d.err != nil {
		return matrix{}
	}
	m := matrix{make([]float32, 0, rows*dim), int(dim)}
	for row := range int(rows) {
		norm := float32(1)
		if norms {
			norm = normOf[normCodes[row]]
		}
		for p, code := range codes[row*q.parts:][:q.parts] {
			width := q.width
			if p == q.parts-1 {
				width = q.last
			}
			for _, v := range q.centroids[p*256*q.width+int(code)*width:][:width] {
				m.values = append(m.values, norm*v)
			}
		}
	}
	return m
}

// quantiser has 256 centroids for each part of a vector: width columns, the last part last columns.
type quantiser struct {
	parts, width, last int
	centroids          []float32
}

func (d *decoder) quantiser(what string, dim int64) quantiser {
	columns := int(d.int32())
	q := quantiser{parts: int(d.int32()), width: int(d.int32()), last: int(d.int32())}
	if d.err == nil && (int64(columns) != dim || q.last < 1 || q.last > q.width ||
		(q.parts-1)*q.width+q.last != columns) {
		d.fail("%s: quantiser of %d columns in %d parts of %d, the last of %d, expected %d columns",
			what, columns, q.parts, q.width, q.last, dim)
	}
	if !d.need(what+": quantiser", dim, 256*4) {
		return quantiser{}
	}
	q.centroids = d.floats(what+": quantiser", dim*256)
	return q
}
