package main

import (
	"cmp"
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
