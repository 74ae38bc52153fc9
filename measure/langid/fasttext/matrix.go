package fasttext

// Quantised matrices are expanded for speed, if that takes at most this many times the file's size, as is the case
// for the tool's default of two columns per byte.
const maxExpansion = 8

// matrix has the vectors of words and n-grams, or of labels: rows one after another.
//
// Products are converted to float32 before they are added, so that no compiler fuses the two: the reference rounds
// twice.
type matrix struct {
	values []float32
	cols   int
}

func (m *matrix) rows() int { return len(m.values) / m.cols }

// mean sets x to the mean of the rows, at least one. It sums eight columns at a time, so that the sums stay in
// registers. Each sum runs over the rows in order, as the reference's, which divides by a rounded reciprocal.
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

// matrix reads a matrix of dim columns.
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

// expanded reads a product quantisation (Jégou et al. 2011): each part of a row is the number of a centroid.
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
			for _, v := range q.centroid(p, code) {
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

// centroid returns the columns of part p for a code.
func (q *quantiser) centroid(p int, code byte) []float32 {
	width := q.width
	if p == q.parts-1 {
		width = q.last
	}
	at := p*256*q.width + int(code)*width
	return q.centroids[at : at+width]
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
