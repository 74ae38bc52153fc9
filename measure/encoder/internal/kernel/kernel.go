// Package kernel contains the inner loops of an encoder: matrix product, GELU, softmax and layer norm on float32, in
// portable Go and in assembly for AVX2 and for AVX-512.
//
// A matrix product accumulates over k in order, with one accumulator per value, so rows do not depend on each other.
package kernel

import "math"

//go:generate go -C ../../../../tools run ./build/kernels -pkg kernel -out ../measure/encoder/internal/kernel/kernel_amd64.s -stubs ../measure/encoder/internal/kernel/stubs_amd64.go

// Panel is the number of columns of a matrix product, and Lanes that of a vector operation. Buffers are padded to
// multiples.
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
	// Assembly does not check bounds, so check them once here.
	c = c[:(rows-1)*ldc+Panel]
	a = a[:(rows-1)*lda+k]
	b = b[:(k-1)*ldb+Panel]
	s.gemm(c, a, b, bias[:Panel], ldc, lda, ldb, rows, k)
}

// GELU replaces each x by x Phi(x), Phi being the normal distribution function (Hendrycks and Gimpel 2016, exact form);
// len(x) is a positive multiple of Lanes. The error is below 2e-7 (1 + |x|).
func (s *Set) GELU(x []float32) { s.gelu(x[:roundUp(len(x))]) }

// Softmax replaces x[:n] by softmax(scale x[:n]); scale, n > 0. Values to the next multiple of Lanes are scratch.
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

var portable = &Set{"portable", gemmGo, geluGo, softmaxGo, addNormGo}

// gemmGo works on tiles of four rows and two columns: eight accumulators and their operands fit in registers.
func gemmGo(c, a, b, bias []float32, ldc, lda, ldb, rows, k int) {
	r := 0
	for ; r+4 <= rows; r += 4 {
		a0, a1, a2, a3 := a[r*lda:][:k], a[(r+1)*lda:][:k], a[(r+2)*lda:][:k], a[(r+3)*lda:][:k]
		for j := 0; j < Panel; j += 2 {
			x, y := bias[j], bias[j+1]
			c00, c10, c20, c30 := x, x, x, x
			c01, c11, c21, c31 := y, y, y, y
			p := j
			for i, v0 := range a0 {
				x, y := b[p], b[p+1]
				p += ldb
				v1, v2, v3 := a1[i], a2[i], a3[i]
				c00 += v0 * x
				c01 += v0 * y
				c10 += v1 * x
				c11 += v1 * y
				c20 += v2 * x
				c21 += v2 * y
				c30 += v3 * x
				c31 += v3 * y
			}
			o := c[r*ldc+j:]
			o[0], o[1] = c00, c01
			o[ldc], o[ldc+1] = c10, c11
			o[2*ldc], o[2*ldc+1] = c20, c21
			o[3*ldc], o[3*ldc+1] = c30, c31
		}
	}
	for ; r < rows; r++ {
		row := a[r*lda:][:k]
		for j := range Panel {
			s, p := bias[j], j
			for _, v := range row {
				s += v * b[p]
				p += ldb
			}
			c[r*ldc+j] = s
		}
	}
}

func geluGo(x []float32) {
	for i, v := range x {
		x[i] = float32(0.5 * float64(v) * math.Erfc(-float64(v)/math.Sqrt2))
	}
}

func softmaxGo(x []float32, scale float32) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	var sum float64
	for i, v := range x {
		e := math.Exp(float64((v - top) * scale))
		x[i] = float32(e)
		sum += e
	}
	for i := range x {
		x[i] = float32(float64(x[i]) / sum)
	}
}

func addNormGo(y, x, r, w, b []float32, n int, eps float32) {
	var mean, variance float64
	for i := range n {
		y[i] = x[i] + r[i]
		mean += float64(y[i])
	}
	mean /= float64(n)
	for i := range n {
		d := float64(y[i]) - mean
		variance += d * d
	}
	scale := 1 / math.Sqrt(variance/float64(n)+float64(eps))
	for i := range n {
		y[i] = float32((float64(y[i])-mean)*scale)*w[i] + b[i]
	}
}
