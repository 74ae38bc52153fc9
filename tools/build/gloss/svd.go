package main

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
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
func embed(m *sparse, dim, oversampling int) (*mat.Dense, error) {
	t := m.transposed()
	y := m.times(normal(m.columns, dim+oversampling, sketchSeed))
	for range powerIterations {
		if err := orthonormalise(y); err != nil {
			return nil, err
		}
		y = m.times(t.times(y))
	}
	for range 2 {
		if err := orthonormalise(y); err != nil {
			return nil, err
		}
	}
	var decomposition mat.EigenSym
	if !decomposition.Factorize(gram(t.times(y)), true) {
		return nil, errors.New("the eigenvalues of the sketch cannot be computed")
	}
	var vectors, e mat.Dense
	decomposition.VectorsTo(&vectors)
	n := dim + oversampling
	project := mat.NewDense(n, dim, nil)
	values := decomposition.Values(nil) // the squares of the singular values, the largest last
	for j := range dim {
		from := n - 1 - j
		scale := math.Sqrt(math.Sqrt(max(0, values[from])))
		for i := range n {
			project.Set(i, j, vectors.At(i, from)*scale)
		}
	}
	e.Mul(y, project)
	setSigns(&e)
	centre(&e)
	return &e, nil
}

// setSigns turns each column so that its entry of largest magnitude, the first of several, is positive: a singular
// vector is one only up to its sign.
func setSigns(d *mat.Dense) {
	rows, columns := d.Dims()
	largest := make([]float64, columns)
	for i := range rows {
		for j, x := range d.RawRowView(i) {
			if math.Abs(x) > math.Abs(largest[j]) {
				largest[j] = x
			}
		}
	}
	d.Apply(func(_, j int, x float64) float64 { return math.Copysign(1, largest[j]) * x }, d)
}

// rotation returns a random orthogonal matrix: it spreads the variance evenly over the dimensions, so that few bits per
// dimension lose little.
func rotation(dim int) *mat.Dense {
	var factors mat.QR
	var q mat.Dense
	factors.Factorize(normal(dim, dim, rotationSeed))
	factors.QTo(&q)
	return &q
}

// centre subtracts the mean of the rows.
func centre(d *mat.Dense) {
	rows, columns := d.Dims()
	mean := make([]float64, columns)
	for i := range rows {
		addScaled(mean, 1, d.RawRowView(i))
	}
	for i := range rows {
		addScaled(d.RawRowView(i), -1/float64(rows), mean)
	}
}

// addScaled adds a*x to sum.
func addScaled(sum []float64, a float64, x []float64) {
	sum = sum[:len(x)]
	for i, v := range x {
		sum[i] += float64(a * v)
	}
}

// gram returns the transpose of d times d.
func gram(d *mat.Dense) *mat.SymDense {
	var g mat.SymDense
	g.SymOuterK(1, d.T())
	return &g
}

// orthonormalise makes the columns of d orthonormal, by Cholesky factorisation of the Gram matrix. The error grows with
// the square of d's condition number; once more makes it as good as the arithmetic (CholeskyQR2: Fukaya et al. 2014).
func orthonormalise(d *mat.Dense) error {
	var factors mat.Cholesky
	if !factors.Factorize(gram(d)) {
		return errors.New("columns are linearly dependent")
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, factors.RawU().(*mat.TriDense).RawTriangular(), d.RawMatrix())
	return nil
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
