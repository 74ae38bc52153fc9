package fasttext

// Quantised input matrices are expanded for speed if that takes at most this
// many times the file's size, as is the case for the tool's default of two
// columns per byte.
const maxExpansion = 8

// input is the matrix of word and n-gram vectors.
type input interface {
	dim() int
	// mean sets x to the mean of the rows, at least one.
	mean(x []float32, rows []int32)
}

// output is the matrix of label vectors.
type output interface {
	dot(row int, x []float32) float32
}

// Products are converted to float32 before they are added, so that no
// compiler fuses the two: the reference rounds twice.

// denseMatrix stores rows one after another.
type denseMatrix struct {
	values []float32
	cols   int
}

func (m *denseMatrix) dim() int { return m.cols }

// mean sums eight columns at a time, so that the sums stay in registers. Each
// sum runs over the rows in order, as the reference's.
func (m *denseMatrix) mean(x []float32, rows []int32) {
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
		var a float32
		for _, row := range rows {
			a += m.values[int(row)*n+c]
		}
		x[c] = a
	}
	scale(x, len(rows))
}

func (m *denseMatrix) dot(row int, x []float32) float32 {
	v := m.values[row*m.cols:][:len(x)]
	var sum float32
	for i := range x {
		sum += float32(v[i] * x[i])
	}
	return sum
}

// scale divides x by n as the reference does: by a rounded reciprocal.
func scale(x []float32, n int) {
	f := float32(1 / float64(n))
	for i := range x {
		x[i] *= f
	}
}

// quantisedMatrix is a product quantisation (Jégou et al. 2011): each part of
// a row is the number of a centroid.
type quantisedMatrix struct {
	codes     []byte // rows x parts
	q         quantiser
	normCodes []byte // per row; nil if all norms are 1
	norms     []float32
}

// quantiser has 256 centroids for each part of a vector: width columns, the
// last part last columns.
type quantiser struct {
	dim, parts, width, last int
	centroids               []float32
}

// centroid returns the columns of part p for a code.
func (q *quantiser) centroid(p int, code byte) []float32 {
	width := q.width
	if p == q.parts-1 {
		width = q.last
	}
	at := p*256*q.width + int(code)*width
	return q.centroids[at : at+width]
}

func (m *quantisedMatrix) dim() int { return m.q.dim }

func (m *quantisedMatrix) norm(row int) float32 {
	if m.normCodes == nil {
		return 1
	}
	return m.norms[m.normCodes[row]]
}

func (m *quantisedMatrix) add(x []float32, row int) {
	norm := m.norm(row)
	for p, code := range m.codes[row*m.q.parts:][:m.q.parts] {
		c := m.q.centroid(p, code)
		part := x[p*m.q.width:][:len(c)]
		for i, v := range c {
			part[i] += float32(norm * v)
		}
	}
}

func (m *quantisedMatrix) mean(x []float32, rows []int32) {
	clear(x)
	for _, row := range rows {
		m.add(x, int(row))
	}
	scale(x, len(rows))
}

func (m *quantisedMatrix) dot(row int, x []float32) float32 {
	var sum float32
	for p, code := range m.codes[row*m.q.parts:][:m.q.parts] {
		c := m.q.centroid(p, code)
		part := x[p*m.q.width:][:len(c)]
		for i, v := range c {
			sum += float32(part[i] * v)
		}
	}
	return sum * m.norm(row)
}

// expand returns the same rows, dense.
func (m *quantisedMatrix) expand() *denseMatrix {
	rows := len(m.codes) / m.q.parts
	e := &denseMatrix{values: make([]float32, rows*m.q.dim), cols: m.q.dim}
	for row := range rows {
		m.add(e.values[row*e.cols:][:e.cols], row)
	}
	return e
}

// matrix reads a matrix of dim columns and returns it with its rows' number.
func (d *decoder) matrix(what string, dim int64, quantised bool) (matrix interface {
	input
	output
}, rows int64) {
	norms := quantised && d.flag(what+": norms")
	rows, cols := d.int64(), d.int64()
	if d.err == nil && (cols != dim || rows < 0) {
		d.fail("%s of %d x %d, expected %d columns", what, rows, cols, dim)
	}
	if !quantised {
		if !d.need(what, rows, 4*dim) {
			return nil, 0
		}
		return &denseMatrix{values: d.floats(what, rows*dim), cols: int(dim)}, rows
	}

	m := &quantisedMatrix{codes: d.bytes(what+": codes", int64(d.int32()))}
	m.q = d.quantiser(what, dim)
	if d.err == nil && (rows > d.size || int64(len(m.codes)) != rows*int64(m.q.parts)) {
		d.fail("%s: %d codes, expected %d rows of %d", what, len(m.codes), rows, m.q.parts)
	}
	if norms {
		m.normCodes = d.bytes(what+": norms", rows)
		m.norms = d.quantiser(what+": norms", 1).centroids
	}
	return m, rows
}

func (d *decoder) quantiser(what string, dim int64) quantiser {
	q := quantiser{dim: int(d.int32()), parts: int(d.int32()), width: int(d.int32()), last: int(d.int32())}
	if d.err == nil && (int64(q.dim) != dim || q.parts < 1 || q.width < 1 || q.last < 1 || q.last > q.width ||
		(q.parts-1)*q.width+q.last != q.dim) {
		d.fail("%s: quantiser of %d columns in %d parts of %d, the last of %d, expected %d columns",
			what, q.dim, q.parts, q.width, q.last, dim)
	}
	if !d.need(what+": quantiser", dim, 256*4) {
		return quantiser{}
	}
	q.centroids = d.floats(what+": quantiser", dim*256)
	return q
}
