// Kernels writes the assembly of package kernel for amd64, with avo:
//
//	go generate crosstalk/measure/encoder/internal/kernel
package main

import "github.com/mmcloughlin/avo/build"

func main() {
	for _, rows := range []int{12, 8, 4, 3, 2, 1} {
		gemm(avx512, rows)
	}
	for _, rows := range []int{6, 4, 3, 2, 1} {
		gemm(avx2, rows)
	}
	gelu()
	softmax()
	addNorm()
	build.Generate()
}
