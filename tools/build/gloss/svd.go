package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The sketch is one draw of several, that of seed 1, and one power iteration leaves the vectors dependent on it:
// another seed moves leak rates by several points. Draw and iteration are those of the prototype whose figures we
// quote: these hold for this draw, and say nothing of others.
const (
	oversampling    = 108 // dimensions of the random sketch beyond those kept
	powerIterations = 1
	sketchSeed      = 1
	rotationSeed    = 3
)

// embed returns the rows of m in the space of its first dim left singular vectors, each scaled by the square root of
// its singular value, centred. The singular vectors come from a random sketch of dim + oversampling dimensions,
// improved by power iterations (Halko, Martinsson and Tropp 2011, algorithms
// 4.4 and 5.1). The entry of largest magnitude of each is positive.
func embed(m *sparse, dim, oversampling int) (*dense, error) {
	t := m.transposed()
	y := m.times(normal(m.columns, dim+oversampling, sketchSeed))
	for range powerIterations {
		if err := y.orthonormalise(); err != nil {
			return nil, err
		}
		y = m.times(t.times(y))
	}
	for range 2 {
		if err := y.orthonormalise(); err != nil {
			return nil, err
		}
	}
	values, vectors := eigen(t.times(y).gram())
	project := newDense(len(values), dim)
	for i := range values {
		for j := range dim {
			// the eigenvalues are the squares of the singular values
			project.row(i)[j] = vectors.row(j)[i] * math.Sqrt(math.Sqrt(values[j]))
		}
	}
	e := y.times(project)
	e.setSigns()
	e.centre()
	return e, nil
}

// setSigns turns each column so that its entry of largest magnitude, the first of several, is positive: a singular
// vector is one only up to its sign.
func (d *dense) setSigns() {
	largest := make([]float64, d.columns)
	for i := range d.rows() {
		for j, x := range d.row(i) {
			if math.Abs(x) > math.Abs(largest[j]) {
				largest[j] = x
			}
		}
	}
	for i := range d.rows() {
		for j, x := range d.row(i) {
			d.row(i)[j] = math.Copysign(1, largest[j]) * x
		}
	}
}

// rotation returns a random orthogonal matrix: it spreads the variance evenly over the dimensions, so that few bits per
// dimension lose little.
func rotation(dim int) *dense {
	return orthogonalFactor(normal(dim, dim, rotationSeed))
}

// centre subtracts the mean of the rows.
func (d *dense) centre() {
	mean := make([]float64, d.columns)
	for i := range d.rows() {
		addScaled(mean, 1, d.row(i))
	}
	for i := range d.rows() {
		addScaled(d.row(i), -1/float64(d.rows()), mean)
	}
}

// eigen returns the eigenvalues of the symmetric matrix a, largest first, and its eigenvectors as rows, by Jacobi's
// method. It overwrites a.
func eigen(a *dense) (values []float64, vectors *dense) {
	n := a.columns
	v := newDense(n, n)
	for i := range n {
		v.row(i)[i] = 1
	}
	for range 30 {
		rotated := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				pq, pp, qq := a.row(p)[q], a.row(p)[p], a.row(q)[q]
				if math.Abs(pq) <= 1e-15*math.Sqrt(math.Abs(float64(pp*qq))) {
					continue
				}
				rotated = true
				theta := (qq - pp) / (2 * pq)
				t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(float64(t*t)+1)
				rotate(a, v, p, q, c, t*c)
			}
		}
		if !rotated {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.row(j)[j], a.row(i)[i]) })
	vectors = newDense(n, n)
	for i, k := range order {
		values = append(values, max(0, a.row(k)[k]))
		copy(vectors.row(i), v.row(k))
	}
	return values, vectors
}

// rotate turns rows and columns p and q of the symmetric matrix a, and rows p and q of v, by the angle with cosine c
// and sine s.
func rotate(a, v *dense, p, q int, c, s float64) {
	rotateRows(a.row(p), a.row(q), c, s)
	for k := range a.columns {
		row := a.row(k)
		row[p], row[q] = float64(c*row[p])-float64(s*row[q]), float64(s*row[p])+float64(c*row[q])
	}
	rotateRows(v.row(p), v.row(q), c, s)
}

func rotateRows(x, y []float64, c, s float64) {
	for k := range x {
		x[k], y[k] = float64(c*x[k])-float64(s*y[k]), float64(s*x[k])+float64(c*y[k])
	}
}

// dense is a matrix of float64, row by row.
type dense struct {
	columns int
	data    []float64
}

func newDense(rows, columns int) *dense {
	return &dense{columns, make([]float64, rows*columns)}
}

func (d *dense) rows() int { return len(d.data) / d.columns }

func (d *dense) row(i int) []float64 { return d.data[i*d.columns : (i+1)*d.columns] }

// addScaled adds a*x to sum.
func addScaled(sum []float64, a float64, x []float64) {
	sum = sum[:len(x)]
	for i, v := range x {
		sum[i] += float64(a * v)
	}
}

// times returns d x m.
func (d *dense) times(m *dense) *dense {
	out := newDense(d.rows(), m.columns)
	parallelRows(d.rows(), func(from, to int) {
		for i := from; i < to; i++ {
			sum := out.row(i)
			for j, v := range d.row(i) {
				addScaled(sum, v, m.row(j))
			}
		}
	})
	return out
}

// gram returns the transpose of d times d: sums over blocks of rows, added in the order of the blocks.
func (d *dense) gram() *dense {
	blocks := make([]*dense, (d.rows()+blockRows-1)/blockRows)
	parallelRows(d.rows(), func(from, to int) {
		g := newDense(d.columns, d.columns)
		for r := from; r < to; r++ {
			row := d.row(r)
			for i, v := range row {
				addScaled(g.row(i)[i:], v, row[i:])
			}
		}
		blocks[from/blockRows] = g
	})
	sum := newDense(d.columns, d.columns)
	for _, b := range blocks {
		for i, v := range b.data {
			sum.data[i] += v
		}
	}
	for i := range d.columns {
		for j := range i {
			sum.row(i)[j] = sum.row(j)[i]
		}
	}
	return sum
}

// orthonormalise makes the columns of d orthonormal, by Cholesky factorisation of the Gram matrix. The error grows with
// the square of d's condition number; once more makes it as good as the arithmetic (CholeskyQR2: Fukaya et al. 2014).
func (d *dense) orthonormalise() error {
	upper, err := cholesky(d.gram())
	if err != nil {
		return err
	}
	parallelRows(d.rows(), func(from, to int) {
		for i := from; i < to; i++ {
			solveRow(d.row(i), upper)
		}
	})
	return nil
}

// cholesky returns the upper triangular r with transpose(r) x r = g.
func cholesky(g *dense) (*dense, error) {
	n := g.columns
	r := newDense(n, n)
	for i := range n {
		copy(r.row(i)[i:], g.row(i)[i:])
		for k := range i {
			addScaled(r.row(i)[i:], -r.row(k)[i], r.row(k)[i:])
		}
		pivot := r.row(i)[i]
		if !(pivot > 0) {
			return nil, fmt.Errorf("columns are linearly dependent: pivot %d of %d is %g", i, n, pivot)
		}
		scale := 1 / math.Sqrt(pivot)
		for j := i; j < n; j++ {
			r.row(i)[j] *= scale
		}
	}
	return r, nil
}

// solveRow replaces the row x by x times the inverse of the upper triangular r.
func solveRow(x []float64, r *dense) {
	for i := range x {
		x[i] /= r.row(i)[i]
		addScaled(x[i+1:], -x[i], r.row(i)[i+1:])
	}
}

// orthogonalFactor returns the q of a = q x r, with r upper triangular, by Householder's reflections. It overwrites the
// square matrix a. The signs are those of LAPACK's dgeqrf: each reflection makes the diagonal entry of r of the other
// sign than what it was reflected from, and the last entry is left alone.
func orthogonalFactor(a *dense) *dense {
	n := a.columns
	q := newDense(n, n)
	for i := range n {
		q.row(i)[i] = 1
	}
	v := make([]float64, n)
	for k := range n - 1 {
		square := 0.0
		for i := k; i < n; i++ {
			v[i] = a.row(i)[k]
			square += float64(v[i] * v[i])
		}
		norm := math.Copysign(math.Sqrt(square), v[k])
		v[k] += norm
		if square == 0 {
			continue
		}
		scale := 1 / (norm * v[k]) // 2 over the square of v
		dots := make([]float64, n)
		for i := k; i < n; i++ {
			addScaled(dots, v[i], a.row(i))
		}
		for i := k; i < n; i++ {
			addScaled(a.row(i), -scale*v[i], dots)
		}
		for i := range n {
			row, dot := q.row(i)[k:], 0.0
			for j, x := range row {
				dot += float64(x * v[k+j])
			}
			addScaled(row, -scale*dot, v[k:])
		}
	}
	return q
}

const (
	contextPower = 0.85 // smooths the distribution of contexts
	contextMin   = 10   // rows that must visit a context lemma for it to be kept
)

// ppmi returns the positive pointwise mutual information of row lemmas and context lemmas, given how often walks from
// the former visit the latter: max(0, ln p(context|row) - ln p(context)), with p(context) smoothed by contextPower
// (Levy, Goldberg and Dagan 2015, section 3.2).
func ppmi(visits *sparse) *sparse {
	total := make([]float64, visits.columns)
	rows := make([]int, visits.columns)
	sums := make([]float64, visits.rows())
	for i := range visits.rows() {
		for _, e := range visits.row(i) {
			sums[i] += e.value
		}
		for _, e := range visits.row(i) {
			total[e.column] += e.value / sums[i]
			rows[e.column]++
		}
	}
	smoothed := 0.0
	for _, t := range total {
		if t > 0 {
			smoothed += pow(t, contextPower)
		}
	}
	columns := 0
	kept := make([]int32, visits.columns)
	logContext := make([]float64, visits.columns)
	for i, t := range total {
		kept[i] = -1
		if rows[i] >= contextMin {
			kept[i] = int32(columns)
			logContext[i] = float64(contextPower*ln(t)) - ln(smoothed)
			columns++
		}
	}
	out := make([][]entry, visits.rows())
	parallelRows(len(out), func(from, to int) {
		for i := from; i < to; i++ {
			for _, e := range visits.row(i) {
				if kept[e.column] < 0 {
					continue
				}
				if x := ln(e.value/sums[i]) - logContext[e.column]; x > 0 {
					out[i] = append(out[i], entry{kept[e.column], x})
				}
			}
		}
	})
	return newSparse(out, columns)
}
