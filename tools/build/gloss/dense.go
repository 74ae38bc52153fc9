package main

import (
	"fmt"
	"math"
)

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
