// Package kernel has the inner loops of an encoder: matrix product, GELU, softmax and layer norm on float32, once in
// portable Go and once in assembly for AVX2 and for AVX-512.
//
// A matrix product accumulates over k in order, one accumulator for each value, so a row of the result does not depend
// on the rows computed beside it.
package kernel

//go:generate go -C ../../../../tools run ./build/kernels -pkg kernel -out ../measure/encoder/internal/kernel/kernel_amd64.s -stubs ../measure/encoder/internal/kernel/stubs_amd64.go

// Panel is the number of columns of one matrix product; Lanes that of one vector operation. Buffers are padded to
// multiples of them.
const (
	Panel = 32
	Lanes = 8
)

// Set is one implementation of the inner loops.
type Set struct {
	Name string // "portable", "avx2" or "avx512"

	// gemm sets c[rows,Panel] = bias[Panel] + a[rows,k] b[k,Panel].
	gemm func(c, a, b, bias []float32, ldc, lda, ldb, rows, k int)
	// gelu replaces x by x Phi(x); len(x) is a multiple of Lanes.
	gelu func(x []float32)
	// softmax replaces x by softmax(scale x); len(x) is a multiple of Lanes.
	softmax func(x []float32, scale float32)
	// addNorm sets y[:n] to the layer norm of x + r, times w plus b.
	addNorm func(y, x, r, w, b []float32, n int, eps float32)
}

// Sets returns the sets that this machine can run, the fastest last.
func Sets() []*Set { return append([]*Set{portable}, native()...) }

// Best returns the fastest set.
func Best() *Set {
	s := Sets()
	return s[len(s)-1]
}

// Gemm sets c[rows,Panel] = bias[Panel] + a[rows,k] b[k,Panel] for row strides ldc, lda and ldb in values; rows > 0,
// k > 0. It panics if a matrix exceeds its slice.
func (s *Set) Gemm(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, bias []float32, rows, k int) {
	// Assembly does not check bounds: do it once for all.
	c = c[:(rows-1)*ldc+Panel]
	a = a[:(rows-1)*lda+k]
	b = b[:(k-1)*ldb+Panel]
	s.gemm(c, a, b, bias[:Panel], ldc, lda, ldb, rows, k)
}

// GELU replaces each x by x Phi(x), Phi being the normal distribution function (Hendrycks and Gimpel 2016, exact form);
// len(x) is a positive multiple of Lanes. The error is below 2e-7 (1 + |x|).
func (s *Set) GELU(x []float32) { s.gelu(x[:roundUp(len(x))]) }

// Softmax replaces x[:n] by softmax(scale x[:n]), scale > 0, n > 0. The values from n to the next multiple of Lanes are
// scratch.
func (s *Set) Softmax(x []float32, n int, scale float32) {
	x = x[:roundUp(n)]
	for i := n; i < len(x); i++ {
		x[i] = -3e38
	}
	s.softmax(x, scale)
}

// AddNorm sets y[:n] to the layer norm of x + r, times w plus b (Ba et al. 2016); n >= Lanes. All slices reach to the
// next multiple of Lanes, with zeros from n on; y may be x or r.
func (s *Set) AddNorm(y, x, r, w, b []float32, n int, eps float32) {
	m := roundUp(n)
	s.addNorm(y[:m], x[:m], r[:m], w[:m], b[:m], n, eps)
}

func roundUp(n int) int { return (n + Lanes - 1) &^ (Lanes - 1) }
