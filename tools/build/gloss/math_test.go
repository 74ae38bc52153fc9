package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestLogarithmAndExponential(t *testing.T) {
	near := func(name string, x, got, want float64) {
		if math.Abs(got-want) > 4e-16*math.Max(1, math.Abs(want)) {
			t.Errorf("%s(%v) = %v, expected %v", name, x, got, want)
		}
	}
	for x := 1e-12; x < 1e12; x *= 1.37 {
		near("ln", x, ln(x), math.Log(x))
	}
	for x := -20.0; x < 20; x += 0.173 {
		if ratio := exp(x) / math.Exp(x); math.Abs(ratio-1) > 4e-15 {
			t.Errorf("exp(%v) is off by the factor %v", x, ratio)
		}
	}
	if ln(1) != 0 || exp(0) != 1 {
		t.Errorf("ln 1 = %v, exp 0 = %v", ln(1), exp(0))
	}
	if got := pow(32, 0.2); math.Abs(got-2) > 1e-14 {
		t.Errorf("pow(32, 0.2) = %v", got)
	}
}

func product(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

func wantNear(t *testing.T, what string, got, want mat.Matrix, tolerance float64) {
	t.Helper()
	if !mat.EqualApprox(got, want, tolerance) {
		t.Fatalf("%s: %v, expected %v", what, mat.Formatted(got, mat.Excerpt(3)), mat.Formatted(want, mat.Excerpt(3)))
	}
}

func identity(n int) mat.Matrix {
	d := mat.NewDiagDense(n, nil)
	for i := range n {
		d.SetDiag(i, 1)
	}
	return d
}

func TestOrthonormalise(t *testing.T) {
	a := normal(300, 20, 1)
	a.Apply(func(_, j int, x float64) float64 { return x * math.Pow(10, -float64(j)/5) }, a) // badly scaled columns
	span := mat.DenseCopyOf(a)
	for range 2 {
		if err := orthonormalise(a); err != nil {
			t.Fatal(err)
		}
	}
	wantNear(t, "gram", gram(a), identity(20), 1e-14)
	wantNear(t, "span", product(a, product(a.T(), span)), span, 1e-12)
	if err := orthonormalise(mat.NewDense(3, 2, []float64{1, 1, 2, 2, 3, 3})); err == nil {
		t.Error("no error for dependent columns")
	}
}

// lowRank returns a sparse matrix of rank r and the dense one that equals it.
func lowRank(rows, columns, r int) (*sparse, *mat.Dense) {
	d := product(normal(rows, r, 5), normal(r, columns, 6))
	entries := make([][]entry, rows)
	for i := range rows {
		for j, x := range d.RawRowView(i) {
			entries[i] = append(entries[i], entry{int32(j), x})
		}
	}
	return newSparse(entries, columns), d
}

func TestSparse(t *testing.T) {
	m := newSparse([][]entry{{{2, 1}, {0, 2}, {2, 3}}, nil, {{1, 5}}}, 3)
	want := mat.NewDense(3, 3, []float64{2, 0, 4, 0, 0, 0, 0, 5, 0})
	one := mat.DenseCopyOf(identity(3))
	wantNear(t, "rows", m.times(one), want, 0)
	wantNear(t, "transposed", m.transposed().times(one), want.T(), 0)
	if n := len(m.entries); n != 3 {
		t.Errorf("%d entries, expected 3", n)
	}
}

// The Gram matrix of embed's rows is that of U sqrt(S), centred: for a matrix of low rank the square of X X' before
// centring.
func TestEmbed(t *testing.T) {
	const rank = 4
	m, d := lowRank(120, 90, rank)
	// noise keeps the sketch's columns independent
	noise := rand.New(rand.NewPCG(7, 7))
	for i := range m.entries {
		m.entries[i].value += 1e-4 * noise.NormFloat64()
	}
	got, err := embed(m, rank, 20)
	if err != nil {
		t.Fatal(err)
	}
	var of mat.SVD
	if !of.Factorize(d, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var left mat.Dense
	of.UTo(&left)
	want := mat.NewDense(120, rank, nil)
	want.Apply(func(i, j int, _ float64) float64 { return left.At(i, j) * math.Sqrt(of.Values(nil)[j]) }, want)
	centre(want)
	wantNear(t, "inner products", product(got, got.T()), product(want, want.T()), 1e-2)
	sum := 0.0
	for i := range 120 {
		sum += got.At(i, 0)
	}
	if math.Abs(sum) > 1e-9 {
		t.Errorf("the first column has the sum %v, expected 0", sum)
	}
}

func TestSetSigns(t *testing.T) {
	d := mat.NewDense(3, 3, []float64{1, -1, 0, -3, 2, 0, 3, -2, 0})
	setSigns(d)
	wantNear(t, "signs", d, mat.NewDense(3, 3, []float64{-1, -1, 0, 3, 2, 0, -3, -2, 0}), 0)
}

func TestEmbedDoesNotDependOnProcessors(t *testing.T) {
	m, _ := lowRank(3*blockRows, 40, 30)
	var first []float64
	for _, n := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(n)
		got, err := embed(m, 8, 4)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got.RawMatrix().Data
		}
		if !slices.Equal(first, got.RawMatrix().Data) {
			t.Fatalf("%d processors give other vectors", n)
		}
	}
}
