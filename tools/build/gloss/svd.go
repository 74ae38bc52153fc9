package main

import (
	"cmp"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"crosstalk/internal/gloss/vectorfile"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext/prng"
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

// The vectors must come out the same on every machine. Walks and counts do, bit for bit: a product that is added to
// something is written float64(x*y), which forbids the compiler to fuse the two operations, as it does on arm64;
// logarithm and exponential, whose library versions differ between machines, are our own; and work is split among
// goroutines by output. The linear algebra is gonum's, which may differ in the last bits. They are lost when vectors
// are rounded to codes of four bits.

// ln returns the natural logarithm of x > 0, by the series of the inverse hyperbolic tangent.
func ln(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	f := (fraction - 1) / (fraction + 1) // at most 0.172
	square := f * f
	sum := 0.0
	for k := 23; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/float64(k)
	}
	return float64(2*f*sum) + float64(float64(exponent)*math.Ln2)
}

// exp returns e to the power x, by Taylor's series after reduction.
func exp(x float64) float64 {
	k := math.Floor(x/math.Ln2 + 0.5)
	r := x - float64(k*math.Ln2)
	sum := 1.0
	for n := 16.0; n >= 1; n-- {
		sum = 1 + float64(sum*r)/n
	}
	return math.Ldexp(sum, int(k))
}

// pow returns x to the power y, for x > 0.
func pow(x, y float64) float64 { return exp(float64(y * ln(x))) }

// parallel calls f(0) to f(n-1) on all processors and waits for them.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// blockRows is the number of rows that one call of a parallel loop handles.
const blockRows = 1024

// parallelRows calls f on ranges of at most blockRows rows that cover 0 to n.
func parallelRows(n int, f func(from, to int)) {
	parallel((n+blockRows-1)/blockRows, func(i int) {
		f(i*blockRows, min(n, (i+1)*blockRows))
	})
}

// normal returns a matrix of standard normal numbers, drawn row by row: what numpy's RandomState(seed).standard_normal(
// (rows, columns)) is. RandomState has the generator MT19937 of Matsumoto and Nishimura (1998), and draws pairs of
// numbers by Marsaglia's polar method.
func normal(rows, columns int, seed uint32) *mat.Dense {
	generator := prng.NewMT19937()
	generator.Seed(uint64(seed))
	data := make([]float64, 0, rows*columns+1)
	for len(data) < rows*columns {
		x, y := 2*uniform(generator)-1, 2*uniform(generator)-1
		square := float64(x*x) + float64(y*y)
		if square >= 1 || square == 0 {
			continue
		}
		scale := math.Sqrt(-2 * ln(square) / square)
		data = append(data, scale*y, float64(scale*x))
	}
	return mat.NewDense(rows, columns, data[:rows*columns])
}

// uniform returns a number from [0, 1), of 53 random bits, as RandomState does.
func uniform(generator *prng.MT19937) float64 {
	high, low := generator.Uint32()>>5, generator.Uint32()>>6
	return float64(uint64(high)<<26|uint64(low)) / (1 << 53)
}

// sparse is a matrix in compressed rows.
type sparse struct {
	columns int
	start   []int // of each row in entries, and the end
	entries []entry
}

type entry struct {
	column int32
	value  float64
}

// newSparse returns the matrix of the given rows; entries of the same column are summed in their order.
func newSparse(rows [][]entry, columns int) *sparse {
	m := &sparse{columns: columns, start: make([]int, 1, len(rows)+1)}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		for i, e := range row {
			if i > 0 && row[i-1].column == e.column {
				m.entries[len(m.entries)-1].value += e.value
				continue
			}
			m.entries = append(m.entries, e)
		}
		m.start = append(m.start, len(m.entries))
	}
	return m
}

func (m *sparse) rows() int { return len(m.start) - 1 }

func (m *sparse) row(i int) []entry { return m.entries[m.start[i]:m.start[i+1]] }

func (m *sparse) transposed() *sparse {
	t := &sparse{columns: m.rows(), start: make([]int, m.columns+1), entries: make([]entry, len(m.entries))}
	for _, e := range m.entries {
		t.start[e.column+1]++
	}
	for i := range m.columns {
		t.start[i+1] += t.start[i]
	}
	next := slices.Clone(t.start)
	for i := range m.rows() {
		for _, e := range m.row(i) {
			t.entries[next[e.column]] = entry{int32(i), e.value}
			next[e.column]++
		}
	}
	return t
}

// times returns m x d.
func (m *sparse) times(d *mat.Dense) *mat.Dense {
	_, columns := d.Dims()
	out := mat.NewDense(m.rows(), columns, nil)
	parallelRows(m.rows(), func(from, to int) {
		for i := from; i < to; i++ {
			sum := out.RawRowView(i)
			for _, e := range m.row(i) {
				addScaled(sum, e.value, d.RawRowView(int(e.column)))
			}
		}
	})
	return out
}

// quantise returns 4-bit codes of the rows of d. The largest code stands for
// 2.6 standard deviations of the row, and for all beyond.
func quantise(d *mat.Dense) []byte {
	const largest = vectorfile.Zero - 1
	rows, _ := d.Dims()
	codes := make([]byte, rows*vectorfile.Stride)
	parallelRows(rows, func(from, to int) {
		for i := from; i < to; i++ {
			row := d.RawRowView(i)
			sum, squares := 0.0, 0.0
			for _, x := range row {
				sum += x
				squares += float64(x * x)
			}
			n := float64(len(row))
			step := 2.6 / largest * math.Sqrt(squares/n-float64(sum/n*(sum/n)))
			for j, x := range row {
				code := vectorfile.Zero + uint8(int8(max(-largest, min(largest, math.Round(x/step)))))
				codes[i*vectorfile.Stride+j/2] |= code << (4 * (j % 2))
			}
		}
	})
	return codes
}
