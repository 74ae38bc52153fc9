package kernel

import "math"

var portable = &Set{"portable", gemmGo, geluGo, softmaxGo, addNormGo}

// gemmGo works on tiles of four rows and two columns: eight accumulators and their operands fit the registers of every
// machine.
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
