package kernel

import "golang.org/x/sys/cpu"

var (
	setAVX2   = &Set{"avx2", gemmAVX2, geluAsm, softmaxAsm, addNormAsm}
	setAVX512 = &Set{"avx512", gemmAVX512, geluAsm, softmaxAsm, addNormAsm}
)

// native returns the assembly sets that the processor and the operating system support.
func native() []*Set {
	var s []*Set
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		s = append(s, setAVX2)
		if cpu.X86.HasAVX512F {
			s = append(s, setAVX512)
		}
	}
	return s
}

// microKernel computes a fixed number of rows: run sets c[rows,n] = bias + a[rows,k] b[k,n], k > 0, n being 32 with
// AVX-512 and 16 with AVX2. ldc, lda and ldb are row strides in bytes.
type microKernel struct {
	rows int
	run  func(c, a, b, bias *float32, ldc, lda, ldb, k int)
}

var (
	microAVX512 = []microKernel{{12, gemm12AVX512}, {8, gemm8AVX512}, {4, gemm4AVX512},
		{3, gemm3AVX512}, {2, gemm2AVX512}, {1, gemm1AVX512}}
	microAVX2 = []microKernel{{6, gemm6AVX2}, {4, gemm4AVX2}, {3, gemm3AVX2}, {2, gemm2AVX2}, {1, gemm1AVX2}}
)

func gemm(kernels []microKernel, c, a, b, bias []float32, ldc, lda, ldb, rows, k int) {
	r := 0
	for _, m := range kernels {
		for ; rows-r >= m.rows; r += m.rows {
			m.run(&c[r*ldc], &a[r*lda], &b[0], &bias[0], 4*ldc, 4*lda, 4*ldb, k)
		}
	}
}

func gemmAVX512(c, a, b, bias []float32, ldc, lda, ldb, rows, k int) {
	gemm(microAVX512, c, a, b, bias, ldc, lda, ldb, rows, k)
}

// gemmAVX2 computes a panel in two halves: 16 registers hold six rows of 16 columns.
func gemmAVX2(c, a, b, bias []float32, ldc, lda, ldb, rows, k int) {
	for j := 0; j < Panel; j += Panel / 2 {
		gemm(microAVX2, c[j:], a, b[j:], bias[j:], ldc, lda, ldb, rows, k)
	}
}

func geluAsm(x []float32) { geluAVX2(&x[0], len(x)) }

func softmaxAsm(x []float32, scale float32) { softmaxAVX2(&x[0], len(x), scale) }

func addNormAsm(y, x, r, w, b []float32, n int, eps float32) {
	addNormAVX2(&y[0], &x[0], &r[0], &w[0], &b[0], n, eps)
}
