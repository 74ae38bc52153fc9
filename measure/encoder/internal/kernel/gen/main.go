// Gen writes the amd64 kernels of package kernel with avo. It is a module of
// its own, so that avo is no dependency of crosstalk:
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
