package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors is the read-only table of constants, each repeated in all lanes, written once by the first function that
// needs it.
var vectors = struct {
	base   Mem
	offset map[uint32]int
}{offset: map[uint32]int{}}

// bits returns a memory operand of eight lanes holding v.
func bits(v uint32) Mem {
	off, ok := vectors.offset[v]
	if !ok {
		off = 32 * len(vectors.offset)
		vectors.offset[v] = off
		DATA(off, U32(v))
		for lane := 1; lane < 8; lane++ {
			DATA(off+4*lane, U32(v))
		}
	}
	return vectors.base.Offset(off)
}

func lanes(v float64) Mem { return bits(math.Float32bits(float32(v))) }

// beginVectors opens the table; every constant must be named before the code that uses it is finished, which avo allows
// in any order.
func beginVectors() { vectors.base = GLOBL("lanes", attr.RODATA|attr.NOPTR) }

// exp replaces x <= 0 by e^x, lane by lane, with relative error below 2e-7: x = n ln 2 + r, |r| <= ln(2)/2, and the
// Taylor polynomial of degree 7 at r. Below -87.3 the result is e^-87.3, about 1e-38.
func exp(x reg.VecVirtual) {
	n, p := YMM(), YMM()
	VMAXPS(lanes(-87.3), x, x)
	VMULPS(lanes(math.Log2E), x, n)
	VROUNDPS(Imm(0), n, n)
	// ln 2 in two parts; the first has so few bits that n times it is exact.
	const high = 0.693359375
	VFNMADD231PS(lanes(high), n, x)
	VFNMADD231PS(lanes(math.Ln2-high), n, x)
	factorial := 5040.0
	VMOVUPS(lanes(1/factorial), p)
	for k := 7.0; k > 0; k-- {
		factorial /= k
		VFMADD213PS(lanes(1/factorial), x, p)
	}
	VCVTPS2DQ(n, n)
	VPSLLD(Imm(23), n, n)
	VPADDD(n, p, x)
}

// reduce folds the eight lanes of v into one with op and spreads it over all.
func reduce(op func(...Op), v reg.VecVirtual) {
	t := YMM()
	for _, swap := range []func(){
		func() { VPERM2F128(Imm(1), v, v, t) },
		func() { VPERMILPS(Imm(0x4e), v, t) },
		func() { VPERMILPS(Imm(0xb1), v, t) },
	} {
		swap()
		op(t, v, v)
	}
}

// each loops over n values at byte offset i, eight at a time; n > 0.
func each(label string, n reg.Register, body func(i reg.Register)) {
	i := GP64()
	XORQ(i, i)
	Label(label)
	body(i)
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef(label))
}

func at(base, i reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }

func add(ops ...Op) { VADDPS(ops[0], ops[1], ops[2]) }
func max(ops ...Op) { VMAXPS(ops[0], ops[1], ops[2]) }

// gelu uses x Phi(x) = max(x, 0) - |x| Q(|x|), where Q(z) = erfc(z/sqrt 2)/2 by Abramowitz and Stegun 7.1.26 (error of
// erf at most 1.5e-7).
func gelu() {
	beginVectors()
	TEXT("geluAVX2", NOSPLIT, "func(x *float32, n int)")
	Doc("geluAVX2 replaces x[:n] by x Phi(x); n is a positive multiple of 8.")
	Pragma("noescape")
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	each("loop", n, func(i reg.Register) {
		v, z, e, t, p := YMM(), YMM(), YMM(), YMM(), YMM()
		VMOVUPS(at(x, i), v)
		VANDPS(bits(0x7fffffff), v, z)
		VMULPS(lanes(-0.5), z, e)
		VMULPS(z, e, e)
		exp(e)
		VMOVUPS(lanes(1), p)
		VMOVAPS(p, t)
		VFMADD231PS(lanes(0.3275911/math.Sqrt2), z, t)
		VDIVPS(t, p, t)
		VMOVUPS(lanes(1.061405429/2), p)
		for _, a := range []float64{-1.453152027, 1.421413741, -0.284496736, 0.254829592} {
			VFMADD213PS(lanes(a/2), t, p)
		}
		VMULPS(t, p, p)
		VMULPS(e, z, z)
		VXORPS(t, t, t)
		VMAXPS(t, v, v)
		VFNMADD231PS(p, z, v)
		VMOVUPS(v, at(x, i))
	})
	VZEROUPPER()
	RET()
}

func softmax() {
	TEXT("softmaxAVX2", NOSPLIT, "func(x *float32, n int, scale float32)")
	Doc("softmaxAVX2 replaces x[:n] by softmax(scale x), scale > 0; n is a positive multiple of 8.")
	Pragma("noescape")
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	scale, top, sum := YMM(), YMM(), YMM()
	VBROADCASTSS(NewParamAddr("scale", 16), scale)
	VMOVUPS(Mem{Base: x}, top)
	each("max", n, func(i reg.Register) { VMAXPS(at(x, i), top, top) })
	reduce(max, top)
	VXORPS(sum, sum, sum)
	each("exp", n, func(i reg.Register) {
		v := YMM()
		VMOVUPS(at(x, i), v)
		VSUBPS(top, v, v)
		VMULPS(scale, v, v)
		exp(v)
		VADDPS(v, sum, sum)
		VMOVUPS(v, at(x, i))
	})
	reduce(add, sum)
	one := YMM()
	VMOVUPS(lanes(1), one)
	VDIVPS(sum, one, sum)
	each("divide", n, func(i reg.Register) {
		v := YMM()
		VMULPS(at(x, i), sum, v)
		VMOVUPS(v, at(x, i))
	})
	VZEROUPPER()
	RET()
}

func addNorm() {
	tailMask := GLOBL("mask", attr.RODATA|attr.NOPTR)
	for lane := range 16 {
		v := U32(0)
		if lane < 8 {
			v = math.MaxUint32
		}
		DATA(4*lane, v)
	}
	TEXT("addNormAVX2", NOSPLIT, "func(y, x, r, w, b *float32, n int, eps float32)")
	Doc("addNormAVX2 sets y to the layer norm of x + r over n values, times w plus b.",
		"All five are read or written to the next multiple of 8, where x, r, w and b hold zeros; n >= 8.")
	Pragma("noescape")
	y := Load(Param("y"), GP64())
	x := Load(Param("x"), GP64())
	r := Load(Param("r"), GP64())
	w := Load(Param("w"), GP64())
	b := Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	mean, scale, tail := YMM(), YMM(), YMM()
	lowest := scale.AsX()
	VXORPS(scale, scale, scale)
	VCVTSI2SSQ(n, lowest, lowest)
	VBROADCASTSS(lowest, scale)
	VMOVUPS(lanes(1), mean)
	VDIVPS(scale, mean, scale) // 1/n

	VXORPS(mean, mean, mean)
	each("sum", n, func(i reg.Register) {
		v := YMM()
		VMOVUPS(at(x, i), v)
		VADDPS(at(r, i), v, v)
		VMOVUPS(v, at(y, i))
		VADDPS(v, mean, mean)
	})
	reduce(add, mean)
	VMULPS(scale, mean, mean)

	// The zeros after n must not count, so the last vector is masked. The mask comes from a window that slides over
	// eight lanes of ones, then of zeros.
	full, rest := GP64(), GP64()
	MOVQ(n, full)
	ANDQ(I8(-8), full)
	variance := YMM()
	VXORPS(variance, variance, variance)
	each("square", full, func(i reg.Register) {
		v := YMM()
		VMOVUPS(at(y, i), v)
		VSUBPS(mean, v, v)
		VFMADD231PS(v, v, variance)
	})
	MOVQ(n, rest)
	SUBQ(full, rest)
	JZ(LabelRef("scale"))
	NEGQ(rest)
	window := GP64()
	LEAQ(tailMask, window)
	VMOVUPS(Mem{Base: window, Index: rest, Scale: 4, Disp: 32}, tail)
	v := YMM()
	VMOVUPS(at(y, full), v)
	VSUBPS(mean, v, v)
	VANDPS(tail, v, v)
	VFMADD231PS(v, v, variance)

	Label("scale")
	reduce(add, variance)
	eps := YMM()
	VBROADCASTSS(NewParamAddr("eps", 48), eps)
	VFMADD213PS(eps, variance, scale)
	VSQRTPS(scale, scale)
	VMOVUPS(lanes(1), variance)
	VDIVPS(scale, variance, scale)
	each("write", n, func(i reg.Register) {
		v, t := YMM(), YMM()
		VMOVUPS(at(y, i), v)
		VSUBPS(mean, v, v)
		VMULPS(scale, v, v)
		VMOVUPS(at(b, i), t)
		VFMADD231PS(at(w, i), v, t)
		VMOVUPS(t, at(y, i))
	})
	VZEROUPPER()
	RET()
}
