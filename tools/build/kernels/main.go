// Kernels writes the assembly of package kernel for amd64, with avo:
//
//	go generate crosstalk/measure/encoder/internal/kernel
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
	Generate()
}

// unit is a vector unit: its name, bytes of a vector and a fresh register.
type unit struct {
	name  string
	bytes int
	vec   func() reg.VecVirtual
}

var (
	avx2   = unit{"AVX2", 32, YMM}
	avx512 = unit{"AVX512", 64, ZMM}
)

// gemm writes the micro-kernel for rows rows of A and two vectors of columns of B. All accumulators live in registers;
// each step of k loads two vectors of B and broadcasts one value of each row of A.
func gemm(u unit, rows int) {
	TEXT(fmt.Sprintf("gemm%d%s", rows, u.name), NOSPLIT, "func(c, a, b, bias *float32, ldc, lda, ldb, k int)")
	Pragma("noescape")
	c := Load(Param("c"), GP64())
	a := []reg.Register{Load(Param("a"), GP64())}
	b := Load(Param("b"), GP64())
	bias := Load(Param("bias"), GP64())
	ldc := Load(Param("ldc"), GP64())
	lda := Load(Param("lda"), GP64())
	ldb := Load(Param("ldb"), GP64())
	k := Load(Param("k"), GP64())

	lda3, ldb3 := GP64(), GP64()
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, lda3)
	LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, ldb3)
	for r := 4; r < rows; r += 4 { // one base register for four rows
		base := GP64()
		LEAQ(Mem{Base: a[len(a)-1], Index: lda, Scale: 4}, base)
		a = append(a, base)
	}

	acc := make([][2]reg.VecVirtual, rows)
	for r := range acc {
		acc[r] = [2]reg.VecVirtual{u.vec(), u.vec()}
	}
	for i := range 2 {
		VMOVUPS(Mem{Base: bias, Disp: i * u.bytes}, acc[0][i])
	}
	for r := 1; r < rows; r++ {
		VMOVAPS(acc[0][0], acc[r][0])
		VMOVAPS(acc[0][1], acc[r][1])
	}

	stride := func(base, ld, ld3 reg.Register, i int) Mem { // base + i*ld, i < 4
		switch i {
		case 0:
			return Mem{Base: base}
		case 3:
			return Mem{Base: base, Index: ld3, Scale: 1}
		}
		return Mem{Base: base, Index: ld, Scale: uint8(i)}
	}
	step := func(i int) {
		b0, b1 := u.vec(), u.vec()
		row := stride(b, ldb, ldb3, i)
		VMOVUPS(row, b0)
		VMOVUPS(row.Offset(u.bytes), b1)
		for r := range rows {
			v := u.vec()
			VBROADCASTSS(stride(a[r/4], lda, lda3, r%4).Offset(4*i), v)
			VFMADD231PS(b0, v, acc[r][0])
			VFMADD231PS(b1, v, acc[r][1])
		}
	}
	advance := func(n int) {
		for _, base := range a {
			ADDQ(Imm(uint64(4*n)), base)
		}
	}

	SUBQ(Imm(4), k)
	JLT(LabelRef("tail"))
	Label("loop")
	for i := range 4 {
		step(i)
	}
	LEAQ(Mem{Base: b, Index: ldb, Scale: 4}, b)
	advance(4)
	SUBQ(Imm(4), k)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(4), k)
	JLE(LabelRef("store"))
	Label("one")
	step(0)
	ADDQ(ldb, b)
	advance(1)
	DECQ(k)
	JNZ(LabelRef("one"))

	Label("store")
	for r := range rows {
		if r > 0 {
			ADDQ(ldc, c)
		}
		VMOVUPS(acc[r][0], Mem{Base: c})
		VMOVUPS(acc[r][1], Mem{Base: c, Disp: u.bytes})
	}
	VZEROUPPER()
	RET()
}
