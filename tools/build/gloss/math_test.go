package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
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

// product returns a x b, one way or another.
func product(a, b *dense) *dense {
	out := newDense(a.rows(), b.columns)
	for i := range a.rows() {
		for j := range b.columns {
			for k := range a.columns {
				out.row(i)[j] += a.row(i)[k] * b.row(k)[j]
			}
		}
	}
	return out
}

func transpose(a *dense) *dense {
	out := newDense(a.columns, a.rows())
	for i := range a.rows() {
		for j := range a.columns {
			out.row(j)[i] = a.row(i)[j]
		}
	}
	return out
}

func wantNear(t *testing.T, what string, got, want *dense, tolerance float64) {
	t.Helper()
	if got.columns != want.columns || len(got.data) != len(want.data) {
		t.Fatalf("%s: %d x %d, expected %d x %d", what, got.rows(), got.columns, want.rows(), want.columns)
	}
	for i, x := range got.data {
		if !(math.Abs(x-want.data[i]) <= tolerance) {
			t.Fatalf("%s: %v at %d, expected %v", what, x, i, want.data[i])
		}
	}
}

func identity(n int) *dense {
	d := newDense(n, n)
	for i := range n {
		d.row(i)[i] = 1
	}
	return d
}

func TestGramAndProduct(t *testing.T) {
	a := normal(2*blockRows+7, 5, 1)
	wantNear(t, "gram", a.gram(), product(transpose(a), a), 1e-9)
	b := normal(5, 3, 2)
	wantNear(t, "product", a.times(b), product(a, b), 1e-12)
}

func TestOrthonormalise(t *testing.T) {
	a := normal(300, 20, 1)
	for i := range a.rows() { // badly scaled columns
		for j := range a.columns {
			a.row(i)[j] *= math.Pow(10, -float64(j)/5)
		}
	}
	for range 2 {
		if err := a.orthonormalise(); err != nil {
			t.Fatal(err)
		}
	}
	wantNear(t, "gram", a.gram(), identity(20), 1e-14)
	dependent := newDense(3, 2)
	copy(dependent.data, []float64{1, 1, 2, 2, 3, 3})
	if err := dependent.orthonormalise(); err == nil {
		t.Error("no error for dependent columns")
	}
}

func TestEigen(t *testing.T) {
	a := normal(40, 12, 3).gram()
	values, vectors := eigen(&dense{a.columns, slices.Clone(a.data)})
	if !slices.IsSortedFunc(values, func(x, y float64) int { return int(math.Copysign(1, y-x)) }) {
		t.Errorf("eigenvalues %v are not falling", values)
	}
	wantNear(t, "vectors", product(vectors, transpose(vectors)), identity(12), 1e-13)
	diagonal := newDense(12, 12)
	for i, x := range values {
		diagonal.row(i)[i] = x
	}
	wantNear(t, "decomposition", product(transpose(vectors), product(diagonal, vectors)), a, 1e-12)
}

// lowRank returns a sparse matrix of rank r and the dense one that equals it.
func lowRank(rows, columns, r int) (*sparse, *dense) {
	d := product(normal(rows, r, 5), normal(r, columns, 6))
	entries := make([][]entry, rows)
	for i := range rows {
		for j, x := range d.row(i) {
			entries[i] = append(entries[i], entry{int32(j), x})
		}
	}
	return newSparse(entries, columns), d
}

func TestSparse(t *testing.T) {
	m := newSparse([][]entry{{{2, 1}, {0, 2}, {2, 3}}, nil, {{1, 5}}}, 3)
	want := newDense(3, 3)
	copy(want.data, []float64{2, 0, 4, 0, 0, 0, 0, 5, 0})
	wantNear(t, "rows", m.times(identity(3)), want, 0)
	wantNear(t, "transposed", m.transposed().times(identity(3)), transpose(want), 0)
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
	values, vectors := eigen(product(d, transpose(d)))
	want := newDense(d.rows(), rank)
	for j := range rank {
		for i := range d.rows() {
			want.row(i)[j] = vectors.row(j)[i] * math.Pow(values[j], 0.25)
		}
	}
	want.centre()
	wantNear(t, "inner products", product(got, transpose(got)), product(want, transpose(want)), 1e-2)
}

func TestSetSigns(t *testing.T) {
	d := newDense(3, 3)
	copy(d.data, []float64{1, -1, 0, -3, 2, 0, 3, -2, 0})
	want := newDense(3, 3)
	copy(want.data, []float64{-1, -1, 0, 3, 2, 0, -3, -2, 0})
	d.setSigns()
	wantNear(t, "signs", d, want, 0)
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
			first = got.data
		}
		if !slices.Equal(first, got.data) {
			t.Fatalf("%d processors give other vectors", n)
		}
	}
}
